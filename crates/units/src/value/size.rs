//! Sizes and counts: `4k`, `1mib`, `0x200`, `25%`, `8z`, `(2*64k)`.
//!
//! Start reading at [`parse_size`]. Source: fio's option parser, value by value.

use super::ParseError;
use super::expression::{evaluate, is_expression};
use super::number::{Number, left_over, without_comment};
use crate::base::KbBase;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// A size that may be relative: to the file (percent) or to its zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SizeValue {
    Bytes(u64),
    /// A percentage, no larger than the caller of [`parse_size`] allows.
    Percent(u32),
    Zones(u64),
}

/// The letters of powers of the base, from the first on.
const POWER_LETTERS: &[u8; 5] = b"kmgtp";

/// What may follow a number.
const SUFFIXES: &str =
    "k, m, g, t and p may follow it, each also with b, i or ib, and a fraction is written as in (1.5g)";

/// Factor of a suffix, in any case: for `k`, `kb`, `ki`, ... powers of the base, for `kib`, `mib`, ... powers of the other
/// base, and 1 for `b`. `None` for anything else.
pub(super) fn suffix_factor(suffix: &str, kb_base: KbBase) -> Option<u64> {
    let (letter, tail) = suffix.split_at_checked(1)?;
    let letter = letter.as_bytes()[0].to_ascii_lowercase();
    if letter == b'b' && tail.is_empty() {
        return Some(1);
    }
    let power = POWER_LETTERS.iter().position(|power_letter| *power_letter == letter)? as u32 + 1;
    let base = match tail {
        "" | "b" | "B" | "i" | "I" => kb_base,
        tail if tail.eq_ignore_ascii_case("ib") => kb_base.other(),
        _ => return None,
    };
    // Cannot overflow: 1024^5 = 2^50.
    Some(base.factor().pow(power))
}

/// A whole number with its suffix multiplied in, before any range is checked: `4k`, `-1`, `0x10`, `(3*4k)`.
///
/// Blanks around the number and its suffix do not count, nor does a comment behind them.
///
/// # Errors
/// No number, a number or a product outside of `i64::MIN..=u64::MAX`, a percentage, zones, bad arithmetic, or anything else behind the
/// number ([`ParseError::LeftOver`]).
pub fn parse_integer(text: &str, kb_base: KbBase) -> Result<i128, ParseError> {
    parse_integer_in(text, kb_base, i64::MIN.into()..=u64::MAX.into())
}

/// [`parse_integer`] with the range that the option allows.
///
/// # Errors
/// As [`parse_integer`], and [`ParseError::OutOfRange`] outside of `allowed`.
pub fn parse_integer_in(text: &str, kb_base: KbBase, allowed: RangeInclusive<i128>) -> Result<i128, ParseError> {
    let given = || text.to_owned();
    let value = if is_expression(text) {
        // The conversion truncates towards zero, and saturates at values that are out of every range.
        evaluate(text, &|suffix| suffix_factor(suffix, kb_base).map(|factor| factor as f64))? as i128
    } else {
        if zones_of(text).is_some() {
            return Err(ParseError::ZonesNotAllowed { given: given() });
        }
        let number = Number::read(text)?;
        let factor = match number.rest {
            "" => 1,
            "%" => return Err(ParseError::PercentNotAllowed { given: given() }),
            suffix => suffix_factor(suffix, kb_base).ok_or_else(|| left_over(text, suffix, SUFFIXES))?,
        };
        // Cannot overflow: 63 bits times 50 bits.
        i128::from(number.value) * i128::from(factor)
    };
    if !allowed.contains(&value) {
        return Err(ParseError::OutOfRange { given: given(), min: *allowed.start(), max: *allowed.end() });
    }
    Ok(value)
}

/// A number of bytes (or of anything that is not negative).
///
/// # Errors
/// As [`parse_integer`], and [`ParseError::OutOfRange`] below 0.
pub fn parse_bytes(text: &str, kb_base: KbBase) -> Result<u64, ParseError> {
    // Cannot truncate: the range is that of u64.
    parse_integer_in(text, kb_base, 0..=u64::MAX.into()).map(|value| value as u64)
}

