//! Values with several parts: per direction, pairs, ranges, CPU lists, error lists, decimals.
//!
//! Must not know: which option a list belongs to.

use crate::error::JobError;
use crate::value::errno;
use ferrio_units::PerDirection;
use std::collections::BTreeSet;

/// Longest range of CPUs that is written out; the kernel knows fewer.
const MAX_CPUS: u32 = 1 << 16;

/// Splits at the first kind of separator that occurs: a comma, else a colon, else a minus that is not a sign.
pub fn split_values(text: &str) -> Vec<&str> {
    for separator in [',', ':'] {
        if text.contains(separator) {
            return text.split(separator).collect();
        }
    }
    match text.get(1..).and_then(|rest| rest.find('-')) {
        Some(position) => vec![&text[..=position], &text[position + 2..]],
        None => vec![text],
    }
}

/// One to three values: one counts for all; the second for write and trim; the third for trim. An empty part keeps
/// what was there. Parts beyond the third are ignored, as in the reference.
pub fn directions<T: Copy>(
    text: &str,
    mut parse: impl FnMut(&str) -> Result<T, JobError>,
) -> Result<PerDirection<Option<T>>, JobError> {
    let parts = split_values(text);
    let mut parsed = [None; 3];
    for (slot, part) in parsed.iter_mut().zip(&parts) {
        *slot = if part.is_empty() { None } else { Some(parse(part)?) };
    }
    Ok(PerDirection(match parts.len() {
        1 => [parsed[0]; 3],
        2 => [parsed[0], parsed[1], parsed[1]],
        _ => parsed,
    }))
}

/// One value for both bounds, or `low-high`, `low:high`, `low,high`.
pub fn pair(text: &str, mut parse: impl FnMut(&str) -> Result<i64, JobError>) -> Result<(i64, i64), JobError> {
    let parts = split_values(text);
    let low = parse(parts[0])?;
    let high = parts.get(1).filter(|part| !part.is_empty()).map_or(Ok(low), |part| parse(part))?;
    if low < 0 || high < 0 {
        return Err(JobError::NotParsed);
    }
    Ok((low.min(high), low.max(high)))
}

/// One to three ranges `a-b` or `a:b`, joined by commas; a reversed range is turned round.
pub fn ranges(
    text: &str,
    mut parse: impl FnMut(&str) -> Result<i64, JobError>,
) -> Result<PerDirection<Option<(u64, u64)>>, JobError> {
    let mut range = |part: &str| {
        let (first, second) = part.split_once(['-', ':']).ok_or(JobError::NotParsed)?;
        let (first, second) = (parse(first)? as u64, parse(second)? as u64);
        Ok((first.min(second), first.max(second)))
    };
    let parts: Vec<&str> = text.split(',').collect();
    let mut parsed = [None; 3];
    for (slot, part) in parsed.iter_mut().zip(&parts) {
        *slot = if part.is_empty() { None } else { Some(range(part)?) };
    }
    Ok(PerDirection(match parts.len() {
        1 => [parsed[0]; 3],
        2 => [parsed[0], parsed[1], parsed[1]],
        _ => parsed,
    }))
}

/// Splits at colons; a colon after a backslash stands for itself. Empty parts are left out.
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
            return Err(JobError::Said(format!("fio: CPU {} too large (max={max})", first.max(limit))));
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

/// Decimals joined by colons, with the digits after the point of the longest, and remarks about what was left out:
/// the reference goes on with the entries it understood.
pub fn floats(text: &str, max_len: usize, min: Option<f64>, max: Option<f64>) -> (Vec<f64>, u32, Vec<String>) {
    let (mut values, mut digits, mut remarks) = (Vec::new(), 0, Vec::new());
    for part in text.split(':') {
        if values.len() == max_len {
            remarks.push(format!("the list exceeding max length {max_len}"));
            break;
        }
        match part.trim().parse::<f64>().ok().filter(|value| value.is_finite()) {
            None => remarks.push(format!("not a floating point value: {part}")),
            Some(value) if max.is_some_and(|max| value > max) => {
                remarks.push(format!("value out of range: {value:.6} (range max: {:.6})", max.unwrap_or_default()));
            }
            Some(value) if min.is_some_and(|min| value < min) => {
                remarks.push(format!("value out of range: {value:.6} (range min: {:.6})", min.unwrap_or_default()));
            }
            Some(value) => {
                digits = digits.max(part.trim().split_once('.').map_or(0, |(_, decimals)| decimals.len() as u32));
                values.push(value);
            }
        }
    }
    (values, digits, remarks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Result<i64, JobError> {
        text.parse().map_err(|_| JobError::NotParsed)
    }

    #[test]
    fn separators_are_tried_in_order() {
        for (text, expected) in [
            ("1", vec!["1"]),
            ("1,2:3", vec!["1", "2:3"]),
            ("1:2-3", vec!["1", "2-3"]),
            ("1-2", vec!["1", "2"]),
            ("-1", vec!["-1"]),
            ("-1-2", vec!["-1", "2"]),
            ("", vec![""]),
        ] {
            assert_eq!(split_values(text), expected, "{text}");
        }
    }

    #[test]
    fn missing_directions_keep_or_repeat() {
        for (text, expected) in [
            ("4", [Some(4), Some(4), Some(4)]),
            ("4,8", [Some(4), Some(8), Some(8)]),
            ("4,8,16", [Some(4), Some(8), Some(16)]),
            ("4,", [Some(4), None, None]),
            (",8", [None, Some(8), Some(8)]),
            ("4,,16", [Some(4), None, Some(16)]),
            ("1,2,3,4", [Some(1), Some(2), Some(3)]),
        ] {
            assert_eq!(directions(text, plain).unwrap().0, expected, "{text}");
        }
    }

    #[test]
    fn ranges_are_turned_round() {
        assert_eq!(ranges("8-4,1:2", plain).unwrap().0, [Some((4, 8)), Some((1, 2)), Some((1, 2))]);
        assert_eq!(ranges("8", plain), Err(JobError::NotParsed));
        assert_eq!(ranges("1,2,3,4", plain), Err(JobError::NotParsed));
    }

    #[test]
    fn names_are_split_at_bare_colons() {
        assert_eq!(colon_names("a:b\\:c::d\\e"), ["a", "b:c", "d\\e"]);
        assert!(colon_names("").is_empty());
    }

    #[test]
    fn cpus_are_sets() {
        assert_eq!(cpus("2,0-1,1", 4).unwrap(), [0, 1, 2]);
        let too_large = JobError::Said("fio: CPU 4 too large (max=3)".to_owned());
        assert_eq!(cpus("4", 4), Err(too_large.clone()));
        assert_eq!(cpus("2-4294967295", 4), Err(too_large));
        for bad in ["", "foo", "1-", "3-1", ","] {
            assert_eq!(cpus(bad, 4), Err(JobError::NotParsed), "{bad}");
        }
    }

    #[test]
    fn float_lists_go_on_after_bad_entries() {
        let (values, digits, remarks) = floats("1:foo:99.95:101", 3, Some(0.0), Some(100.0));
        assert_eq!((values, digits), (vec![1.0, 99.95], 2));
        assert_eq!(
            remarks,
            ["not a floating point value: foo", "value out of range: 101.000000 (range max: 100.000000)"]
        );
        assert_eq!(floats("1:2:3", 2, None, None).2, ["the list exceeding max length 2"]);
    }
}
