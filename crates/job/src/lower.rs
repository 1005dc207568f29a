//! From a finished draft to a [`JobSpec`]: values that depend on others, and what cannot go together.
//!
//! Must not know: option strings, other jobs (see [`crate::collector`]), files on disk.
//! Start reading at [`lower`].

use crate::draft::{Draft, Open};
use crate::options::{apply_pace, apply_replay, command_priority, sprandom, steady_state, verification, zone_mode};
use crate::spec::{DedupeMode, JobSpec, QueueSpec, RandomDistribution, SizeSpec};
use ferrio_units::PerDirection;

/// `bwavgtime` and `iopsavgtime` where they are not given and nothing is logged, milliseconds.
const DEFAULT_WINDOW_MS: u32 = 500;

/// What the command line asks of every job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Strictness {
    /// `--readonly`.
    pub readonly: bool,
    /// `--warnings-fatal`.
    pub warnings_fatal: bool,
}

/// A lowered job.
#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    /// The job.
    pub job: JobSpec,
    /// Lines for standard error.
    pub warnings: Vec<String>,
}

/// Why a job cannot be, and the warnings before it; lines for standard error.
pub type Refused = Vec<String>;

/// Decides what depends on several options, and checks them against each other.
pub fn lower(draft: Draft, strictness: Strictness) -> Result<Lowered, Refused> {
    let Draft { mut job, open } = draft;
    job.queue = lower_queue(open.iodepth.unwrap_or(job.queue.iodepth), &open);
    lower_pattern(&mut job, &open);
    zone_mode::lower(&mut job, &open.zones).map_err(|line| vec![line])?;
    job.pattern.sprandom = sprandom::lower(&job, &open.sprandom).map_err(|line| vec![line])?;
    job.engine.command_priority =
        command_priority::lower(&open.command_priority, &job.name).map_err(|line| vec![line])?;
    lower_amounts(&mut job);
    job.pace.catch_up = apply_pace::catch_up(&job.pace, open.catch_up);
    lower_logs(&mut job, &open)?;
    lower_dedupe(&mut job, &open)?;
    job.verify = verification::lower(&job, &open).map_err(|line| vec![line])?;
    verification::lower_buffers(&mut job);
    if strictness.readonly && job.changes_files() {
        return Err(vec!["fio: trim and write operations are not allowed with the --readonly parameter.".to_owned()]);
    }
    let mut lines = warnings(&mut job);
    lines.extend(apply_replay::lower(&mut job, &open).map_err(|line| vec![line])?);
    if strictness.warnings_fatal && !lines.is_empty() {
        return Err(lines);
    }
    if let Some(line) = too_small(&job).or_else(|| steady_state::refusal(&job)) {
        lines.push(line);
        return Err(lines);
    }
    let impossible = apply_pace::refusals(&job);
    if !impossible.is_empty() {
        lines.extend(impossible);
        return Err(lines);
    }
    Ok(Lowered { job, warnings: lines })
}

/// 0 or more than `iodepth` means `iodepth`; the maximum of a reap is at least its minimum.
fn lower_queue(iodepth: u32, open: &Open) -> QueueSpec {
    let up_to_depth = |value: Option<u32>, default| match value.unwrap_or(default) {
        0 => iodepth,
        value => value.min(iodepth),
    };
    let batch_complete_min = open.batch_complete_min.unwrap_or(1).min(iodepth);
    QueueSpec {
        iodepth,
        batch_submit: up_to_depth(open.batch_submit, 1),
        batch_complete_min,
        batch_complete_max: open.batch_complete_max.unwrap_or(0).max(batch_complete_min),
        low: up_to_depth(open.low, 0),
    }
}

fn lower_pattern(job: &mut JobSpec, open: &Open) {
    for (direction, range) in open.block_range.iter() {
        if let Some(range) = range {
            job.pattern.block_size[direction] = *range;
        }
    }
    if let RandomDistribution::Sequence { stride, .. } = &mut job.pattern.distribution {
        *stride = open.random_sequence_stride;
    }
    job.pattern.rw_postfix = open.rw_postfix.unwrap_or(i64::from(job.pattern.random));
}

