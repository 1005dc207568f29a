//! Texts as fields of CSV (RFC 4180) that a program for tables may open.
//!
//! Must not know: columns. Start reading at [`csv_field`].

use crate::terminal_text::escape_controls;

/// A text as a field: in quotes where it has a comma, a quote or a line's end. Programs for tables compute what begins with `=`, `+`, `-` or
/// `@` and is no number, so that an apostrophe stands before such a text, which shows it as it is. Characters that steer terminals are escaped.
pub fn csv_field(text: &str) -> String {
    let text = escape_controls(text);
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t']) && text.parse::<f64>().is_err();
    let guard = if is_formula { "'" } else { "" };
    if text.contains([',', '"', '\n']) {
        format!("\"{guard}{}\"", text.replace('"', "\"\""))
    } else {
        format!("{guard}{text}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_text_and_nothing_to_compute() {
        for (text, field) in [
            ("a job", "a job"),
            ("a,\"b\"", "\"a,\"\"b\"\"\""),
            ("=cmd|' /c calc'!A1", "'=cmd|' /c calc'!A1"),
            ("+1,2", "\"'+1,2\""),
            ("-1", "-1"),
            ("-a", "'-a"),
            ("@sum", "'@sum"),
            ("two\nlines", "\"two\nlines\""),
            ("a\r\u{1b}[2J", "a\\x0d\\x1b[2J"),
        ] {
            assert_eq!(csv_field(text), field);
        }
    }
}
