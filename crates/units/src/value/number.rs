//! The number at the start of a text, as C's `strtoll` finds it, and the suffix behind it.

use super::ParseError;

/// A leading whole number and the letters (or the `%`) that follow it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LeadingNumber<'t> {
    pub(super) value: i64,
    /// Empty if there is none, or where fio does not see it: behind a hexadecimal number, and if the text starts with a
    /// blank.
    pub(super) suffix: &'t str,
    pub(super) is_hex: bool,
}

impl<'t> LeadingNumber<'t> {
    /// Reads `[blanks][+-]digits[suffix]`. The number is hexadecimal if `0x` occurs anywhere in the text.
    pub(super) fn read(text: &'t str) -> Result<Self, ParseError> {
        if text.is_empty() {
            return Err(ParseError::Empty);
        }
        let unsigned_text = |text: &'t str| text.strip_prefix(['+', '-']).unwrap_or(text);
        let trimmed = text.trim_start_matches(|c: char| c.is_ascii_whitespace());
        let is_hex = has_hex_mark(text);
        let digits = if is_hex { without_hex_mark(unsigned_text(trimmed)) } else { unsigned_text(trimmed) };
        let radix = if is_hex { 16 } else { 10 };
        let n_digits = digits.bytes().take_while(|b| char::from(*b).is_digit(radix)).count();
        let value = read_digits(&digits[..n_digits], trimmed.starts_with('-'), radix, text)?;
        let is_suffix_seen = !is_hex && trimmed.len() == text.len();
        let rest = &digits[n_digits..];
        let is_suffix = rest.starts_with(|c: char| c.is_ascii_alphabetic() || c == '%');
        Ok(Self { value, suffix: if is_suffix_seen && is_suffix { rest } else { "" }, is_hex })
    }
}

fn has_hex_mark(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| pair.eq_ignore_ascii_case(b"0x"))
}

/// The digits behind `0x`; a lone `0x` keeps its zero, which is then the number.
fn without_hex_mark(text: &str) -> &str {
    match text.get(..2) {
        Some(mark) if mark.eq_ignore_ascii_case("0x") && text[2..].starts_with(|c: char| c.is_ascii_hexdigit()) => {
            &text[2..]
        }
        _ => text,
    }
}

fn read_digits(digits: &str, is_negative: bool, radix: u32, given: &str) -> Result<i64, ParseError> {
    if digits.is_empty() {
        return Err(ParseError::NotANumber { given: given.to_owned() });
    }
    let out_of_range =
        || ParseError::OutOfRange { given: given.to_owned(), min: i64::MIN.into(), max: i64::MAX.into() };
    // One digit more than i128 holds is far out of range as well.
    let magnitude = i128::from_str_radix(digits, radix).map_err(|_| out_of_range())?;
    i64::try_from(if is_negative { -magnitude } else { magnitude }).map_err(|_| out_of_range())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (i64, &str) {
        let number = LeadingNumber::read(text).unwrap();
        (number.value, number.suffix)
    }

    #[test]
    fn number_and_suffix() {
        assert_eq!(read("12kib/50"), (12, "kib/50"));
        assert_eq!(read("-3%"), (-3, "%"));
        assert_eq!(read("+4k"), (4, "k"));
        assert_eq!(read("1.5g"), (1, ""));
        assert_eq!(read(" 4k"), (4, ""));
        assert_eq!(read("4 k"), (4, ""));
        assert_eq!(read("007"), (7, ""));
    }

    #[test]
    fn hexadecimal_has_no_suffix() {
        assert_eq!(read("0x10k"), (16, ""));
        assert_eq!(read("-0X1f"), (-31, ""));
        assert_eq!(read("0x"), (0, ""));
        // The mark is found in the middle too, and then all of the text is hexadecimal.
        assert_eq!(read("10x"), (16, ""));
    }

    #[test]
    fn not_numbers() {
        for text in ["k5", "-", "+-4", ".5", "x0x1", "é"] {
            assert_eq!(LeadingNumber::read(text), Err(ParseError::NotANumber { given: text.to_owned() }));
        }
        assert_eq!(LeadingNumber::read(""), Err(ParseError::Empty));
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!(read("9223372036854775807").0, i64::MAX);
        assert_eq!(read("-9223372036854775808").0, i64::MIN);
        for text in ["9223372036854775808", "-9223372036854775809", &"9".repeat(100)] {
            assert!(matches!(LeadingNumber::read(text), Err(ParseError::OutOfRange { .. })));
        }
    }
}
