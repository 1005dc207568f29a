//! Ranges of numbers: `1..256` doubles, `1..10+3` adds, `1..1000*10` multiplies; the last value is always the end of the range.
//!
//! Must not know: options. Start reading at [`values`].

use super::SpaceError;

const MOST_VALUES: usize = 10_000;

/// Units of sizes, each 1,024 times the one before it.
const SIZE_UNITS: [char; 5] = ['k', 'm', 'g', 't', 'p'];

/// A number with the letters behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Written<'a> {
    number: u64,
    unit: &'a str,
}

/// How the next value follows from the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Times(u64),
    Plus(u64),
}

/// The values of a range as they are written for an option; `None`: the text is no range.
///
/// # Errors
/// The range has no end, or one that is no number, or too many values.
pub(super) fn values(text: &str) -> Option<Result<Vec<String>, SpaceError>> {
    let (first, rest) = text.split_once("..")?;
    let at = rest.find(['+', '*']);
    let (last, step) = at.map_or((rest, None), |at| (&rest[..at], Some(&rest[at..])));
    let first = written(first)?;
    let values = match written(last) {
        _ if last.is_empty() => Err("it has no end"),
        None if last.starts_with(|letter: char| letter.is_ascii_digit()) => Err("its end is no number"),
        None if last.trim_start_matches('.').starts_with(|letter: char| letter.is_ascii_digit()) => {
            Err("a range has two dots")
        }
        None => return None,
        Some(last) => between(first, last, step),
    };
    Some(values.map_err(|reason| SpaceError::Range { text: text.to_owned(), reason }))
}

fn between(first: Written<'_>, last: Written<'_>, step: Option<&str>) -> Result<Vec<String>, &'static str> {
    let distance = step.and_then(|step| step.strip_prefix('+')).map(|text| written(text).ok_or("+ needs a number"));
    let distance = distance.transpose()?;
    let has_unit_of_ends = |distance: Written<'_>| distance.unit.is_empty() || distance.unit == first.unit;
    // In the unit of the ends, or else in bytes.
    let is_one_unit = first.unit == last.unit && distance.is_none_or(has_unit_of_ends);
    let number = |value: Written<'_>| if is_one_unit { Some(value.number) } else { bytes(value) };
    let no_unit = "its numbers must have the same unit, or be sizes (k, m, g, t)";
    let (start, end) = number(first).zip(number(last)).ok_or(no_unit)?;
    let step = match (distance, step.and_then(|step| step.strip_prefix('*'))) {
        (Some(distance), _) => Step::Plus(number(distance).ok_or(no_unit)?),
        (None, Some(factor)) => Step::Times(factor.parse().map_err(|_| "* needs a whole number")?),
        (None, None) => Step::Times(2),
    };
    if start > end {
        return Err("the first number is above the last");
    }
    let text = |number: u64| if is_one_unit { format!("{number}{}", first.unit) } else { size_text(number) };
    Ok(numbers(start, end, step)?.into_iter().map(text).collect())
}

fn numbers(start: u64, end: u64, step: Step) -> Result<Vec<u64>, &'static str> {
    if matches!(step, Step::Times(0 | 1) | Step::Plus(0)) {
        return Err("the step does not lead on");
    }
    if start == 0 && end > 0 && matches!(step, Step::Times(_)) {
        return Err("0 does not grow when it is multiplied: begin with 1, or give a step (+N)");
    }
    let next = |value: &u64| {
        let next = match step {
            Step::Times(factor) => value.checked_mul(factor),
            Step::Plus(distance) => value.checked_add(distance),
        };
        next.filter(|next| *next <= end)
    };
    let mut numbers: Vec<u64> = std::iter::successors(Some(start), next).take(MOST_VALUES).collect();
    if numbers.last() != Some(&end) {
        numbers.push(end);
    }
    if numbers.len() > MOST_VALUES { Err("it has more than 10,000 values") } else { Ok(numbers) }
}

fn written(text: &str) -> Option<Written<'_>> {
    let n_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, unit) = text.split_at(n_digits);
    let is_unit = unit.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'%');
    is_unit.then_some(Written { number: digits.parse().ok()?, unit })
}

/// A size in bytes; `None`: it is none.
fn bytes(value: Written<'_>) -> Option<u64> {
    number_with_unit(value.number, value.unit)
}

/// A number with the letters behind it, as fio's sizes are written (multiples of 1,024); `None`: the letters are no unit of a size, or the
/// size is too large.
pub(super) fn number_with_unit(number: u64, unit: &str) -> Option<u64> {
    let lower = unit.to_ascii_lowercase();
    let letter = lower.strip_suffix("ib").or_else(|| lower.strip_suffix('b')).unwrap_or(&lower);
    let power = match letter.chars().next() {
        None => 0,
        Some(letter) => SIZE_UNITS.iter().position(|unit| *unit == letter)? as u32 + 1,
    };
    if letter.len() > 1 { None } else { number.checked_mul(1_u64.checked_shl(10 * power)?) }
}

/// A size in its largest whole unit.
fn size_text(bytes: u64) -> String {
    let units = (1_u32..).zip(SIZE_UNITS).take_while(|(power, _)| bytes > 0 && bytes.is_multiple_of(1 << (10 * power)));
    match units.last() {
        Some((power, unit)) => format!("{}{unit}", bytes >> (10 * power)),
        None => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Vec<String> {
        values(text).expect("a range").expect("a right one")
    }

    #[test]
    fn numbers_double_and_reach_the_end() {
        assert_eq!(of("1..8"), ["1", "2", "4", "8"]);
        assert_eq!(of("1..100"), ["1", "2", "4", "8", "16", "32", "64", "100"]);
        assert_eq!(of("7..7"), ["7"]);
    }

    #[test]
    fn steps_add_and_multiply() {
        assert_eq!(of("1..10+3"), ["1", "4", "7", "10"]);
        assert_eq!(of("0..10+4"), ["0", "4", "8", "10"]);
        assert_eq!(of("1..1000*10"), ["1", "10", "100", "1000"]);
    }

    #[test]
    fn units_stay_or_are_those_of_sizes() {
        assert_eq!(of("4k..16k"), ["4k", "8k", "16k"]);
        assert_eq!(of("512..2k"), ["512", "1k", "2k"]);
        assert_eq!(of("256k..1m+256k"), ["256k", "512k", "768k", "1m"]);
        assert_eq!(of("1m..2m+512k"), ["1m", "1536k", "2m"]);
        assert_eq!(of("10ms..40ms+10"), ["10ms", "20ms", "30ms", "40ms"]);
        assert_eq!(of("25%..100%"), ["25%", "50%", "100%"]);
    }

    #[test]
    fn no_range_and_no_end() {
        for text in ["../file", "a..b", "1../file", "randread", "1.5..3"] {
            assert_eq!(values(text), None, "{text}");
        }
        for text in [
            "8..1",
            "0..8",
            "1..8+0",
            "1..4..8",
            "1...8",
            "1....8",
            "1..4.5",
            "1..8*1",
            "1..99999+1",
            "1ms..1s",
            "1..8*2k",
            "4k..1m+1s",
            "1..8+",
            "1..",
            "4k..+4k",
        ] {
            assert!(values(text).is_some_and(|found| found.is_err()), "{text}");
        }
        assert_eq!(of("18446744073709551614..18446744073709551615"), ["18446744073709551614", "18446744073709551615"]);
    }
}
