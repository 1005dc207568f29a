//! Jobs of several results with names that tell them apart.
//!
//! Must not know: kinds of pictures. Start reading at [`entries`].

use ferrio_formats::{JobResult, RunResult};
use std::collections::HashMap;

/// A job with its name in a picture.
pub(super) struct Entry<'a> {
    pub(super) result: &'a RunResult,
    pub(super) job: &'a JobResult,
    /// Its name; empty: it is the only job.
    pub(super) name: String,
}

impl Entry<'_> {
    /// The name with further words.
    pub(super) fn with(&self, words: &str) -> String {
        match (self.name.as_str(), words) {
            ("", words) => words.to_owned(),
            (name, "") => name.to_owned(),
            (name, words) => format!("{name}: {words}"),
        }
    }
}

/// The name of a result: that of its file without the ending.
pub(super) fn result_name(result: &RunResult) -> &str {
    result.name.strip_suffix(".json").unwrap_or(&result.name)
}

/// All jobs. A name has the parts in which the jobs differ: the result, the job, and the number of a clone.
pub(super) fn entries(results: &[RunResult]) -> Vec<Entry<'_>> {
    let all = || results.iter().flat_map(|result| &result.jobs);
    let has_one_job_name = all().all(|job| all().next().is_some_and(|first| first.name == job.name));
    let is_alone = all().nth(1).is_none();
    let mut entries = Vec::new();
    for result in results {
        let mut n_of_name: HashMap<&str, usize> = HashMap::new();
        result.jobs.iter().for_each(|job| *n_of_name.entry(job.name.as_str()).or_default() += 1);
        let mut number: HashMap<&str, usize> = HashMap::new();
        for job in &result.jobs {
            let mut parts: Vec<String> = Vec::new();
            if results.len() > 1 {
                parts.push(result_name(result).to_owned());
            }
            if !has_one_job_name || (results.len() == 1 && !is_alone) {
                parts.push(job.name.clone());
            }
            let clone = number.entry(job.name.as_str()).or_default();
            *clone += 1;
            if n_of_name.get(job.name.as_str()).is_some_and(|n| *n > 1) {
                parts.push(format!("#{clone}"));
            }
            entries.push(Entry { result, job, name: parts.join(" ") });
        }
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(name: &str, jobs: &[&str]) -> RunResult {
        let job = |name: &&str| JobResult { name: (*name).to_owned(), ..JobResult::default() };
        RunResult { name: name.to_owned(), jobs: jobs.iter().map(job).collect(), ..RunResult::default() }
    }

    fn names(results: &[RunResult]) -> Vec<String> {
        entries(results).into_iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn names_have_the_parts_that_differ() {
        assert_eq!(names(&[result("a.json", &["j"])]), [""]);
        assert_eq!(names(&[result("a.json", &["j", "k"])]), ["j", "k"]);
        assert_eq!(names(&[result("a.json", &["j", "j"])]), ["j #1", "j #2"]);
        assert_eq!(names(&[result("a.json", &["j"]), result("b.json", &["j"])]), ["a", "b"]);
        assert_eq!(names(&[result("a.json", &["j", "k"]), result("b", &["j"])]), ["a j", "a k", "b j"]);
    }
}
