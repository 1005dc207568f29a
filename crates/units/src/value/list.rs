//! Values in lists: one for each direction, pairs, ranges, lists of numbers with decimals.
//!
//! Separators inside parentheses belong to the arithmetic there. Start reading at [`split_per_direction`].

use super::ParseError;
use super::number::{Number, left_over, without_comment};
use crate::direction::PerDirection;
use std::ops::RangeInclusive;

/// Values for each direction: read, write, trim. `None`: the direction keeps its value.
///
/// The separator is `,` if there is one, else `:`. One value is for all; of two, the
/// second is for write and trim; three are for read, write, trim. `4k,` sets read only, `,8k` write and trim.
///
/// # Errors
/// [`ParseError::Empty`] if no direction gets a value, [`ParseError::TooManyValues`] above three, and
/// [`ParseError::RangeNotAllowed`] for `4k-64k`, which fio takes for values of two directions.
pub fn split_per_direction(text: &str) -> Result<PerDirection<Option<&str>>, ParseError> {
    let values = split_values(text);
    let is_list = separator_of(without_comment(text)).is_some();
    if (values.len() > 1 && !is_list) || values.iter().any(|value| split_at_minus(value).len() > 1) {
        return Err(ParseError::RangeNotAllowed { given: text.to_owned() });
    }
    distribute(text, &values)
}

/// As [`split_per_direction`], for options whose values contain `:` and `-` themselves (`bsrange`, `bssplit`).
pub fn split_per_direction_by_comma(text: &str) -> Result<PerDirection<Option<&str>>, ParseError> {
    distribute(text, &split_at(text, b','))
}

fn distribute<'t>(text: &str, values: &[&'t str]) -> Result<PerDirection<Option<&'t str>>, ParseError> {
    let value = |index: usize| values.get(index).copied().filter(|value| !value.is_empty());
    let slots = match values.len() {
        1 => [value(0); 3],
        2 => [value(0), value(1), value(1)],
        3 => [value(0), value(1), value(2)],
        _ => return Err(ParseError::TooManyValues { given: text.to_owned(), max: 3 }),
    };
    if slots == [None; 3] { Err(ParseError::Empty) } else { Ok(PerDirection(slots)) }
}

/// A value or two of them, `low-high`, `low:high` or `low,high` (`filesize`, `startdelay`). The second is `None` where
/// there is none.
///
/// # Errors
/// [`ParseError::Empty`] without a first value, [`ParseError::TooManyValues`] above two.
pub fn split_pair(text: &str) -> Result<(&str, Option<&str>), ParseError> {
    let values = split_values(text);
    match values[..] {
        [] | ["", ..] => Err(ParseError::Empty),
        [low] | [low, ""] => Ok((low, None)),
        [low, high] => Ok((low, Some(high))),
        _ => Err(ParseError::TooManyValues { given: text.to_owned(), max: 2 }),
    }
}

/// True for several values where there should be one: `4,8`, `4:8`, `4k-8k`. A separator at the end alone makes no list.
pub fn is_list(text: &str) -> bool {
    split_values(text).iter().skip(1).any(|value| !value.is_empty())
}

/// The two sides of `low-high` or `low:high`, neither empty.
pub(super) fn split_range(text: &str) -> Option<(&str, &str)> {
    let at = separators(text, b'-').next().or_else(|| separators(text, b':').next())?;
    let (low, high) = (&text[..at], &text[at + 1..]);
    (!low.is_empty() && !high.is_empty()).then_some((low, high))
}

fn split_values(text: &str) -> Vec<&str> {
    let text = without_comment(text);
    separator_of(text).map_or_else(|| split_at_minus(text), |separator| split_at(text, separator))
}

/// What stands between the values of a list, other than a minus.
fn separator_of(text: &str) -> Option<u8> {
    [b',', b':'].into_iter().find(|separator| separators(text, *separator).next().is_some())
}

fn split_at(text: &str, separator: u8) -> Vec<&str> {
    let mut start = 0;
    let mut values = Vec::new();
    for at in separators(text, separator) {
        values.push(&text[start..at]);
        start = at + 1;
    }
    values.push(&text[start..]);
    values
}

/// Splits at each `-` that does not start a value.
fn split_at_minus(text: &str) -> Vec<&str> {
    let mut start = 0;
    let mut values = Vec::new();
    for at in separators(text, b'-') {
        if at > start {
            values.push(&text[start..at]);
            start = at + 1;
        }
    }
    values.push(&text[start..]);
    values
}

