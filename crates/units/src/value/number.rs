//! A whole number and the suffix behind it.

use super::ParseError;

/// A whole number, and what stands behind it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Number<'t> {
    pub(super) value: i64,
    /// All that is behind the digits, without blanks around it: a suffix, or what makes the text no number. Empty if there is nothing.
    pub(super) rest: &'t str,
    pub(super) is_hex: bool,
}

impl<'t> Number<'t> {
    /// Reads `[+-]digits[rest]`, or `[+-]0x` and hexadecimal digits. Blanks around each of the two do not count, nor does a
    /// comment behind them, as in `bs=4k # a block`.
    pub(super) fn read(text: &'t str) -> Result<Self, ParseError> {
        if text.is_empty() {
            return Err(ParseError::Empty);
        }
        let signed = without_comment(text).trim_ascii();
        let unsigned = signed.strip_prefix(['+', '-']).unwrap_or(signed);
        let behind_mark = unsigned.get(..2).filter(|mark| mark.eq_ignore_ascii_case("0x")).map(|_| &unsigned[2..]);
        let (digits, radix) = behind_mark.map_or((unsigned, 10), |digits| (digits, 16));
        let n_digits = digits.bytes().take_while(|b| char::from(*b).is_digit(radix)).count();
        let value = read_digits(&digits[..n_digits], signed.starts_with('-'), radix, text)?;
        let rest = without_zero_fraction(&digits[n_digits..]);
        Ok(Self { value, rest: rest.trim_ascii_start(), is_hex: radix == 16 })
    }

    /// The number, if nothing is behind it.
    pub(super) fn alone(&self, given: &str) -> Result<i64, ParseError> {
        if self.rest.is_empty() { Ok(self.value) } else { Err(left_over(given, self.rest, "nothing may follow it")) }
    }
}

/// What is behind a number without a fraction of 0: programs that compute sizes in floating point write `4194304.0`.
fn without_zero_fraction(rest: &str) -> &str {
    let Some(fraction) = rest.strip_prefix('.') else { return rest };
    let behind = fraction.trim_start_matches('0');
    let is_zero = behind.len() < fraction.len() && !behind.starts_with(|c: char| c.is_ascii_digit());
    if is_zero { behind } else { rest }
}

/// The error about text behind a number.
pub(super) fn left_over(given: &str, rest: &str, allowed: &'static str) -> ParseError {
    ParseError::LeftOver { given: given.to_owned(), rest: without_comment(rest).to_owned(), allowed }
}

/// A value without the comment behind it: a blank, and `#` or `;`. As fio ignores all that is behind a number, job files have such.
pub(super) fn without_comment(text: &str) -> &str {
    let is_comment =
        |(at, mark): &(usize, &str)| *at > 0 && text.as_bytes()[at - 1].is_ascii_whitespace() && !mark.is_empty();
    let end = text.match_indices(['#', ';']).find(is_comment).map_or(text.len(), |(at, _)| at);
    &text[..end]
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
        let number = Number::read(text).unwrap();
        (number.value, number.rest)
    }

    #[test]
    fn number_and_suffix() {
        assert_eq!(read("12kib/50"), (12, "kib/50"));
        assert_eq!(read("-3%"), (-3, "%"));
        assert_eq!(read("+4k"), (4, "k"));
        assert_eq!(read("1.5g"), (1, ".5g"));
        assert_eq!(read("4194304.0"), (4_194_304, ""));
        assert_eq!(read("4.00k"), (4, "k"));
        assert_eq!(read("4.05"), (4, ".05"));
        assert_eq!(read("4."), (4, "."));
        assert_eq!(read(" 4k "), (4, "k"));
        assert_eq!(read("4 k"), (4, "k"));
        assert_eq!(read("007"), (7, ""));
        assert_eq!(read("0x10k"), (16, "k"));
        assert_eq!(read("-0X1f"), (-31, ""));
        assert_eq!(read("10x"), (10, "x"));
    }

    #[test]
    fn comments_do_not_count() {
        for text in ["4k # a block", "4k ;x", "4k\t#", " 4k  #;#"] {
            assert_eq!(read(text), (4, "k"), "{text:?}");
        }
        assert_eq!(read("4k#x"), (4, "k#x"));
        assert_eq!(Number::read("# 4k"), Err(ParseError::NotANumber { given: "# 4k".to_owned() }));
    }

    #[test]
    fn not_numbers() {
        for text in ["k5", "-", "+-4", ".5", "x0x1", "é", "0x", "0xg", " "] {
            assert_eq!(Number::read(text), Err(ParseError::NotANumber { given: text.to_owned() }));
        }
        assert_eq!(Number::read(""), Err(ParseError::Empty));
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!(read("9223372036854775807").0, i64::MAX);
        assert_eq!(read("-9223372036854775808").0, i64::MIN);
        for text in ["9223372036854775808", "-9223372036854775809", &"9".repeat(100)] {
            assert!(matches!(Number::read(text), Err(ParseError::OutOfRange { .. })));
        }
    }
}
