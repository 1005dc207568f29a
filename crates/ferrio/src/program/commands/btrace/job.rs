//! The job file that imitates a trace: which option stands for which figure.
//!
//! Must not know: the format of traces. Start reading at [`imitation`].

use super::{ImitatedPace, Request};
use crate::ui::job_text::JobText;
use ferrio_units::humanize::{bytes_text, counted, duration_text, thousands};
use ferrio_units::{DataDirection, PerDirection};
use ferrio_workload::replay::{DirectionProfile, ProfiledTask, TraceProfile};
use std::collections::BTreeMap;

/// The file of jobs without a target, and its largest size.
const OWN_FILE: &str = "ferrio-btrace.data";
const OWN_FILE_BYTES: u64 = 1 << 30;

/// A job with fewer random I/Os, in percent, is a sequential one.
const MIN_RANDOM_PERCENT: u64 = 5;

/// A job that begins later than this after the first one has a delay.
const MIN_DELAY_NS: u64 = 100_000_000;

const NS_PER_SEC: f64 = 1e9;

const USED: [(DataDirection, &str); 3] =
    [(DataDirection::Read, "reads"), (DataDirection::Write, "writes"), (DataDirection::Trim, "trims")];

pub(super) fn imitation(request: &Request, profile: &TraceProfile) -> JobText {
    let mut job = JobText::default();
    let n_all: u64 = profile.tasks.iter().map(ProfiledTask::n_ios).sum();
    let is_kept = |task: &&ProfiledTask| task.n_ios() > 0 && percent(task.n_ios(), n_all) >= request.min_share;
    let mut tasks: Vec<&ProfiledTask> = profile.tasks.iter().filter(is_kept).collect();
    if tasks.is_empty() {
        // All have a small share: the largest stands for them.
        tasks.extend(profile.tasks.iter().max_by_key(|task| task.n_ios()));
    }
    head(&mut job, request, profile, &tasks, n_all);
    globals(&mut job, request);
    let start_ns = tasks.iter().map(|task| task.first_ns).min().unwrap_or(0);
    for task in tasks {
        let trims = only(task, |direction| direction == DataDirection::Trim);
        let data = only(task, |direction| direction != DataDirection::Trim);
        for (part, name) in [(data, ""), (trims, "-trim")] {
            if part.n_ios() > 0 {
                section(&mut job, request, profile, &part, &format!("{}{name}", name_of(task)), start_ns);
            }
        }
    }
    job
}

/// The task without some of its directions: a job trims, or reads and writes.
fn only(task: &ProfiledTask, is_wanted: impl Fn(DataDirection) -> bool) -> ProfiledTask {
    let mut part = task.clone();
    let of =
        |direction| if is_wanted(direction) { task.directions[direction].clone() } else { DirectionProfile::default() };
    part.directions = PerDirection(DataDirection::ALL.map(of));
    part
}

fn name_of(task: &ProfiledTask) -> String {
    if task.name.is_empty() { format!("pid{}", task.process_id) } else { format!("{}-{}", task.name, task.process_id) }
}

fn head(job: &mut JobText, request: &Request, profile: &TraceProfile, tasks: &[&ProfiledTask], n_all: u64) {
    let names: Vec<String> = request.traces.iter().map(|path| path.display().to_string()).collect();
    job.comment(&format!("Made by ferrio btrace of {}.", names.join(", ")));
    let devices: Vec<String> = profile.devices.iter().map(|(major, minor)| format!("{major}:{minor}")).collect();
    job.comment(&format!(
        "The trace has {} of the {} {}.",
        counted(n_all, "I/O", "I/Os"),
        if devices.len() == 1 { "device" } else { "devices" },
        devices.join(", ")
    ));
    let kept: u64 = tasks.iter().map(|task| task.n_ios()).sum();
    if kept < n_all {
        let left_out = profile.tasks.iter().filter(|task| task.n_ios() > 0).count() - tasks.len();
        job.comment(&format!(
            "Left out: {} with {} (--min-share).",
            counted(left_out as u64, "process", "processes"),
            counted(n_all - kept, "I/O", "I/Os")
        ));
    }
    if profile.n_completed == 0 {
        job.comment("The trace has no completions, so that the depth of the jobs is not known: 1 is assumed.");
    }
    for (n, what) in [
        (profile.n_impossible, "I/Os of no bytes or beyond any device were left out."),
        (profile.n_not_followed, "I/Os of further processes were left out."),
        (profile.n_cut as u64, "traces end within a record."),
    ] {
        if n > 0 {
            job.comment(&format!("{} {what}", thousands(n)));
        }
    }
    let writes = tasks
        .iter()
        .any(|task| task.directions[DataDirection::Write].n_ios + task.directions[DataDirection::Trim].n_ios > 0);
    if let Some(target) = request.target.as_ref().filter(|_| writes) {
        job.comment(&format!("CAUTION: these jobs overwrite {target}."));
    }
}

