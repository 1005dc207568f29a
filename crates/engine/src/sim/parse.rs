//! Numbers in the texts of the `sim_*` options: times, sizes, rates, plain fractions.
//!
//! Decimals are exact (no floating point): `1.5ms` is 1500000 ns. Errors say what is allowed.
//! Must not know: which option is parsed. Start reading at [`time_ns`].

use super::error::SimTextError;

/// Longest time that a text may give, ns: one day. With at most 2^20 of them the sum stays below 2^64 ns.
pub(crate) const MAX_TIME_NS: u64 = 86_400 * 1_000_000_000;

/// A time in nanoseconds: a number with `ns`, `us`, `ms` or `s`; a bare 0 is allowed.
pub(crate) fn time_ns(text: &str) -> Result<u64, SimTextError> {
    let (number, suffix) = split_suffix(text);
    let unit_ns = match suffix {
        "ns" => 1,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "" if number == "0" => 1,
        _ => return Err(SimTextError::Time(text.to_owned())),
    };
    match scaled(number, unit_ns) {
        Some(ns) if ns <= MAX_TIME_NS => Ok(ns),
        Some(_) => Err(SimTextError::LongTime(text.to_owned())),
        None => Err(SimTextError::Time(text.to_owned())),
    }
}

/// True if the text reads as a time, so that a time and a size can stand in the same place.
pub(crate) fn is_time(text: &str) -> bool {
    matches!(split_suffix(text).1, "ns" | "us" | "ms" | "s")
}

/// A size in bytes: a number with nothing, `k`, `m`, `g`, `t` or `p` (powers of 1024), optionally followed by `b` or
/// `ib`, in any case.
pub(crate) fn bytes(text: &str) -> Result<u64, SimTextError> {
    let wrong = || SimTextError::Size(text.to_owned());
    let (number, suffix) = split_suffix(text);
    let suffix = suffix.to_ascii_lowercase();
    let letter = suffix.strip_suffix("ib").or_else(|| suffix.strip_suffix('b')).unwrap_or(&suffix);
    let power = match letter {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return Err(wrong()),
    };
    scaled(number, 1 << (10 * power)).ok_or_else(wrong)
}

/// Bytes a second, at least 1: a size, optionally followed by `/s`.
pub(crate) fn bytes_per_sec(text: &str) -> Result<u64, SimTextError> {
    positive(text, bytes(text.strip_suffix("/s").unwrap_or(text))?)
}

/// The number, if it is not 0.
pub(crate) fn positive(text: &str, number: u64) -> Result<u64, SimTextError> {
    if number == 0 { Err(SimTextError::Zero(text.to_owned())) } else { Ok(number) }
}

/// A non-negative decimal fraction such as `0.25` or `25%`.
pub(crate) fn fraction(text: &str) -> Result<f64, SimTextError> {
    let (number, scale) = match text.strip_suffix('%') {
        Some(number) => (number, 0.01),
        None => (text, 1.0),
    };
    let is_plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    match number.parse::<f64>() {
        Ok(value) if is_plain => Ok(value * scale),
        _ => Err(SimTextError::Number(text.to_owned())),
    }
}

/// Exactly `N` parts of a text that are separated by slashes.
pub(crate) fn parts<'a, const N: usize>(text: &'a str, form: &'static str) -> Result<[&'a str; N], SimTextError> {
    let parts: Vec<&str> = text.split('/').map(str::trim).collect();
    parts.try_into().map_err(|_| SimTextError::Form { text: text.to_owned(), form })
}

/// The digits (with a point) and what follows them.
fn split_suffix(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(text.len());
    text.split_at(end)
}

/// A decimal number times a unit, rounded down; `None` if it is not a number or 2^64 or more.
fn scaled(number: &str, unit: u64) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    // 18 decimals times a unit below 2^60 fit u128 with room to spare.
    if whole.is_empty() || decimals.len() > 18 || !is_digits(whole) || !is_digits(decimals) {
        return None;
    }
    let whole: u128 = whole.parse::<u64>().ok()?.into();
    let denominator = 10_u128.pow(decimals.len() as u32);
    let numerator: u128 = if decimals.is_empty() { 0 } else { decimals.parse().ok()? };
    let value = whole * u128::from(unit) + numerator * u128::from(unit) / denominator;
    u64::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact() {
        for (text, ns) in [("0", 0), ("7ns", 7), ("1.5ms", 1_500_000), ("0.1us", 100), ("2s", 2_000_000_000)] {
            assert_eq!(time_ns(text), Ok(ns), "{text}");
        }
        for text in ["", "5", "1m", "-1us", "1.us2", "1..5us", "90000s", "us", "99999999999999999999s"] {
            assert!(time_ns(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_powers_of_1024() {
        for (text, n) in [("512", 512), ("4k", 4096), ("1.5M", 3 << 19), ("2GiB", 2 << 30), ("1kb", 1024), ("3b", 3)] {
            assert_eq!(bytes(text), Ok(n), "{text}");
        }
        for text in ["", "k", "4x", "4 k", "99999999p"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert_eq!(bytes_per_sec("1m/s"), Ok(1 << 20));
        assert!(bytes_per_sec("0").is_err());
    }

    #[test]
    fn fractions_and_parts() {
        assert_eq!(fraction("25%"), Ok(0.25));
        assert_eq!(fraction("0.5"), Ok(0.5));
        assert!(fraction("1e3").is_err() && fraction("nan").is_err() && fraction("-1").is_err());
        assert_eq!(parts::<2>("a / b", "A/B"), Ok(["a", "b"]));
        assert!(parts::<3>("a/b", "A/B/C").is_err());
        assert!(is_time("5ms") && !is_time("5m"));
    }
}
