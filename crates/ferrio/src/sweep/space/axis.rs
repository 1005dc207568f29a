//! One parameter of a sweep: an option, or several that change together, with the values that it takes.
//!
//! Must not know: option tables. Start reading at [`SweepAxis::parse`].

use super::{SpaceError, range};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An option that a sweep sets: on all jobs, or on those of one name.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SweptOption {
    /// Name of the jobs; `None`: all of them.
    pub job: Option<String>,
    /// Name of the option.
    pub name: String,
}

/// The parameter that is no option of a job: the number of hosts that make a run.
const HOSTS: &str = "hosts";

impl SweptOption {
    /// True for the number of hosts, which no job has as an option.
    pub fn is_number_of_hosts(&self) -> bool {
        self.job.is_none() && self.name == HOSTS
    }

    /// Parses `[JOB.]OPTION`; `None`: there is no name.
    pub fn parse(text: &str) -> Option<Self> {
        let (job, name) = text.rsplit_once('.').map_or((None, text), |(job, name)| (Some(job), name));
        let is_named = !name.is_empty() && job.is_none_or(|job| !job.is_empty());
        is_named.then(|| Self { job: job.map(str::to_owned), name: name.to_owned() })
    }
}

impl fmt::Display for SweptOption {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { job, name } = self;
        job.iter().try_for_each(|job| write!(formatter, "{job}."))?;
        formatter.write_str(name)
    }
}

/// A parameter of a sweep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweepAxis {
    /// The options, which change together; at least one.
    pub options: Vec<SweptOption>,
    /// The values, at least one, each with one part for each option.
    pub values: Vec<Vec<String>>,
}

impl SweepAxis {
    /// Parses `[JOB.]OPTION[:OPTION...]=VALUE,...`. A value may be a range ([`range`]); values of options that change together have a part
    /// for each of them, separated by colons. Where one semicolon stands in the list, semicolons separate the values, which may have commas then.
    ///
    /// # Errors
    /// It has no option, no value, a value twice, or a value with a wrong number of parts.
    pub fn parse(text: &str) -> Result<Self, SpaceError> {
        let (names, list) = text.split_once('=').ok_or_else(|| SpaceError::NoValues(text.to_owned()))?;
        let options: Option<Vec<SweptOption>> = names.split(':').map(|name| SweptOption::parse(name.trim())).collect();
        let options = options.ok_or_else(|| SpaceError::NoOption(text.to_owned()))?;
        if let Some(option) = first_twice(&options) {
            return Err(SpaceError::OptionTwice(option.to_string()));
        }
        let separator = if list.contains(';') { ';' } else { ',' };
        let mut values = Vec::new();
        for item in list.split(separator).map(str::trim) {
            values.extend(item_values(item, names, options.len())?);
        }
        if let Some(value) = first_twice(&values) {
            return Err(SpaceError::ValueTwice { names: names.to_owned(), value: value.join(":") });
        }
        Ok(Self { options, values })
    }

    /// Its options in one word, as they were written.
    pub fn name(&self) -> String {
        self.options.iter().map(ToString::to_string).collect::<Vec<_>>().join(":")
    }

    /// A value in one word, as it was written.
    pub fn value_text(&self, index: usize) -> String {
        self.values.get(index).map(|parts| parts.join(":")).unwrap_or_default()
    }
}

fn item_values(item: &str, names: &str, n_parts: usize) -> Result<Vec<Vec<String>>, SpaceError> {
    if item.is_empty() {
        return Err(SpaceError::NoValues(names.to_owned()));
    }
    if n_parts > 1 {
        let parts: Vec<String> = item.split(':').map(|part| part.trim().to_owned()).collect();
        if parts.len() == n_parts && parts.iter().all(|part| !part.is_empty()) {
            return Ok(vec![parts]);
        }
        return Err(SpaceError::Parts { names: names.to_owned(), value: item.to_owned(), n_parts });
    }
    match range::values(item) {
        Some(values) => Ok(values?.into_iter().map(|value| vec![value]).collect()),
        None => Ok(vec![vec![item.to_owned()]]),
    }
}

/// The first item that is there a second time.
fn first_twice<T: Eq + std::hash::Hash>(items: &[T]) -> Option<&T> {
    let mut known = std::collections::HashSet::new();
    items.iter().find(|item| !known.insert(*item))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> (String, Vec<String>) {
        let axis = SweepAxis::parse(text).expect("an axis");
        (axis.name(), (0..axis.values.len()).map(|index| axis.value_text(index)).collect())
    }

    fn list(values: &[&str]) -> Vec<String> {
        values.iter().map(|value| (*value).to_owned()).collect()
    }

    #[test]
    fn lists_ranges_and_pairs() {
        assert_eq!(of("bs=4k,64k,1m"), ("bs".to_owned(), list(&["4k", "64k", "1m"])));
        assert_eq!(of("iodepth=1..4, 100"), ("iodepth".to_owned(), list(&["1", "2", "4", "100"])));
        assert_eq!(of("bs=4k,8k;64k"), ("bs".to_owned(), list(&["4k,8k", "64k"])));
        assert_eq!(of("bs:iodepth=4k:32,1m:4"), ("bs:iodepth".to_owned(), list(&["4k:32", "1m:4"])));
        let axis = SweepAxis::parse("log.writer.bs=4k").expect("an axis");
        assert_eq!(axis.options, [SweptOption { job: Some("log.writer".to_owned()), name: "bs".to_owned() }]);
    }

    #[test]
    fn what_is_none_is_refused_with_the_reason() {
        for (text, words) in [
            ("bs", "has no values"),
            ("bs=", "has no values"),
            ("bs=4k,,8k", "has no values"),
            ("=4k", "has no option"),
            ("a.=4k", "has no option"),
            ("bs:=4k:1", "has no option"),
            ("bs=4k,4k", "4k twice"),
            ("iodepth=1..4,2", "2 twice"),
            ("bs:bs=4k:8k", "bs twice"),
            ("bs:iodepth=4k", "2 parts"),
            ("bs:iodepth=4k:1:2", "2 parts"),
            ("iodepth=8..1", "8..1"),
        ] {
            let error = SweepAxis::parse(text).expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
