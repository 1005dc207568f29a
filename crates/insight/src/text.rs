//! Numbers in sentences.
//!
//! Must not know: the meaning of the figures.

pub(crate) use ferrio_units::humanize::bytes_text as bytes;

/// A number with at most three digits that matter, if it is below 1000.
pub(crate) fn short(value: f64) -> String {
    let text = ferrio_units::humanize::three_digits(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A rate, or another number that need not be whole, of I/Os: `1 I/O`, `0.5 I/Os`.
pub(crate) fn ios(number: f64) -> String {
    let text = short(number);
    if text == "1" { "1 I/O".to_owned() } else { format!("{text} I/Os") }
}

/// A share in percent: 100 only where it is all of it, and 0 only where it is nothing.
pub(crate) fn percent(part: f64, whole: f64) -> String {
    let share = if whole > 0.0 { 100.0 * part / whole } else { 0.0 };
    match share {
        share if share > 99.0 && part < whole => "more than 99 %".to_owned(),
        share if share > 0.0 && share < 1.0 => "less than 1 %".to_owned(),
        share => format!("{share:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeroes_behind_the_point_are_left_out() {
        for (value, expected) in
            [(0.0, "0"), (1.234, "1.23"), (9.999, "10"), (8.0, "8"), (99.96, "100"), (1234.6, "1,235")]
        {
            assert_eq!(short(value), expected);
        }
    }

    #[test]
    fn one_io_is_no_several() {
        for (number, expected) in [(0.5, "0.5 I/Os"), (1.0, "1 I/O"), (1.001, "1 I/O"), (2.0, "2 I/Os")] {
            assert_eq!(ios(number), expected);
        }
    }

    #[test]
    fn all_and_nothing_are_said_of_nothing_else() {
        for (part, whole, expected) in [
            (0.0, 10.0, "0 %"),
            (0.001, 10.0, "less than 1 %"),
            (5.0, 10.0, "50 %"),
            (9.9999, 10.0, "more than 99 %"),
            (10.0, 10.0, "100 %"),
            (1.0, 0.0, "0 %"),
        ] {
            assert_eq!(percent(part, whole), expected);
        }
    }
}
