//! Single numbers and times, with the reference's rules for suffixes.
//!
//! Must not know: options beyond the name that a message needs.

use crate::error::JobError;
use crate::options::kind::Bounds;

/// A number as written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// A plain number, suffix applied.
    Plain(i64),
    /// `N%`.
    Percent(i64),
    /// `Nz`.
    Zones(i64),
}

/// A number with the suffixes of sizes; percent and zones are for the caller to refuse.
///
/// A text with `0x` is hexadecimal and has no suffix. A fraction ends the number, and its suffix is lost: `1.5g` is 1.
pub fn number(text: &str, kb_base: u32) -> Result<Number, JobError> {
    if text.contains("0x") || text.contains("0X") {
        return scanned(text).map(Number::Plain);
    }
    let trimmed = text.trim_start();
    let (value, suffix) = split_number(trimmed)?;
    // Blanks before the number hide the suffix.
    let suffix = if trimmed.len() == text.len() { suffix } else { "" };
    if suffix.starts_with('%') {
        return Ok(Number::Percent(value));
    }
    if suffix.eq_ignore_ascii_case("z") {
        return Ok(Number::Zones(value));
    }
    value.checked_mul(size_factor(suffix, kb_base)).map(Number::Plain).ok_or(JobError::NotParsed)
}

/// Sign and digits, and what follows them.
fn split_number(text: &str) -> Result<(i64, &str), JobError> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned.find(|symbol: char| !symbol.is_ascii_digit()).unwrap_or(unsigned.len());
    let magnitude: u64 = unsigned[..end].parse().map_err(|_| JobError::NotParsed)?;
    // Numbers beyond 63 bits wrap: only seeds are that large, and they are taken as 64 bits without sign.
    let value = magnitude as i64;
    Ok((if text.starts_with('-') { value.wrapping_neg() } else { value }, &unsigned[end..]))
}

/// What a suffix multiplies by. With a base of 1024 `k` is 1024 and `kib` 1000; with 1000 it is the other way round.
fn size_factor(suffix: &str, kb_base: u32) -> i64 {
    let lower = suffix.to_ascii_lowercase();
    let power = match lower.bytes().next() {
        Some(b'k') => 1,
        Some(b'm') => 2,
        Some(b'g') => 3,
        Some(b't') => 4,
        Some(b'p') => 5,
        _ => return 1,
    };
    let swapped = lower.len() == 3 && lower.ends_with("ib");
    let base: i64 = if (kb_base == 1000) == swapped { 1024 } else { 1000 };
    base.pow(power)
}

/// A time in microseconds; a bare number counts `unit_us` microseconds.
pub fn time_us(text: &str, unit_us: i64) -> Result<i64, JobError> {
    let text = text.trim();
    let hex = text.starts_with("0x") || text.starts_with("0X");
    let (value, rest) = if hex { (scanned(text)?, "hex") } else { split_number(text)? };
    let suffix = rest.trim_start_matches(|symbol: char| symbol == '.' || symbol.is_ascii_digit());
    let factor = time_factor(suffix, unit_us);
    value.checked_mul(factor).filter(|time| *time >= 0).ok_or(JobError::NotParsed)
}

fn time_factor(suffix: &str, unit_us: i64) -> i64 {
    match suffix.to_ascii_lowercase().as_str() {
        "" => unit_us,
        "d" => 86_400_000_000,
        "h" => 3_600_000_000,
        "m" => 60_000_000,
        "s" => 1_000_000,
        text if text.starts_with("ms") => 1_000,
        // Whatever else it says, the reference takes it for microseconds.
        _ => 1,
    }
}

/// Holds a number against the bounds of its option.
pub fn checked(name: &'static str, number: Number, bounds: Bounds) -> Result<i64, JobError> {
    let value = match number {
        Number::Plain(value) => value,
        Number::Percent(_) => return Err(JobError::NotParsed),
        Number::Zones(_) => return Err(JobError::ZonesNotPossible(name)),
    };
    if let Some(min) = bounds.min.filter(|min| value < *min) {
        return Err(JobError::BelowMinimum { name, value, min });
    }
    match bounds.max.filter(|max| value > *max) {
        Some(max) => Err(JobError::AboveMaximum { name, value, max }),
        None => Ok(value),
    }
}

/// A boolean: a number that is 0 or 1.
pub fn boolean(text: &str) -> Result<bool, JobError> {
    match scanned(text)? {
        number if number > 1 => Err(JobError::NotBoolean(number)),
        number => Ok(number != 0),
    }
}

