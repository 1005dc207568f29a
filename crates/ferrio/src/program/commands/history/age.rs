//! Ages of runs, as options give them.
//!
//! Must not know: runs. Start reading at [`parse_ms`].
use anyhow::anyhow;

/// Units and their lengths in hours.
const UNITS: [(char, i64); 4] = [('h', 1), ('d', 24), ('w', 7 * 24), ('y', 365 * 24)];
const MS_PER_HOUR: i64 = 3_600_000;

/// Parses an age such as `30d`: a whole number of hours, days, weeks or years. The result is in milliseconds.
pub(super) fn parse_ms(text: &str) -> anyhow::Result<i64> {
    let of_unit = |(unit, hours): &(char, i64)| {
        let digits = text.strip_suffix(*unit).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        digits.parse::<i64>().ok()?.checked_mul(hours * MS_PER_HOUR)
    };
    UNITS
        .iter()
        .find_map(of_unit)
        .ok_or_else(|| anyhow!("a whole number of hours, days, weeks or years is expected, such as 12h, 30d, 4w or 1y"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_have_a_unit() {
        for (text, hours) in [("12h", 12), ("30d", 720), ("2w", 336), ("1y", 8_760), ("0d", 0)] {
            assert_eq!(parse_ms(text).expect(text), hours * MS_PER_HOUR, "{text}");
        }
        for text in ["30", "d", "-1d", "+1d", "1.5d", "30m", "", "99999999999999999d", "1 d"] {
            assert!(parse_ms(text).is_err(), "{text}");
        }
    }
}
