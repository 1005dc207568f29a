//! Texts for terminals: characters that would steer one are shown as they are written in programs (`\\x1b`).
//!
//! Must not know: where a text goes. Start reading at [`escape_controls`].

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with its control characters escaped, but for line ends and tabs. A name from a file or a command line can then neither
/// change the colours of a terminal nor overwrite its lines.
pub fn escape_controls(text: &str) -> Cow<'_, str> {
    let steers = |symbol: char| symbol.is_control() && symbol != '\n' && symbol != '\t';
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 16);
    for symbol in text.chars() {
        if steers(symbol) {
            // A string takes everything.
            let _ = write!(escaped, "\\x{:02x}", u32::from(symbol));
        } else {
            escaped.push(symbol);
        }
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
        ] {
            assert_eq!(escape_controls(text), expected);
        }
        assert_eq!(escape_name("a\n\t\u{1b}"), "a\\x0a\\x09\\x1b");
    }
}
