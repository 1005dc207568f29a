//! The report of a run, for the time that its jobs took.
//!
//! Must not know: cases. Start reading at [`Report::runtime_ns`].

use anyhow::{Context, Result};
use std::fs;
use std::path::PathBuf;

/// A file for a document of fio or ferrio, removed when it is dropped.
pub(super) struct Report(PathBuf);

impl Report {
    /// A name for the file; only one report is made at a time.
    pub(super) fn new() -> Self {
        Self(std::env::temp_dir().join(format!("ferrio-bench-{}.json", std::process::id())))
    }

    pub(super) fn options(&self) -> [String; 2] {
        ["--output-format=json".to_owned(), format!("--output={}", self.0.display())]
    }

    /// The time of the job that took longest, nanoseconds.
    ///
    /// # Errors
    /// The file is no document with such a job.
    pub(super) fn runtime_ns(&self) -> Result<f64> {
        let text = fs::read_to_string(&self.0).with_context(|| format!("cannot read {}", self.0.display()))?;
        runtime_ns(&text).with_context(|| format!("no time of a job in {text}"))
    }
}

impl Drop for Report {
    fn drop(&mut self) {
        // It is not there if the program has failed.
        let _ = fs::remove_file(&self.0);
    }
}

fn runtime_ns(document: &str) -> Option<f64> {
    let document: serde_json::Value = serde_json::from_str(document).ok()?;
    let times = document["jobs"].as_array()?.iter().filter_map(|job| job["job_runtime"].as_f64());
    times.reduce(f64::max).filter(|time_ms| *time_ms > 0.0).map(|time_ms| time_ms * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_job_counts() {
        let of = |text| runtime_ns(text).map(|time_ns| time_ns as u64);
        assert_eq!(of(r#"{"jobs": [{"job_runtime": 12}, {"job_runtime": 30}]}"#), Some(30_000_000));
        for text in ["", "{}", r#"{"jobs": []}"#, r#"{"jobs": [{"job_runtime": 0}]}"#] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