/// Places of a separator outside of parentheses. ASCII, so that both sides of it are whole characters.
fn separators(text: &str, separator: u8) -> impl Iterator<Item = usize> {
    let mut depth = 0_usize;
    text.bytes().enumerate().filter_map(move |(at, byte)| {
        match byte {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        (depth == 0 && byte == separator).then_some(at)
    })
}

/// Numbers with decimals, and their original text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FloatList {
    /// The values in the order given.
    pub values: Vec<f64>,
    /// Most digits behind a point in any item: the precision with which percentiles are shown.
    pub n_decimals: usize,
    /// Items beyond the option's limit. fio warns and runs without them.
    pub n_dropped: usize,
}

/// A list `a:b:c` of at most `n_max` numbers in a range.
///
/// # Errors
/// As [`parse_float`], for any item that is not dropped.
pub fn parse_float_list(text: &str, n_max: usize, allowed: &RangeInclusive<f64>) -> Result<FloatList, ParseError> {
    if text.is_empty() {
        return Err(ParseError::Empty);
    }
    let items = || text.split(':');
    let values = items().take(n_max).map(|item| parse_float(item, allowed)).collect::<Result<_, _>>()?;
    let n_decimals = items().take(n_max).map(n_decimals).max().unwrap_or(0);
    Ok(FloatList { values, n_decimals, n_dropped: items().count().saturating_sub(n_max) })
}

fn n_decimals(item: &str) -> usize {
    let decimals = item.split_once('.').map_or("", |(_, decimals)| decimals);
    decimals.bytes().take_while(u8::is_ascii_digit).count()
}

/// A number with decimals: decimal, or hexadecimal without a fraction. Blanks around it do not count, nor does a comment behind it.
/// `inf` is a number out of every range.
///
/// # Errors
/// [`ParseError::NotAFloat`] without a finite number, [`ParseError::LeftOver`] with anything behind it,
/// [`ParseError::FloatOutOfRange`] outside of `allowed`.
pub fn parse_float(text: &str, allowed: &RangeInclusive<f64>) -> Result<f64, ParseError> {
    let number = without_comment(text).trim_ascii();
    let unsigned = number.trim_start_matches(['+', '-']);
    let value = if unsigned.get(..2).is_some_and(|mark| mark.eq_ignore_ascii_case("0x")) {
        match Number::read(text) {
            Ok(number) => Some(number.alone(text)? as f64),
            Err(_) => None,
        }
    } else if unsigned.get(..3).is_some_and(|word| word.eq_ignore_ascii_case("inf")) {
        Some(if number.starts_with('-') { f64::NEG_INFINITY } else { f64::INFINITY })
    } else {
        let (digits, rest) = number.split_at(n_float_bytes(number));
        let value = digits.parse().ok().filter(|value: &f64| value.is_finite());
        if value.is_some() && !rest.is_empty() {
            return Err(left_over(text, rest, "nothing may follow it"));
        }
        value
    };
    let value = value.ok_or_else(|| ParseError::NotAFloat { given: text.to_owned() })?;
    if allowed.contains(&value) {
        return Ok(value);
    }
    Err(ParseError::FloatOutOfRange { given: text.to_owned(), min: *allowed.start(), max: *allowed.end() })
}