fn globals(job: &mut JobText, request: &Request) {
    job.section("global");
    job.comment("Traces are of devices, below the page cache.");
    job.option("direct", 1);
    if let Some(target) = &request.target {
        job.option("filename", target);
    } else {
        job.comment("A file of its own; --target takes another one.");
        job.option("filename", OWN_FILE);
    }
    for option in &request.add {
        job.flag(option);
    }
}

fn section(
    job: &mut JobText,
    request: &Request,
    profile: &TraceProfile,
    task: &ProfiledTask,
    name: &str,
    start_ns: u64,
) {
    job.section(name);
    for (direction, word) in USED {
        describe(job, &task.directions[direction], word);
    }
    order(job, task);
    sizes(job, task);
    let depth = if profile.n_completed == 0 { 1 } else { task.max_depth.clamp(1, request.max_depth) };
    job.option("ioengine", if depth > 1 { "libaio" } else { "psync" });
    job.option("iodepth", depth);
    area(job, request, task);
    let writes = &task.directions[DataDirection::Write];
    if task.n_flushes > 0 && writes.n_ios > 0 {
        job.comment(&format!("{} flushes", thousands(task.n_flushes)));
        job.option("fsync", writes.n_ios.div_ceil(task.n_flushes));
    }
    times(job, request, task, start_ns);
}

fn describe(job: &mut JobText, of: &DirectionProfile, word: &str) {
    if of.n_ios > 0 {
        job.comment(&format!(
            "{} {word} ({}), {:.1} % of them in sequence, {} merged",
            thousands(of.n_ios),
            bytes_text(of.bytes),
            percent(of.n_sequential, of.n_ios),
            thousands(of.n_merged)
        ));
    }
}

/// Directions, and which share is random.
fn order(job: &mut JobText, task: &ProfiledTask) {
    let [read, write, trim] = [DataDirection::Read, DataDirection::Write, DataDirection::Trim]
        .map(|direction| task.directions[direction].n_ios);
    let random = USED.map(|(direction, _)| {
        let of = &task.directions[direction];
        whole_percent(of.n_ios - of.n_sequential, of.n_ios)
    });
    let is_random = random.iter().any(|percent| *percent >= MIN_RANDOM_PERCENT);
    let kind = match (read > 0, write > 0, trim > 0) {
        (true, true, _) => "rw",
        (true, false, _) => "read",
        (false, true, _) => "write",
        (false, false, _) => "trim",
    };
    job.option("rw", format!("{}{kind}", if is_random { "rand" } else { "" }));
    if kind == "rw" {
        job.option("rwmixread", whole_percent(read, read + write));
    }
    if is_random && random.iter().any(|percent| (1..100).contains(percent)) {
        job.option("percentage_random", format!("{},{},{}", random[0], random[1], random[2]));
    }
}

/// Block sizes: one, or shares of several, for each direction that is used.
fn sizes(job: &mut JobText, task: &ProfiledTask) {
    let parts: Vec<String> = USED
        .iter()
        .map(|(direction, _)| &task.directions[*direction].lengths)
        .filter(|lengths| !lengths.is_empty())
        .map(split)
        .collect();
    if parts.iter().all(|part| part.split_once('/').is_some_and(|(_, percent)| percent == "100")) {
        let sizes: Vec<&str> = parts.iter().filter_map(|part| part.split('/').next()).collect();
        job.option("bs", sizes.join(","));
    } else {
        job.option("bssplit", parts.join(","));
    }
}

