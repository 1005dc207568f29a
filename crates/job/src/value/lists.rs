//! Values with several parts: per direction, pairs, ranges, CPU lists, error lists, decimals.
//!
//! Must not know: which option a list belongs to.

use crate::error::JobError;
use crate::refused_value::RefusedValue;
use crate::value::errno;
use ferrio_units::value::{
    parse_float, parse_size_range, split_pair, split_per_direction, split_per_direction_by_comma,
};
use ferrio_units::{KbBase, ParseError, PerDirection};
use std::collections::BTreeSet;

/// Longest range of CPUs that is written out; the kernel knows fewer.
const MAX_CPUS: u32 = 1 << 16;

/// One to three values; an empty part keeps the previous setting.
pub fn directions<T>(
    text: &str,
    mut parse: impl FnMut(&str) -> Result<T, JobError>,
) -> Result<PerDirection<Option<T>>, JobError> {
    let [read, write, trim] = split_per_direction(text)?.0.map(|part| part.map(&mut parse).transpose());
    Ok(PerDirection([read?, write?, trim?]))
}

/// One value for both bounds, or two; reversed bounds are swapped.
pub fn pair(text: &str, mut parse: impl FnMut(&str) -> Result<i64, JobError>) -> Result<(u64, u64), JobError> {
    let (low, high) = split_pair(text)?;
    let low = parse(low)?;
    let high = high.map_or(Ok(low), parse)?;
    let unsigned = |value: i64| u64::try_from(value).map_err(|_| JobError::NotParsed);
    Ok((unsigned(low.min(high))?, unsigned(low.max(high))?))
}

/// One to three ranges of bytes; a range that begins below `min` is refused.
pub fn ranges(
    name: &'static str,
    text: &str,
    kb_base: KbBase,
    min: u64,
) -> Result<PerDirection<Option<(u64, u64)>>, JobError> {
    let range = |part: &str| {
        let (low, high) = parse_size_range(part, kb_base)?.into_inner();
        if low < min {
            return Err(JobError::BelowMinimum { name, value: low.into(), min: min as i64 });
        }
        Ok((low, high))
    };
    let [read, write, trim] = split_per_direction_by_comma(text)?.0.map(|part| part.map(range).transpose());
    Ok(PerDirection([read?, write?, trim?]))
}

/// Splits at colons; `\:` is a literal colon. Empty parts are left out.
pub fn colon_names(text: &str) -> Vec<String> {
    let (mut names, mut name) = (Vec::new(), String::new());
    let mut symbols = text.chars().peekable();
    while let Some(symbol) = symbols.next() {
        match symbol {
            '\\' if symbols.peek() == Some(&':') => name.extend(symbols.next()),
            ':' => names.push(std::mem::take(&mut name)),
            _ => name.push(symbol),
        }
    }
    names.push(name);
    names.retain(|name| !name.is_empty());
    names
}

/// CPU numbers and ranges joined by commas, each below `n_cpus`.
pub fn cpus(text: &str, n_cpus: u32) -> Result<Vec<u32>, JobError> {
    let mut set = BTreeSet::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let parse = |text: &str| text.trim().parse::<u32>().map_err(|_| JobError::NotParsed);
        let (first, last) = (parse(first)?, parse(last)?);
        if first > last {
            return Err(JobError::NotParsed);
        }
        let limit = n_cpus.min(MAX_CPUS);
        if last >= limit {
            let max = limit.saturating_sub(1);
            return Err(RefusedValue::CpuTooLarge { cpu: first.max(limit), max }.into());
        }
        set.extend(first..=last);
    }
    if set.is_empty() { Err(JobError::NotParsed) } else { Ok(set.into_iter().collect()) }
}

/// Error names or numbers joined by colons, for read, write, verify, joined by commas.
pub fn errors(text: &str) -> Result<[Option<Vec<i32>>; 3], JobError> {
    let mut lists = [None, None, None];
    let parts: Vec<&str> = text.split(',').collect();
    if parts.len() > lists.len() {
        return Err(JobError::NotParsed);
    }
    for (list, part) in lists.iter_mut().zip(parts) {
        let numbers: Result<Vec<i32>, JobError> =
            part.split(':').filter(|name| !name.is_empty()).map(errno::parse).collect();
        *list = Some(numbers?).filter(|numbers| !numbers.is_empty());
    }
    Ok(lists)
}

/// Decimals, digits after a point, remarks.
pub type Floats = (Vec<f64>, u32, Vec<String>);