fn lower_amounts(job: &mut JobSpec) {
    let extent = &mut job.extent;
    extent.size = extent.size.filter(|size| *size != SizeSpec::Bytes(0));
    extent.io_size = extent.io_size.filter(|size| !matches!(size, SizeSpec::Bytes(0) | SizeSpec::Percent(0)));
    job.durability.direct |= job.durability.atomic;
    job.limits.loops = job.limits.loops.max(1);
    if job.target.openfiles > job.target.nrfiles {
        job.target.openfiles = 0;
    }
    if job.layout.pre_read {
        job.layout.invalidate = false;
    }
}

/// Share of a job's size that the fixed set of repeated buffers has, where it is not given.
const DEFAULT_SET_PERCENT: u32 = 5;

/// Texts as observed on fio 3.33.
fn lower_dedupe(job: &mut JobSpec, open: &Open) -> Result<(), Refused> {
    let set_percent = open.dedupe_working_set_percent.unwrap_or(DEFAULT_SET_PERCENT);
    let dedupe_percent = open.dedupe_percent.unwrap_or(0);
    if dedupe_percent > 0 && open.dedupe_working_set {
        let n_files = (job.target.nrfiles as usize).max(job.target.filenames.len());
        let problem = if job.extent.size.is_none() {
            "pregenerated dedupe working set requires size to be set".to_owned()
        } else if n_files > 1 {
            format!("dedupe working set mode supported with single file per job, but {n_files} files provided")
        } else if dedupe_percent + set_percent > 100 {
            format!(
                "impossible to reach expected dedupe percentage {dedupe_percent} since {set_percent} percentage of size \
                 is reserved to dedupe working set (those are unique pages)"
            )
        } else {
            String::new()
        };
        if !problem.is_empty() {
            return Err(vec![format!("fio: {problem}")]);
        }
    }
    if job.buffers.dedupe_global && dedupe_percent > 0 {
        let has_bytes = matches!(job.extent.size, Some(SizeSpec::Bytes(_)));
        if !open.dedupe_working_set || !has_bytes {
            return Err(vec!["fio: dedupe_global needs dedupe_mode=working_set and size in bytes".to_owned()]);
        }
    }
    let mode =
        if open.dedupe_working_set { DedupeMode::WorkingSet { percent: set_percent } } else { DedupeMode::Repeat };
    job.buffers.dedupe = (dedupe_percent > 0).then_some((dedupe_percent, mode));
    // Who asks that nothing is repeated gets new data with each write, as in fio.
    job.buffers.refill |= open.dedupe_percent == Some(0);
    Ok(())
}

/// Logs without a name have that of the job. Bandwidth and I/O rate are sampled once a row where they are logged.
fn lower_logs(job: &mut JobSpec, open: &Open) -> Result<(), Refused> {
    let logs = &mut job.logs;
    if logs.issue_time && !(logs.latency.is_some() && logs.offset) {
        return Err(vec!["fio: log_issue_time option requires write_lat_log and log_offset options".to_owned()]);
    }
    for prefix in [&mut logs.bw, &mut logs.iops, &mut logs.latency, &mut logs.histogram].into_iter().flatten() {
        if prefix.as_os_str().is_empty() {
            *prefix = job.name.clone().into();
        }
    }
    let window_ms = |given: Option<u32>, is_logged: bool| match (given, logs.window_ms) {
        (given, 0) => given.unwrap_or(DEFAULT_WINDOW_MS),
        (given, _) if !is_logged => given.unwrap_or(DEFAULT_WINDOW_MS),
        (Some(given), row_ms) => given.min(row_ms),
        (None, row_ms) => row_ms,
    };
    job.reporting.bw_window_ms = window_ms(open.bw_window_ms, logs.bw.is_some()).into();
    job.reporting.iops_window_ms = window_ms(open.iops_window_ms, logs.iops.is_some()).into();
    Ok(())
}

