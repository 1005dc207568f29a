//! Times: `30`, `5m`, `100ms`, `(2*60)`. Kept in microseconds, the finest unit that a value can name.

use super::ParseError;
use super::expression::{evaluate, is_expression};
use super::number::{Number, left_over};

/// Unit of a bare number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Bare numbers are seconds (`runtime`, `startdelay`, ...).
    Seconds,
    /// Bare numbers are microseconds (`thinktime`, `max_latency`, ...).
    Microseconds,
}

impl TimeUnit {
    const fn us(self) -> u64 {
        match self {
            Self::Seconds => US_PER_SEC,
            Self::Microseconds => 1,
        }
    }
}

const US_PER_SEC: u64 = 1_000_000;

const SUFFIXES: &str = "d, h, m, s, ms and us may follow it, and a fraction is written as in (1.5s)";

/// Microseconds of a suffix, in any case.
fn suffix_us(suffix: &str) -> Option<u64> {
    match suffix.to_ascii_lowercase().as_str() {
        "d" => Some(86_400 * US_PER_SEC),
        "h" => Some(3600 * US_PER_SEC),
        "m" => Some(60 * US_PER_SEC),
        "s" => Some(US_PER_SEC),
        "ms" | "msec" | "msecs" => Some(1000),
        "us" | "usec" | "usecs" => Some(1),
        _ => None,
    }
}

/// A time in microseconds. Blanks around the number and its unit do not count, nor does a comment behind them.
///
/// A quirk of fio is kept: a hexadecimal number without a unit is one of microseconds.
///
/// # Errors
/// No number, a negative time, more than `u64::MAX` microseconds, bad arithmetic, or anything but a unit behind the number
/// ([`ParseError::LeftOver`]).
pub fn parse_time_us(text: &str, default_unit: TimeUnit) -> Result<u64, ParseError> {
    let value = if is_expression(text) {
        evaluate_us(text, default_unit)?
    } else {
        let number = Number::read(text)?;
        let unit_us = match number.rest {
            "" if number.is_hex => 1,
            "" => default_unit.us(),
            suffix => suffix_us(suffix).ok_or_else(|| left_over(text, suffix, SUFFIXES))?,
        };
        // Cannot overflow: 63 bits times 37 bits.
        i128::from(number.value) * i128::from(unit_us)
    };
    let out_of_range = |_| ParseError::OutOfRange { given: text.to_owned(), min: 0, max: u64::MAX.into() };
    u64::try_from(value).map_err(out_of_range)
}

/// Arithmetic is done in the default unit; fractions of it count.
fn evaluate_us(text: &str, default_unit: TimeUnit) -> Result<i128, ParseError> {
    let unit_us = default_unit.us() as f64;
    let value = evaluate(text, &|suffix| suffix_us(suffix).map(|us| us as f64 / unit_us))?;
    // The conversion saturates at values that are out of range.
    Ok((value * unit_us).round() as i128)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Recorded from fio 3.41's trace of its parser, apart from blanks and units of hexadecimal numbers.
    #[test]
    fn recorded_times() {
        let table = [
            ("1", 1_000_000),
            ("1s", 1_000_000),
            ("1S", 1_000_000),
            ("1m", 60_000_000),
            ("1M", 60_000_000),
            ("1h", 3_600_000_000),
            ("1d", 86_400_000_000),
            ("1ms", 1000),
            ("1msec", 1000),
            ("1MSEC", 1000),
            ("1us", 1),
            ("1usecs", 1),
            ("0x10", 16),
            ("0", 0),
            ("18446744073709", 18_446_744_073_709_000_000),
            // fio takes all these for seconds or microseconds.
            (" 1500ms", 1_500_000),
            ("1 m", 60_000_000),
            ("1d ", 86_400_000_000),
            ("0x10s", 16_000_000),
            ("5 # seconds", 5_000_000),
        ];
        for (text, us) in table {
            assert_eq!(parse_time_us(text, TimeUnit::Seconds), Ok(us), "{text}");
        }
    }

    /// fio 3.41 takes units that it does not know for microseconds, and a fraction for the whole number before it.
    #[test]
    fn what_is_left_over_is_refused() {
        for text in ["1sec", "10sec", "5min", "1w", "1.5s", "1.5m", "1s2", "1ms5", "1h1m", "30sx", "1msecond", "1k"] {
            assert!(matches!(parse_time_us(text, TimeUnit::Seconds), Err(ParseError::LeftOver { .. })), "{text}");
        }
    }

    #[test]
    fn microseconds_by_default() {
        let table = [("1", 1), ("1s", 1_000_000), ("1ms", 1000), ("5m", 300_000_000)];
        for (text, us) in table {
            assert_eq!(parse_time_us(text, TimeUnit::Microseconds), Ok(us), "{text}");
        }
    }

    #[test]
    fn out_of_range() {
        for text in ["-1", "18446744073710", "9223372036854775807s", "(0-1)", "(1e)", "(10^30)"] {
            assert!(parse_time_us(text, TimeUnit::Seconds).is_err(), "{text}");
        }
        assert_eq!(parse_time_us("", TimeUnit::Seconds), Err(ParseError::Empty));
    }

    #[test]
    fn arithmetic_in_the_default_unit() {
        let table = [
            ("(2*30)", 60_000_000, 60),
            ("(1m+1)", 61_000_000, 60_000_001),
            ("(500ms)", 500_000, 500_000),
            ("(1500ms)", 1_500_000, 1_500_000),
            ("(1.5s)", 1_500_000, 1_500_000),
            ("(1.5*2)", 3_000_000, 3),
            ("(0.1)", 100_000, 0),
            ("(1h)", 3_600_000_000, 3_600_000_000),
        ];
        for (text, from_seconds, from_microseconds) in table {
            assert_eq!(parse_time_us(text, TimeUnit::Seconds), Ok(from_seconds), "{text}");
            assert_eq!(parse_time_us(text, TimeUnit::Microseconds), Ok(from_microseconds), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_time_or_an_error(text in "\\PC{0,20}") {
            let _ = parse_time_us(&text, TimeUnit::Seconds);
        }
    }
}