/// Decimals joined by colons. Returns the decimals, the largest number of digits after a point, and remarks about
/// skipped entries: fio continues with the entries that it understood.
///
/// # Errors
/// Anything behind a number, which fio leaves out.
pub fn floats(text: &str, max_len: usize, min: Option<f64>, max: Option<f64>) -> Result<Floats, JobError> {
    let (mut values, mut digits, mut remarks) = (Vec::new(), 0, Vec::new());
    let mut rest = Some(text);
    for n_before in 0.. {
        let Some(text) = rest else { break };
        if n_before == max_len {
            remarks.push(format!("the list exceeding max length {max_len}"));
            break;
        }
        let part = text.split(':').next().unwrap_or_default();
        rest = text.split_once(':').map(|(_, after)| after);
        let value = match parse_float(part, &(f64::MIN..=f64::MAX)) {
            Ok(value) => value,
            Err(ParseError::FloatOutOfRange { .. }) if part.contains('-') => f64::NEG_INFINITY,
            Err(ParseError::FloatOutOfRange { .. }) => f64::INFINITY,
            Err(error @ ParseError::LeftOver { .. }) => return Err(error.into()),
            Err(_) => f64::NAN,
        };
        if let Some(max) = max.filter(|max| value > *max) {
            remarks.push(format!("value out of range: {value:.6} (range max: {max:.6})"));
        } else if let Some(min) = min.filter(|min| value < *min) {
            remarks.push(format!("value out of range: {value:.6} (range min: {min:.6})"));
        } else if value.is_finite() {
            digits = digits.max(
                part.split_once('.')
                    .map_or(0, |(_, decimals)| decimals.bytes().take_while(u8::is_ascii_digit).count() as u32),
            );
            values.push(value);
        } else {
            remarks.push(format!("not a floating point value: {text}"));
        }
    }
    Ok((values, digits, remarks))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Result<i64, JobError> {
        text.parse().map_err(|_| JobError::NotParsed)
    }

    #[test]
    fn missing_directions_keep_or_repeat() {
        for (text, expected) in [
            ("4", [Some(4), Some(4), Some(4)]),
            ("4,8", [Some(4), Some(8), Some(8)]),
            ("4,", [Some(4), None, None]),
            (",8", [None, Some(8), Some(8)]),
            ("4,,16", [Some(4), None, Some(16)]),
        ] {
            assert_eq!(directions(text, plain).unwrap().0, expected, "{text}");
        }
        assert!(directions("4,x", plain).is_err());
    }

    #[test]
    fn pairs_are_put_in_order() {
        assert_eq!(pair("5", plain), Ok((5, 5)));
        assert_eq!(pair("9-5", plain), Ok((5, 9)));
        assert!(pair("-5", plain).is_err());
    }

    #[test]
    fn ranges_begin_at_the_minimum() {
        let ranges = |text| ranges("bsrange", text, KbBase::Binary, 1);
        assert_eq!(ranges("8-4,1:2").unwrap().0, [Some((4, 8)), Some((1, 2)), Some((1, 2))]);
        for bad in ["8", "1,2,3,4", "0-8"] {
            assert!(ranges(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_are_split_at_bare_colons() {
        assert_eq!(colon_names("a:b\\:c::d\\e"), ["a", "b:c", "d\\e"]);
        assert!(colon_names("").is_empty());
    }

    #[test]
    fn cpus_are_sets() {
        assert_eq!(cpus("2,0-1,1", 4).unwrap(), [0, 1, 2]);
        let too_large = JobError::Refused(RefusedValue::CpuTooLarge { cpu: 4, max: 3 });
        assert_eq!(cpus("4", 4), Err(too_large.clone()));
        assert_eq!(cpus("2-4294967295", 4), Err(too_large));
        for bad in ["", "foo", "1-", "3-1", ","] {
            assert_eq!(cpus(bad, 4), Err(JobError::NotParsed), "{bad}");
        }
    }

    #[test]
    fn float_lists_go_on_after_bad_entries() {
        let floats = |text, max_len, min, max| floats(text, max_len, min, max).expect("numbers");
        let (values, digits, remarks) = floats("1:foo:99.95:101", 4, Some(0.0), Some(100.0));
        assert_eq!((values, digits), (vec![1.0, 99.95], 2));
        assert_eq!(
            remarks,
            ["not a floating point value: foo:99.95:101", "value out of range: 101.000000 (range max: 100.000000)"]
        );
        assert_eq!(floats("1:2:3", 2, None, None).2, ["the list exceeding max length 2"]);
        assert_eq!(floats("inf", 2, None, Some(9.0)).2, ["value out of range: inf (range max: 9.000000)"]);
        assert_eq!(floats("-inf", 2, Some(0.0), None).2, ["value out of range: -inf (range min: 0.000000)"]);
        assert_eq!(floats("0x9:nan:inf", 9, None, None).0, [9.0]);
        assert_eq!(floats(":4", 1, None, None).1, 0, "an empty part takes a place");
    }
    #[test]
    fn what_is_behind_a_float_is_refused() {
        for text in ["99.9x", "1:50%:99", "0x9z"] {
            assert!(floats(text, 9, None, None).is_err(), "{text}");
        }
    }
}
