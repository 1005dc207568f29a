//! Numbers that are easy to read: three significant digits, separated thousands, and a unit for each number.
//!
//! Must not know: which figure a number is. Start reading at [`duration_text`].

const BINARY: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];

/// An amount of bytes in the largest unit of which there is at least one. The step to GiB is at 1024 MiB, as in `df`.
pub fn bytes_text(bytes: u64) -> String {
    match BINARY.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => {
            let amount = three_digits(bytes as f64 / *unit as f64);
            let plain = amount.strip_suffix(".00").or_else(|| amount.strip_suffix(".0")).unwrap_or(&amount);
            format!("{} {name}", plain.replace(',', ""))
        }
        None => format!("{bytes} bytes"),
    }
}

/// A time with its unit, which is never left out: `812 ns`, `56.3 us`, `12.4 ms`, `1.20 s`.
pub fn duration_text(nanoseconds: f64) -> String {
    const UNITS: [(&str, f64); 3] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6)];
    // The limit is where three digits round up to 1000.
    let fitting = UNITS.iter().find(|(_, factor)| nanoseconds / factor < 999.5);
    let (unit, factor) = fitting.copied().unwrap_or(("s", 1e9));
    match unit {
        "ns" => format!("{nanoseconds:.0} ns"),
        _ => format!("{} {unit}", three_digits(nanoseconds / factor)),
    }
}

/// Three significant digits below 1000, whole numbers with commas from there on: `0.42`, `9.99`, `56.3`, `612`, `1,177`.
pub fn three_digits(value: f64) -> String {
    match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        value => thousands(value.round() as u64),
    }
}

/// A whole number with a comma before each three digits.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its word: `1 I/O`, `1,200 I/Os`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(number), if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_no_several() {
        for (number, expected) in [(0, "0 I/Os"), (1, "1 I/O"), (2, "2 I/Os"), (1_200, "1,200 I/Os")] {
            assert_eq!(counted(number, "I/O", "I/Os"), expected);
        }
    }

    #[test]
    fn durations_carry_their_unit() {
        let table = [
            (0.0, "0 ns"),
            (812.4, "812 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 us"),
            (56_321.0, "56.3 us"),
            (812_000.0, "812 us"),
            (999_499.0, "999 us"),
            (999_500.0, "1.00 ms"),
            (12_386_304.0, "12.4 ms"),
            (1_200_000_000.0, "1.20 s"),
            (5_000_000_000_000.0, "5,000 s"),
        ];
        for (nanoseconds, expected) in table {
            assert_eq!(duration_text(nanoseconds), expected);
        }
    }

    #[test]
    fn three_digits_or_whole_numbers() {
        let table = [
            (0.0, "0.00"),
            (0.419, "0.42"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (56.32, "56.3"),
            (99.96, "100"),
            (612.4, "612"),
            (1177.3, "1,177"),
            (28_123.6, "28,124"),
        ];
        for (value, expected) in table {
            assert_eq!(three_digits(value), expected);
        }
    }

    #[test]
    fn thousands_are_apart() {
        for (number, expected) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(number), expected);
        }
    }

    #[test]
    fn amounts_of_bytes() {
        let table = [
            (0, "0 bytes"),
            (1_023, "1023 bytes"),
            (1_024, "1 KiB"),
            (16 << 20, "16 MiB"),
            (1_000 << 20, "1000 MiB"),
            (1 << 30, "1 GiB"),
            (3 << 29, "1.50 GiB"),
            (252 << 30, "252 GiB"),
            (u64::MAX, "16777216 TiB"),
        ];
        for (bytes, expected) in table {
            assert_eq!(bytes_text(bytes), expected);
        }
    }
}