/// The shares of lengths, in whole percent that add up to 100: those with the largest rests are rounded up.
fn split(lengths: &BTreeMap<u64, u64>) -> String {
    let n_all: u64 = lengths.values().sum();
    let mut shares: Vec<(u64, u64, u64)> = lengths
        .iter()
        .map(|(bytes, n)| {
            let hundredfold = u128::from(*n) * 100;
            let whole = u128::from(n_all.max(1));
            // A share is at most 100, and a rest less than the number of I/Os.
            (*bytes, (hundredfold / whole) as u64, (hundredfold % whole) as u64)
        })
        .collect();
    let missing = 100_u64.saturating_sub(shares.iter().map(|(_, percent, _)| percent).sum());
    shares.sort_by_key(|(_, _, rest)| std::cmp::Reverse(*rest));
    shares.iter_mut().take(missing as usize).for_each(|(_, percent, _)| *percent += 1);
    shares.sort_unstable_by_key(|(bytes, ..)| *bytes);
    let kept = shares.iter().filter(|(_, percent, _)| *percent > 0);
    kept.map(|(bytes, percent, _)| format!("{bytes}/{percent}")).collect::<Vec<_>>().join(":")
}

/// The part of the target.
fn area(job: &mut JobText, request: &Request, task: &ProfiledTask) {
    let span_bytes = task.end_bytes - task.start_bytes;
    job.comment(&format!("from offset {} over {}", task.start_bytes, bytes_text(span_bytes)));
    if request.target.is_some() {
        job.option("offset", task.start_bytes);
        job.option("size", span_bytes);
        return;
    }
    let longest = task.directions.0.iter().filter_map(|of| of.lengths.last_key_value()).map(|(bytes, _)| *bytes);
    job.option("size", span_bytes.min(OWN_FILE_BYTES).max(longest.max().unwrap_or(0)));
}

/// When I/Os are issued, and for how long.
fn times(job: &mut JobText, request: &Request, task: &ProfiledTask, start_ns: u64) {
    let duration_ns = task.duration_ns();
    job.comment(&format!("in {}", duration_text(duration_ns as f64)));
    match request.pace {
        ImitatedPace::Rate if duration_ns > 0 => {
            let rates = USED.map(|(direction, _)| {
                let per_second = task.directions[direction].n_ios as f64 * NS_PER_SEC / duration_ns as f64;
                // Below an I/O a second no rate can be given.
                if per_second > 0.0 { format!("{:.0}", per_second.max(1.0)) } else { String::new() }
            });
            job.option("rate_iops", rates.join(","));
        }
        ImitatedPace::Thinktime if task.n_idle > 0 => {
            let mean_us = task.idle_ns / task.n_idle / 1000;
            let every = (task.n_ios() / (task.n_idle + 1)).max(1);
            job.comment(&format!("{} pauses", thousands(task.n_idle)));
            job.option("thinktime", mean_us);
            job.option("thinktime_blocks", every);
        }
        _ => {}
    }
    let delay_ns = task.first_ns.saturating_sub(start_ns);
    if delay_ns >= MIN_DELAY_NS {
        job.option("startdelay", format!("{}ms", delay_ns / 1_000_000));
    }
    job.option("runtime", duration_ns.div_ceil(NS_PER_SEC as u64).max(1));
    job.flag("time_based");
}

/// Percent; 0 of nothing.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

fn whole_percent(part: u64, whole: u64) -> u64 {
    percent(part, whole).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        let lengths = |of: &[(u64, u64)]| split(&of.iter().copied().collect());
        assert_eq!(lengths(&[(4096, 7)]), "4096/100");
        assert_eq!(lengths(&[(4096, 1), (8192, 1), (512, 1)]), "512/34:4096/33:8192/33");
        assert_eq!(lengths(&[(4096, 999), (8192, 1)]), "4096/100");
        assert_eq!(lengths(&[(4096, 603), (8192, 617)]), "4096/49:8192/51");
    }
}
