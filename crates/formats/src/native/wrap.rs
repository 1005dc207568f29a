//! Text in lines that fit on the terminal.
//!
//! Must not know: the meaning of the text. Start reading at [`wrap`].

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// Text is wrapped to end before this column, unless the terminal is narrower.
pub const TEXT_WIDTH: usize = 78;
/// A terminal that is narrower is taken to be as wide.
pub const MIN_WIDTH: usize = 20;

/// Columns that text may take.
pub fn text_width(n_columns: Option<usize>) -> usize {
    // The last column stays free, because some terminals go to the next line after writing it.
    n_columns.map_or(TEXT_WIDTH, |n_columns| n_columns.saturating_sub(1).clamp(MIN_WIDTH, TEXT_WIDTH))
}

/// Breaks a text that is too wide at blanks; the first line begins with `bullet`, the others are indented as far.
pub fn wrap(text: &str, bullet: &str, max_width: usize) -> String {
    if text.is_empty() {
        return format!("{bullet}\n");
    }
    let indent = " ".repeat(bullet.len());
    // A word that is too wide stays whole: it may be a path or an option, which somebody copies.
    let options = Options::new(max_width)
        .initial_indent(bullet)
        .subsequent_indent(&indent)
        .break_words(false)
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    textwrap::fill(text, options) + "\n"
}