/// Length of the decimal number at the start of a text: sign, digits, point, digits, exponent.
fn n_float_bytes(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_at = |at: usize, symbols: &[u8]| bytes.get(at).is_some_and(|byte| symbols.contains(byte));
    let skip_sign = |at: usize| at + usize::from(is_at(at, b"+-"));
    let skip_digits = |at: usize| at + bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut end = skip_digits(skip_sign(0));
    if is_at(end, b".") {
        end = skip_digits(end + 1);
    }
    if is_at(end, b"eE") {
        // An `e` without digits behind it is part of the number too, which then is none.
        end = skip_digits(skip_sign(end + 1));
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn directions() {
        let table = [
            ("4k", [Some("4k"), Some("4k"), Some("4k")]),
            ("4k,8k", [Some("4k"), Some("8k"), Some("8k")]),
            ("4k:8k", [Some("4k"), Some("8k"), Some("8k")]),
            ("4k,8k,16k", [Some("4k"), Some("8k"), Some("16k")]),
            ("4k,", [Some("4k"), None, None]),
            (",8k", [None, Some("8k"), Some("8k")]),
            ("4k,,16k", [Some("4k"), None, Some("16k")]),
            (",,16k", [None, None, Some("16k")]),
            ("-1", [Some("-1"), Some("-1"), Some("-1")]),
            ("-1,-2", [Some("-1"), Some("-2"), Some("-2")]),
            ("(8-4),(2,3)", [Some("(8-4)"), Some("(2,3)"), Some("(2,3)")]),
        ];
        for (text, slots) in table {
            assert_eq!(split_per_direction(text), Ok(PerDirection(slots)), "{text}");
        }
        for text in ["", ",", ",,", ":"] {
            assert_eq!(split_per_direction(text), Err(ParseError::Empty), "{text}");
        }
        for text in ["4k-8k", "4k-", "-1--2", "4k-8k,16k", "4k,8k-16k", "4k:8k-16k"] {
            assert_eq!(
                split_per_direction(text),
                Err(ParseError::RangeNotAllowed { given: text.to_owned() }),
                "{text}"
            );
        }
        assert!(matches!(split_per_direction("1,2,3,4"), Err(ParseError::TooManyValues { max: 3, .. })));
    }

    #[test]
    fn lists_have_something_behind_a_separator() {
        for list in ["4,8", "4:8", "4-8", ",4", "4,,8", "-1,4", "4--8", "(1),(2)"] {
            assert!(is_list(list), "{list}");
        }
        for one in ["4", "", "4,", "4:", "4-", ",", "-4", "(4-8)", "4 8"] {
            assert!(!is_list(one), "{one}");
        }
    }

    #[test]
    fn directions_by_comma_only() {
        let split = split_per_direction_by_comma("1k-2k,512/50:4k/50");
        let expected = [Some("1k-2k"), Some("512/50:4k/50"), Some("512/50:4k/50")];
        assert_eq!(split, Ok(PerDirection(expected)));
    }

    #[test]
    fn pairs() {
        for text in ["1k-2k", "1k:2k", "1k,2k"] {
            assert_eq!(split_pair(text), Ok(("1k", Some("2k"))), "{text}");
        }
        assert_eq!(split_pair("5s"), Ok(("5s", None)));
        assert_eq!(split_pair("1k-"), Ok(("1k", None)));
        assert_eq!(split_pair("-2k"), Ok(("-2k", None)));
        assert_eq!(split_pair(""), Err(ParseError::Empty));
        assert_eq!(split_pair(":2"), Err(ParseError::Empty));
        assert!(matches!(split_pair("1,2,3"), Err(ParseError::TooManyValues { max: 2, .. })));
    }

    #[test]
    fn float_lists() {
        let percent = 0.0..=100.0;
        let list = parse_float_list("1:50.0: 99.999", 20, &percent).unwrap();
        assert_eq!(list, FloatList { values: vec![1.0, 50.0, 99.999], n_decimals: 3, n_dropped: 0 });
        let list = parse_float_list("1:2:3.25", 2, &percent).unwrap();
        assert_eq!(list, FloatList { values: vec![1.0, 2.0], n_decimals: 0, n_dropped: 1 });
        for text in ["", "abc", "1:", ":1", "nan", "inf"] {
            assert!(parse_float_list(text, 20, &percent).is_err(), "{text}");
        }
        let error = parse_float_list("1:101", 20, &percent).unwrap_err();
        assert_eq!(error.to_string(), "`101` is out of range: 0 to 100 are allowed");
    }

    /// Recorded from fio 3.41, by the names of the percentiles in its JSON and by its trace of its parser.
    #[test]
    fn recorded_floats() {
        for (text, value) in [("1e1", 10.0), (".5", 0.5), ("5.", 5.0), (" 2 ", 2.0)] {
            assert_eq!(parse_float(text, &(0.0..=100.0)), Ok(value), "{text}");
        }
        assert_eq!(parse_float("0x1F", &(0.0..=99.0)), Ok(31.0));
        for text in ["0x", "0xg", "nan", "", "1e", "1E", "1e+", "1.5e-", "5.e", "1ex", "1e,2"] {
            assert!(matches!(parse_float(text, &(0.0..=9.0)), Err(ParseError::NotAFloat { .. })), "{text}");
        }
        // fio takes the number.
        for text in ["99.9x", "1,2", "50%", "0x1x"] {
            assert!(matches!(parse_float(text, &(0.0..=100.0)), Err(ParseError::LeftOver { .. })), "{text}");
        }
        for text in ["inf", "-INF", "+infinity", "0x65"] {
            assert!(matches!(parse_float(text, &(0.0..=100.0)), Err(ParseError::FloatOutOfRange { .. })), "{text}");
        }
        assert!(matches!(parse_float("1e999", &(0.0..=9.0)), Err(ParseError::NotAFloat { .. })));
    }

    proptest! {
        #[test]
        fn any_text_is_a_list_or_an_error(text in "\\PC{0,20}") {
            let _ = split_per_direction(&text);
            let _ = split_per_direction_by_comma(&text);
            let _ = split_pair(&text);
            let _ = split_range(&text);
            let _ = parse_float_list(&text, 3, &(0.0..=1.0));
        }
    }
}