/// Smallest block of each direction, bytes.
fn smallest(job: &JobSpec) -> PerDirection<u64> {
    PerDirection(job.pattern.block_size.0.map(|range| range.min_bytes))
}

/// Combinations that are put right with a warning.
fn warnings(job: &mut JobSpec) -> Vec<String> {
    let mut lines = Vec::new();
    if job.limits.time_based && job.limits.runtime_us == 0 {
        job.limits.time_based = false;
        lines.push("fio: time_based requires a runtime/timeout setting".to_owned());
    }
    let aligned = smallest(job);
    let unaligned =
        job.pattern.block_align.iter().any(|(direction, align)| align.is_some_and(|align| align != aligned[direction]));
    if unaligned && job.pattern.random && !job.pattern.norandommap {
        job.pattern.norandommap = true;
        lines.push("fio: Any use of blockalign= turns off randommap".to_owned());
    }
    if job.pattern.bs_unaligned && job.durability.direct {
        lines.push("fio: bs_unaligned may not work with raw io".to_owned());
    }
    lines
}

fn too_small(job: &JobSpec) -> Option<String> {
    let SizeSpec::Bytes(size) = job.extent.size? else { return None };
    let block = smallest(job).0.into_iter().min()?;
    (size < block).then(|| format!("fio: size too small, must not be less than minimum block size: {size} < {block}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::draft_of;

    fn draft(options: &[(&str, &str)]) -> Draft {
        draft_of(options).unwrap()
    }

    fn lowered(options: &[(&str, &str)]) -> Lowered {
        lower(draft(options), Strictness::default()).unwrap()
    }

    #[test]
    fn batches_follow_the_depth() {
        let queue = |options: &[(&str, &str)]| {
            let queue = lowered(options).job.queue;
            (queue.batch_submit, queue.batch_complete_min, queue.batch_complete_max, queue.low)
        };
        assert_eq!(queue(&[]), (1, 1, 1, 1));
        assert_eq!(queue(&[("iodepth", "16")]), (1, 1, 1, 16));
        assert_eq!(queue(&[("iodepth", "16"), ("iodepth_batch", "0"), ("iodepth_low", "4")]), (16, 1, 1, 4));
        assert_eq!(queue(&[("iodepth", "16"), ("iodepth_batch", "99"), ("iodepth_low", "99")]), (16, 1, 1, 16));
        let polling = [("iodepth_batch_complete_min", "0"), ("iodepth_batch_complete_max", "0")];
        assert_eq!(queue(&polling), (1, 0, 0, 1));
        let reap = [("iodepth", "8"), ("iodepth_batch_complete_min", "4"), ("iodepth_batch_complete_max", "2")];
        assert_eq!(queue(&reap), (1, 4, 4, 8));
    }

    #[test]
    fn postfix_has_the_default_of_its_kind() {
        for (rw, expected) in [("read", 0), ("randread", 1), ("read:8k", 8192), ("randread:4", 4), ("write:-8k", -8192)]
        {
            assert_eq!(lowered(&[("rw", rw)]).job.pattern.rw_postfix, expected, "{rw}");
        }
    }

    // The block sizes that fio 3.33 prints at the start of such jobs.
    #[test]
    fn a_range_counts_before_and_after_a_size() {
        for options in [[("bsrange", ",1k-2k"), ("bs", "16k")], [("bs", "16k"), ("bsrange", ",1k-2k")]] {
            let sizes = lowered(&options).job.pattern.block_size.0.map(|range| (range.min_bytes, range.max_bytes));
            assert_eq!(sizes, [(16384, 16384), (1024, 2048), (1024, 2048)]);
        }
    }

    // fio 3.33 opens the file of such a job with O_DIRECT.
    #[test]
    fn atomic_writes_are_direct() {
        assert!(lowered(&[("atomic", "1"), ("rw", "write")]).job.durability.direct);
    }

    // Texts and conditions as observed on fio 3.33.
    #[test]
    fn warnings_are_those_of_the_reference() {
        let time_based = lowered(&[("time_based", "1")]);
        assert_eq!(time_based.warnings, ["fio: time_based requires a runtime/timeout setting"]);
        assert!(!time_based.job.limits.time_based);
        let aligned = lowered(&[("ba", "8k"), ("rw", "randread")]);
        assert_eq!(aligned.warnings, ["fio: Any use of blockalign= turns off randommap"]);
        assert!(aligned.job.pattern.norandommap);
        for silent in [
            &[("ba", "8k")][..],
            &[("ba", "4k"), ("rw", "randread")],
            &[("ba", "8k"), ("rw", "randread"), ("norandommap", "1")],
            &[("bs_unaligned", "1")],
        ] {
            assert!(lowered(silent).warnings.is_empty(), "{silent:?}");
        }
        let raw = lowered(&[("bs_unaligned", "1"), ("direct", "1")]);
        assert_eq!(raw.warnings, ["fio: bs_unaligned may not work with raw io"]);
    }

    // Rows as observed on fio 3.33; the error is that of the reference, section "Row".
    #[test]
    fn logs_have_names_and_windows() {
        let job = lowered(&[("name", "j"), ("write_bw_log", ""), ("log_avg_msec", "300")]).job;
        assert_eq!(job.logs.bw.as_deref(), Some(std::path::Path::new("j")));
        let windows = |options: &[(&str, &str)]| {
            let reporting = lowered(options).job.reporting;
            (reporting.bw_window_ms, reporting.iops_window_ms)
        };
        assert_eq!(windows(&[("log_avg_msec", "300")]), (500, 500));
        assert_eq!(windows(&[("log_avg_msec", "300"), ("write_bw_log", "x")]), (300, 500));
        let short = [("log_avg_msec", "300"), ("write_iops_log", "x"), ("iopsavgtime", "100")];
        assert_eq!(windows(&short), (500, 100));
        let long = [("log_avg_msec", "300"), ("write_bw_log", "x"), ("bwavgtime", "1000")];
        assert_eq!(windows(&long), (300, 500));
        assert_eq!(windows(&[("write_bw_log", "x"), ("bwavgtime", "1000")]), (1000, 500));
        for options in [&[("log_issue_time", "1")][..], &[("log_issue_time", "1"), ("write_lat_log", "x")]] {
            let line = "fio: log_issue_time option requires write_lat_log and log_offset options";
            assert_eq!(lower(draft(options), Strictness::default()).unwrap_err(), [line]);
        }
    }

    #[test]
    fn warnings_may_be_fatal() {
        let strict = Strictness { warnings_fatal: true, ..Strictness::default() };
        let refused = lower(draft(&[("time_based", "1")]), strict).unwrap_err();
        assert_eq!(refused, ["fio: time_based requires a runtime/timeout setting"]);
        assert!(lower(draft(&[]), strict).is_ok());
    }

    #[test]
    fn readonly_refuses_writers() {
        let strict = Strictness { readonly: true, ..Strictness::default() };
        assert!(lower(draft(&[("rw", "randread")]), strict).is_ok());
        for rw in ["write", "trim", "rw", "randtrimwrite"] {
            let line = "fio: trim and write operations are not allowed with the --readonly parameter.";
            assert_eq!(lower(draft(&[("rw", rw)]), strict).unwrap_err(), [line]);
        }
    }

    // Conditions as observed on fio 3.33: the smallest block of any direction counts.
    #[test]
    fn a_size_holds_at_least_one_block() {
        let small = lower(draft(&[("size", "4k"), ("bs", "8k")]), Strictness::default()).unwrap_err();
        assert_eq!(small, ["fio: size too small, must not be less than minimum block size: 4096 < 8192"]);
        for (size, bs) in [("4k", "8k,4k"), ("4k", "4k,8k"), ("0", "8k"), ("50%", "8k")] {
            assert!(lower(draft(&[("size", size), ("bs", bs)]), Strictness::default()).is_ok(), "{size} {bs}");
        }
    }
}