/// The number at the start of `text`, decimal or `0x` hexadecimal, whatever follows.
pub fn scanned(text: &str) -> Result<i64, JobError> {
    let text = text.trim_start();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => (16, hex),
        None => (10, digits),
    };
    let end = digits.find(|symbol: char| !symbol.is_digit(radix)).unwrap_or(digits.len());
    let magnitude = i64::from_str_radix(&digits[..end], radix).map_err(|_| JobError::NotParsed)?;
    Ok(if negative { -magnitude } else { magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    // The table of suffixes and the quirks are those of the reference's manual of values.
    #[test]
    fn sizes() {
        for (text, base, expected) in [
            ("0", 1024, 0),
            ("+5", 1024, 5),
            ("-1", 1024, -1),
            ("4k", 1024, 4096),
            ("4K", 1024, 4096),
            ("4kb", 1024, 4096),
            ("4ki", 1024, 4096),
            ("4kk", 1024, 4096),
            ("4kib", 1024, 4000),
            ("4KiB", 1024, 4000),
            ("4k", 1000, 4000),
            ("4kib", 1000, 4096),
            ("1m", 1024, 1 << 20),
            ("1g", 1024, 1 << 30),
            ("1t", 1024, 1 << 40),
            ("1p", 1024, 1 << 50),
            ("1pib", 1024, 1_000_000_000_000_000),
            ("0x10", 1024, 16),
            ("0x10k", 1024, 16),
            ("010", 1024, 10),
            ("1.5g", 1024, 1),
            ("4.5k", 1024, 4),
            ("10q", 1024, 10),
            ("1e", 1024, 1),
            ("512b", 1024, 512),
            (" 4k", 1024, 4),
            ("8*1024", 1024, 8),
        ] {
            assert_eq!(number(text, base), Ok(Number::Plain(expected)), "{text} base {base}");
        }
        assert_eq!(number("50%", 1024), Ok(Number::Percent(50)));
        assert_eq!(number("3z", 1024), Ok(Number::Zones(3)));
        for bad in ["", "foo", "k", "-", "0x", "99999999999999999999", "9223372036854775807k"] {
            assert_eq!(number(bad, 1024), Err(JobError::NotParsed), "{bad}");
        }
    }

    #[test]
    fn times() {
        for (text, unit, expected) in [
            ("10", 1_000_000, 10_000_000),
            ("10", 1, 10),
            ("10s", 1, 10_000_000),
            ("2m", 1_000_000, 120_000_000),
            ("1h", 1, 3_600_000_000),
            ("1D", 1, 86_400_000_000),
            ("5ms", 1_000_000, 5_000),
            ("5msec", 1_000_000, 5_000),
            ("5us", 1_000_000, 5),
            ("5usec", 1_000_000, 5),
            ("10sec", 1_000_000, 10),
            ("5min", 1_000_000, 5),
            ("1.5s", 1, 1_000_000),
            (" 4", 1_000_000, 4_000_000),
        ] {
            assert_eq!(time_us(text, unit), Ok(expected), "{text}");
        }
        for bad in ["", "foo", "-1", "99999999999999d"] {
            assert_eq!(time_us(bad, 1_000_000), Err(JobError::NotParsed), "{bad}");
        }
    }

    #[test]
    fn booleans() {
        for (text, expected) in [("0", false), ("1", true), ("01", true), ("-1", true), ("0x1", true)] {
            assert_eq!(boolean(text), Ok(expected), "{text}");
        }
        assert_eq!(boolean("2"), Err(JobError::NotBoolean(2)));
        assert_eq!(boolean("yes"), Err(JobError::NotParsed));
    }

    #[test]
    fn bounds_name_the_option() {
        use crate::options::kind::{at_least, between};
        let below = JobError::BelowMinimum { name: "bs", value: 0, min: 1 };
        assert_eq!(checked("bs", Number::Plain(0), at_least(1)), Err(below.clone()));
        assert_eq!(below.to_string(), "bs: min value out of range: 0 (1 min)");
        let above = checked("nice", Number::Plain(99), between(-20, 19)).unwrap_err();
        assert_eq!(above.to_string(), "nice: max value out of range: 99 (19 max)");
        let zones = checked("iodepth", Number::Zones(1), at_least(1)).unwrap_err();
        assert_eq!(zones.to_string(), "iodepth: 'z' suffix isn't applicable");
    }
}
