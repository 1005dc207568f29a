//! Texts for terminals: characters that would steer one are shown as they are written in programs (`\\x1b`).
//!
//! Must not know: where a text goes. Start reading at [`escape_controls`].

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with its control characters and marks of direction escaped, but for line ends and tabs. A name from a file or a command line can
/// then neither change the colours of a terminal nor overwrite its lines, nor be read backwards.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    escaped(text, 2)
}

/// As [`escape_controls`], in the form `\\u001b` that JSON has: the whole of a page can be passed, whose scripts hold data.
pub fn escape_page(page: &str) -> Cow<'_, str> {
    escaped(page, 4)
}

/// True for what moves the cursor, sounds, or turns the direction of letters around.
fn steers(symbol: char) -> bool {
    let turns =
        matches!(symbol, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || symbol.is_control() && symbol != '\n' && symbol != '\t'
}

/// `n_digits`: 2 for the form `\\x1b`, which larger numbers do not have, or 4.
fn escaped(text: &str, n_digits: usize) -> Cow<'_, str> {
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for symbol in text.chars() {
        let number = u32::from(symbol);
        // A string takes everything.
        let _ = match symbol {
            _ if !steers(symbol) => escaped.write_char(symbol),
            _ if n_digits == 2 && number < 0x100 => write!(escaped, "\\x{number:02x}"),
            _ => write!(escaped, "\\u{number:04x}"),
        };
    }
    Cow::Owned(escaped)
}

/// As [`escape_controls`], also for line ends and tabs: a name stays in its line.
pub fn escape_name(name: &str) -> String {
    escape_controls(name).replace('\n', "\\x0a").replace('\t', "\\x09")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_escaped() {
        for (text, expected) in [
            ("a name\n\tand a line", "a name\n\tand a line"),
            ("\u{1b}[2J", "\\x1b[2J"),
            ("a\rb\u{7}\u{7f}\u{9b}31m", "a\\x0db\\x07\\x7f\\x9b31m"),
            ("\u{e9}\u{4e2d}", "\u{e9}\u{4e2d}"),
            ("a\u{202e}b", "a\\u202eb"),
        ] {
            assert_eq!(escape_controls(text), expected);
        }
        assert_eq!(escape_name("a\n\t\u{1b}"), "a\\x0a\\x09\\x1b");
        assert_eq!(escape_page("<b>\n\u{1b}\u{2066}"), "<b>\n\\u001b\\u2066");
    }
}
