//! Text in lines that fit on the terminal.
//!
//! Must not know: the meaning of the text. Start reading at [`wrap`].

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
    if bullet.len() + text.chars().count() <= max_width {
        return format!("{bullet}{text}\n");
    }
    let mut wrapped = bullet.to_owned();
    let mut width = bullet.len();
    for (index, word) in text.split_whitespace().enumerate() {
        let length = word.chars().count();
        if index > 0 && width + 1 + length > max_width {
            wrapped.push('\n');
            wrapped.push_str(&" ".repeat(bullet.len()));
            width = bullet.len();
        } else if index > 0 {
            wrapped.push(' ');
            width += 1;
        }
        wrapped.push_str(word);
        width += length;
    }
    wrapped.push('\n');
    wrapped
}
