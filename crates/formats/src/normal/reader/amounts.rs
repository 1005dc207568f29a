//! Numbers as fio's text prints them: with a prefix and a unit, or with a percent sign.
//!
//! Must not know: lines. Start reading at [`scaled`].

/// No amount of a report is larger; the sum of all of them stays finite.
const MOST: f64 = 1e30;

/// A number with a prefix (`k`, `Mi`) and a unit (bytes, bits, a second, none), in bytes or alone: `11.1MiB`, `50.8k`, `1593Mibit/s`.
pub(super) fn scaled(text: &str) -> Option<f64> {
    let n_digits = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (digits, rest) = text.split_at(n_digits);
    let number = plain(digits)?;
    let unit = rest.strip_suffix("/s").unwrap_or(rest);
    let (prefix, share) = match unit.strip_suffix("bit") {
        Some(prefix) => (prefix, 1.0 / 8.0),
        None => (unit.strip_suffix('B').unwrap_or(unit), 1.0),
    };
    let (letter, base) = match prefix.strip_suffix('i') {
        Some(letter) => (letter, 1024.0_f64),
        None => (prefix, 1000.0),
    };
    let power = match letter {
        "" => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        "P" => 5,
        "E" => 6,
        _ => return None,
    };
    Some(number * base.powi(power) * share).filter(|value| *value <= MOST)
}

/// A decimal number that is not negative.
pub(super) fn plain(text: &str) -> Option<f64> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|value| is_number && (0.0..=MOST).contains(value))
}

/// A share with its sign: `12.5%`.
pub(super) fn percent(text: &str) -> Option<f64> {
    plain(text.strip_suffix('%')?)
}

/// Nanoseconds of a unit of latencies: `usec`.
pub(super) fn unit_ns(name: &str) -> Option<u64> {
    match name {
        "nsec" => Some(1),
        "usec" => Some(1_000),
        "msec" => Some(1_000_000),
        _ => None,
    }
}

/// The text behind `key=`, up to a comma, a blank or a bracket; blanks may stand before it (`min= 3824`).
pub(super) fn value<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let is_start =
        |at: usize| line[..at].chars().next_back().is_none_or(|before| !before.is_alphanumeric() && before != '_');
    let is_key = |at: &usize| is_start(*at) && line[*at + key.len()..].starts_with('=');
    let at = line.match_indices(key).map(|(at, _)| at).find(is_key)?;
    let rest = line[at + key.len() + 1..].trim_start();
    Some(rest.split([',', ' ', ')']).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected: the table of the reference, "Number scaler".
    #[test]
    fn amounts_have_prefixes_and_units() {
        for (text, expected) in [
            ("9999", 9_999.0),
            ("12.3k", 12_300.0),
            ("9.77KiB", 10_004.48),
            ("10.5M", 10_500_000.0),
            ("97.7KiB/s", 100_044.8),
            ("208MB/s", 208_000_000.0),
            ("8Mibit/s", 1_048_576.0),
            ("16kbit/s", 2_000.0),
            ("0B/s", 0.0),
        ] {
            let found = scaled(text).unwrap_or(-1.0);
            assert!((found - expected).abs() < 1e-6, "{text}: {found}");
        }
        for text in ["", "k", "1.2.3", "5X", "-4", "nan", "1e9", "4000Mi bytes"] {
            assert_eq!(scaled(text), None, "{text}");
        }
    }

    #[test]
    fn values_are_found_by_whole_keys() {
        let line = "bw (  KiB/s): min= 3824, max= 3928, per=100.00%, avg=3868.44, stdev=34.67, samples=9";
        assert_eq!(
            ["min", "max", "samples", "in"].map(|key| value(line, key)),
            [Some("3824"), Some("3928"), Some("9"), None]
        );
    }
}