/// A size in bytes, percent (`25%`, at most `most_percent`) or zones (`8z`). Where an option allows only two of the three, its caller refuses
/// the third with [`ParseError::PercentNotAllowed`] or [`ParseError::ZonesNotAllowed`].
///
/// # Errors
/// As [`parse_bytes`]; [`ParseError::OutOfRange`] above the most percent; [`ParseError::NotZones`] unless only digits precede the `z`.
pub fn parse_size(text: &str, kb_base: KbBase, most_percent: u32) -> Result<SizeValue, ParseError> {
    if is_expression(text) {
        return parse_bytes(text, kb_base).map(SizeValue::Bytes);
    }
    if let Some(n_zones) = zones_of(text) {
        let is_number = n_zones.bytes().all(|b| b.is_ascii_digit());
        let n_zones = n_zones.parse().ok().filter(|_| is_number);
        return n_zones.map(SizeValue::Zones).ok_or_else(|| ParseError::NotZones { given: text.to_owned() });
    }
    let number = Number::read(text)?;
    if number.rest != "%" {
        return parse_bytes(text, kb_base).map(SizeValue::Bytes);
    }
    let percent = u32::try_from(number.value).ok().filter(|percent| *percent <= most_percent);
    let (min, max) = (0, most_percent.into());
    percent.map(SizeValue::Percent).ok_or_else(|| ParseError::OutOfRange { given: text.to_owned(), min, max })
}

/// What stands before the `z` of a number of zones; `None` if there is no `z`.
fn zones_of(text: &str) -> Option<&str> {
    without_comment(text).trim_ascii().strip_suffix('z').map(str::trim_ascii_end)
}

