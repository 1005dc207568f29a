//! The times of a report in JSON, and what they must be.
//!
//! Must not know: delays. Start reading at [`Report::check`].

use super::Tolerance;
use serde_json::Value;

/// The report of a run.
pub(super) struct Report(Value);

impl Report {
    /// Reads the document, before which fio may print lines.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let start = text.find('{').ok_or("no document")?;
        serde_json::from_str(&text[start..]).map(Self).map_err(|error| error.to_string())
    }

    /// Fails unless each job has these times.
    pub(super) fn check(&self, times: &str, tolerance: Tolerance) -> Result<(), String> {
        let jobs = self.0["jobs"].as_array().filter(|jobs| !jobs.is_empty()).ok_or("no jobs")?;
        for time in times.split_whitespace() {
            let (of_job, time) = time.split_once(':').map_or((None, time), |(job, time)| (Some(job), time));
            let is_meant = |job: &&Value| of_job.is_none_or(|name| job["jobname"] == name);
            if !jobs.iter().any(|job| is_meant(&job)) {
                return Err(format!("no job for {time}"));
            }
            for job in jobs.iter().filter(is_meant) {
                let (name, wanted) = time.split_once('=').ok_or("name=value")?;
                let wanted: f64 = wanted.parse().map_err(|_| format!("{wanted} is no number"))?;
                let (value, is_count) = figure(job, name).ok_or_else(|| format!("no {name}"))?;
                let is_right = if is_count { (value - wanted).abs() < 0.5 } else { is_near(value, wanted, tolerance) };
                if !is_right {
                    return Err(format!("{} has {name}={value}, not {wanted}: {}", job["jobname"], shown(job)));
                }
            }
        }
        jobs.iter().try_for_each(check_rates)
    }
}

/// True if a time is what it must be, on a machine with other work.
fn is_near(value: f64, wanted: f64, tolerance: Tolerance) -> bool {
    // fio rounds times of its report to milliseconds.
    let least = wanted.mul_add(1.0 - tolerance.share, -2.0);
    let most = wanted.mul_add(1.0 + tolerance.share, tolerance.slack_ms);
    (least..=most).contains(&value)
}

/// A figure by its name, and whether it is a number of I/Os: `job` (its runtime, ms), `write` (the runtime of writes, ms),
/// `write.n`, `write.lat.max`, `write.clat.mean`, `sync.n`, `sync.max` (ms).
fn figure(job: &Value, name: &str) -> Option<(f64, bool)> {
    let number = |value: &Value| value.as_f64();
    let ms = |value: &Value| value.as_f64().map(|ns| ns / 1e6);
    let words: Vec<&str> = name.split('.').collect();
    match words[..] {
        ["job"] => number(&job["job_runtime"]).map(|value| (value, false)),
        ["sync", "n"] => number(&job["sync"]["total_ios"]).map(|value| (value, true)),
        ["sync", figure] => ms(&job["sync"]["lat_ns"][figure]).map(|value| (value, false)),
        [direction] => number(&job[direction]["runtime"]).map(|value| (value, false)),
        [direction, "n"] => number(&job[direction]["total_ios"]).map(|value| (value, true)),
        [direction, kind, figure] => ms(&job[direction][format!("{kind}_ns")][figure]).map(|value| (value, false)),
        _ => None,
    }
}

/// The rates of a direction are those of its runtime.
fn check_rates(job: &Value) -> Result<(), String> {
    for direction in ["read", "write", "trim"] {
        let number = |name: &str| job[direction][name].as_f64().unwrap_or(0.0);
        let seconds = number("runtime") / 1e3;
        for (rate, total) in [("iops", "total_ios"), ("bw_bytes", "io_bytes")] {
            let (rate, total) = (number(rate) * seconds, number(total));
            if seconds > 0.0 && (rate - total).abs() > total.mul_add(0.01, 1.0 + seconds) {
                return Err(format!("the rate of {direction} gives {rate} {total}: {}", shown(job)));
            }
        }
    }
    Ok(())
}

/// The times of a job, for a failed assertion.
fn shown(job: &Value) -> String {
    let names =
        ["job", "read", "read.n", "read.lat.max", "write", "write.n", "write.lat.max", "trim", "sync.n", "sync.max"];
    let text = |name: &&str| figure(job, name).map(|(value, _)| format!("{name}={value}"));
    names.iter().filter_map(text).collect::<Vec<_>>().join(" ")
}