/// A range of sizes, `low-high` or `low:high`, put in order where it is reversed.
///
/// # Errors
/// [`ParseError::NotARange`] without two sides, and errors of [`parse_bytes`] for each.
pub fn parse_size_range(text: &str, kb_base: KbBase) -> Result<RangeInclusive<u64>, ParseError> {
    let not_a_range = || ParseError::NotARange { given: text.to_owned() };
    let sides = super::list::split_range(text).ok_or_else(not_a_range)?;
    let (a, b) = (parse_bytes(sides.0, kb_base)?, parse_bytes(sides.1, kb_base)?);
    Ok(a.min(b)..=a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn binary(text: &str) -> i128 {
        parse_integer(text, KbBase::Binary).unwrap()
    }

    /// Recorded from fio 3.41's trace of its parser, apart from blanks, comments and suffixes of hexadecimal numbers.
    #[test]
    fn recorded_sizes() {
        let table = [
            ("4k", 4096),
            ("4K", 4096),
            ("4kb", 4096),
            ("4ki", 4096),
            ("4kib", 4000),
            ("4KiB", 4000),
            ("4b", 4),
            ("4m", 4 << 20),
            ("4mib", 4_000_000),
            ("4mi", 4 << 20),
            ("4g", 4 << 30),
            ("4t", 4 << 40),
            ("4tib", 4_000_000_000_000),
            ("4P", 4 << 50),
            ("4pib", 4_000_000_000_000_000),
            ("0x10", 16),
            ("-1", -1),
            ("-1k", -1024),
            ("-0x10", -16),
            ("010", 10),
            ("16383p", 16_383 << 50),
            // fio does not see these suffixes.
            ("0x10k", 16_384),
            (" 4k", 4096),
            ("4 k", 4096),
            ("\t4k ", 4096),
            ("4k # blocks", 4096),
        ];
        for (text, value) in table {
            assert_eq!(binary(text), value, "{text}");
        }
    }

    /// Of all these, fio 3.41 takes the number at the beginning, with the first letter behind it if it knows it.
    #[test]
    fn what_is_left_over_is_refused() {
        for text in [
            "4kk", "4q", "4e", "4kx", "8kfoo", "1.5g", "1.5", "4,k", "10x", "4k%", "1.5%", "4Z", "4zk", "12k34",
            "4k-8k", "4bb", "4kbi", "4k b", "4k#x", "1 2", "4é",
        ] {
            let refused = parse_integer(text, KbBase::Binary);
            assert!(matches!(refused, Err(ParseError::LeftOver { .. })), "{text}: {refused:?}");
            assert!(parse_size(text, KbBase::Binary, 100).is_err(), "{text}");
        }
        let said = parse_integer("8kfoo", KbBase::Binary).unwrap_err().to_string();
        assert!(said.starts_with("`8kfoo`: `kfoo` behind the number is not understood; k, m, g"), "{said}");
    }

    #[test]
    fn decimal_base_swaps_the_systems() {
        let table = [("4k", 4000), ("4kb", 4000), ("4ki", 4000), ("4kib", 4096), ("4m", 4_000_000), ("4mib", 4 << 20)];
        for (text, value) in table {
            assert_eq!(parse_bytes(text, KbBase::Decimal), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_the_reference_wraps_is_refused() {
        for text in ["16384p", "-16384p", "18446744073709551615", "9223372036854775808"] {
            assert!(matches!(parse_integer(text, KbBase::Binary), Err(ParseError::OutOfRange { .. })), "{text}");
        }
        let error = parse_integer_in("200", KbBase::Binary, 0..=100).unwrap_err();
        assert_eq!(error.to_string(), "`200` is out of range: 0 to 100 are allowed");
        assert!(parse_bytes("-1", KbBase::Binary).is_err());
    }

    #[test]
    fn percent_and_zones() {
        let parse = |text| parse_size(text, KbBase::Binary, 100);
        assert_eq!(parse("4k"), Ok(SizeValue::Bytes(4096)));
        assert_eq!(parse("0%"), Ok(SizeValue::Percent(0)));
        assert_eq!(parse("100%"), Ok(SizeValue::Percent(100)));
        assert_eq!(parse(" 10 %"), Ok(SizeValue::Percent(10)));
        assert_eq!(parse("12z"), Ok(SizeValue::Zones(12)));
        assert_eq!(parse(" 12z # of them"), Ok(SizeValue::Zones(12)));
        assert_eq!(parse("101%").unwrap_err().to_string(), "`101%` is out of range: 0 to 100 are allowed");
        assert!(matches!(parse("-5%"), Err(ParseError::OutOfRange { .. })));
        assert_eq!(parse_size("250%", KbBase::Binary, u32::MAX), Ok(SizeValue::Percent(250)));
        let beyond = parse_size("4294967296%", KbBase::Binary, u32::MAX).unwrap_err().to_string();
        assert_eq!(beyond, "`4294967296%` is out of range: 0 to 4294967295 are allowed");
        for text in ["z", "4kz", "1.5z", "0x1z", "+1z", "99999999999999999999z"] {
            assert_eq!(parse(text), Err(ParseError::NotZones { given: text.to_owned() }));
        }
        assert!(matches!(parse_bytes("4z", KbBase::Binary), Err(ParseError::ZonesNotAllowed { .. })));
        assert!(matches!(parse_bytes("4%", KbBase::Binary), Err(ParseError::PercentNotAllowed { .. })));
    }

    #[test]
    fn arithmetic_with_size_suffixes() {
        assert_eq!(binary("(1.5g)"), 3 << 29);
        assert_eq!(binary("(2*64k + 1)"), 131_073);
        assert_eq!(binary("(1kib)"), 1000);
        assert_eq!(binary("(-1)"), -1);
        assert_eq!(parse_size("(4k/3)", KbBase::Binary, 100), Ok(SizeValue::Bytes(1365)));
        assert!(matches!(parse_bytes("(2^64)", KbBase::Binary), Err(ParseError::OutOfRange { .. })));
        assert!(matches!(parse_bytes("(1s)", KbBase::Binary), Err(ParseError::Expression { .. })));
    }

    #[test]
    fn ranges_are_put_in_order() {
        let parse = |text| parse_size_range(text, KbBase::Binary);
        for text in ["4k-8k", "8k-4k", "4k:8k", " 4k - 8k "] {
            assert_eq!(parse(text), Ok(4096..=8192), "{text}");
        }
        assert_eq!(parse("(2k-1k)-(4*1k)"), Ok(1024..=4096));
        for text in ["4k", "", "-4-8", "4k-", ":", "4k-8k:16k", "4k-8kx"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_value_or_an_error(text in "\\PC{0,20}") {
            let _ = parse_size(&text, KbBase::Binary, 100);
            let _ = parse_size_range(&text, KbBase::Decimal);
        }

        #[test]
        fn plain_digits_are_themselves(value in 0..=i64::MAX as u64) {
            prop_assert_eq!(parse_bytes(&value.to_string(), KbBase::Binary), Ok(value));
            prop_assert_eq!(parse_bytes(&format!("{value:#x}"), KbBase::Binary), Ok(value));
        }
    }
}
