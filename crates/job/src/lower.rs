//! From a finished draft to a [`JobSpec`]: computes values that depend on several options, and refuses contradictory
//! options.
//!
//! Must not know: option strings, other jobs (see [`crate::collector`]), files on disk.
//! Start reading at [`lower`].

use crate::compat;
use crate::contradiction::Contradiction;
use crate::message::UserLine;
use crate::options::draft::{Draft, Open};
use crate::options::{
    apply_pace, apply_replay, command_priority, distribution, patterns, placement, shared_stream, sprandom,
    steady_state, verification, whole_files, zone_mode,
};
use ferrio_spec::{DedupeMode, DirectionMix, JobSpec, QueueSpec, SizeSpec, ZoneSpec, engines};

/// `bwavgtime` and `iopsavgtime` where they are not given and nothing is logged, milliseconds.
const DEFAULT_WINDOW_MS: u32 = 500;

/// What to do about `time_based` without a time.
const RUNTIME_CURE: &str = "give the seconds that the job shall take, such as runtime=30";

/// How strict the command line wants the checks of every job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Strictness {
    pub readonly: bool,
    /// `--safe`.
    pub is_safe: bool,
    pub warnings_fatal: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Lowered {
    pub job: JobSpec,
    /// Lines for standard error.
    pub warnings: Vec<UserLine>,
    /// Those of `warnings` that are repeated for each clone.
    pub clone_warnings: Vec<UserLine>,
    /// Lines for standard output, which come again for each clone.
    pub notes: Vec<UserLine>,
}

/// Lines for standard error: the warnings, and then the reason why the job is refused.
pub type Refused = Vec<UserLine>;

/// The refusal of a job with these options.
fn refused(contradiction: &Contradiction) -> Refused {
    vec![contradiction.line()]
}

/// Computes values that depend on several options, and checks the options against each other.
pub fn lower(draft: Draft, strictness: Strictness) -> Result<Lowered, Refused> {
    let Draft { mut job, open } = draft;
    job.queue = lower_queue(job.queue.iodepth, open.queue);
    lower_pattern(&mut job, &open);
    patterns::lower(&mut job, &open).map_err(|contradiction| refused(&contradiction))?;
    distribution::lower(&mut job.pattern, open.distribution).map_err(|contradiction| refused(&contradiction))?;
    zone_mode::lower(&mut job, &open.zones, open.verify.regenerates)
        .map_err(|contradiction| refused(&contradiction))?;
    check_ranges(&mut job).map_err(|contradiction| refused(&contradiction))?;
    placement::lower(&mut job.target.placement, open.placement).map_err(|contradiction| refused(&contradiction))?;
    let notes = sprandom::lower(&mut job, &open.sprandom, open.zones.wants_map)?;
    job.engine.command_priority =
        command_priority::lower(&open.command_priority, &job.name).map_err(|contradiction| refused(&contradiction))?;
    lower_amounts(&mut job);
    whole_files::lower(&mut job, &open).map_err(|contradiction| refused(&contradiction))?;
    job.pace.catch_up = apply_pace::catch_up(&job.pace, open.catch_up);
    lower_logs(&mut job, &open)?;
    lower_dedupe(&mut job, &open)?;
    job.verify = verification::lower(&job, &open).map_err(|contradiction| refused(&contradiction))?;
    patterns::check(&job).map_err(|contradiction| refused(&contradiction))?;
    shared_stream::check(&job).map_err(|contradiction| refused(&contradiction))?;
    verification::lower_buffers(&mut job);
    if strictness.readonly && job.changes_files() {
        return Err(vec![UserLine::named("trim and write operations are not allowed with the --readonly parameter.")]);
    }
    let (mut lines, clone_warnings) = warnings(&mut job, open.verify.is_asked_for());
    lines.extend(apply_replay::lower(&mut job, &open).map_err(|contradiction| refused(&contradiction))?);
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
    Ok(Lowered { job, warnings: lines, clone_warnings, notes })
}

/// 0 or more than `iodepth` means `iodepth`; the maximum of a reap is at least its minimum.
fn lower_queue(default_depth: u32, given: QueueSpec) -> QueueSpec {
    let iodepth = if given.iodepth == 0 { default_depth } else { given.iodepth };
    let up_to_depth = |value: u32| if value == 0 { iodepth } else { value.min(iodepth) };
    let batch_complete_min = given.batch_complete_min.min(iodepth);
    QueueSpec {
        iodepth,
        batch_submit: up_to_depth(given.batch_submit),
        batch_complete_min,
        batch_complete_max: given.batch_complete_max.max(batch_complete_min),
        low: up_to_depth(given.low),
    }
}

fn lower_pattern(job: &mut JobSpec, open: &Open) {
    for (direction, range) in open.block_range.iter() {
        if let Some(range) = range {
            job.pattern.block_size[direction] = *range;
        }
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

/// Trims of several ranges (`num_range`) need an engine that has them; only jobs that trim do.
fn check_ranges(job: &mut JobSpec) -> Result<(), Contradiction> {
    let trims = matches!(job.pattern.mix, DirectionMix::Trim | DirectionMix::TrimWrite);
    if job.extent.ranges_per_trim <= 1 || !trims {
        job.extent.ranges_per_trim = 1;
        return Ok(());
    }
    let engine = &job.engine.name;
    if !engines::by_name(engine).is_some_and(|engine| engine.forms.has_trim_ranges) {
        return Err(Contradiction::RangesOfEngine(engine.clone()));
    }
    let conflicts = [
        (job.pattern.mix == DirectionMix::TrimWrite, "trimwrite"),
        (job.zones != ZoneSpec::None, "zonemode"),
        (job.submission.serialize_overlap, "serialize_overlap"),
        (job.reporting.block_error_percentiles, "block_error_percentiles"),
    ];
    let conflict = conflicts.into_iter().find(|(is_set, _)| *is_set);
    conflict.map_or(Ok(()), |(_, what)| Err(Contradiction::WithRanges(what)))
}

/// Default size of the fixed set of repeated buffers, in percent of the job's size.
const DEFAULT_SET_PERCENT: u32 = 5;

/// Texts as observed on fio 3.41.
fn lower_dedupe(job: &mut JobSpec, open: &Open) -> Result<(), Refused> {
    let set_percent = open.dedupe.working_set_percent.unwrap_or(DEFAULT_SET_PERCENT);
    let dedupe_percent = open.dedupe.percent.unwrap_or(0);
    if dedupe_percent > 0 && open.dedupe.working_set {
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
            return Err(vec![UserLine::named(problem)]);
        }
    }
    if job.buffers.dedupe_global && dedupe_percent > 0 {
        let name = &job.name;
        if !open.dedupe.working_set {
            return Err(vec![UserLine::named(format!(
                "{name}: dedupe_global=1 shares the working sets of jobs, and this job has none: \
                 set dedupe_mode=working_set (it is repeat)"
            ))]);
        }
        if !matches!(job.extent.size, Some(SizeSpec::Bytes(_))) {
            return Err(vec![UserLine::named(format!(
                "{name}: dedupe_global=1 needs a size in bytes, not in percent"
            ))]);
        }
    }
    let mode =
        if open.dedupe.working_set { DedupeMode::WorkingSet { percent: set_percent } } else { DedupeMode::Repeat };
    job.buffers.dedupe = (dedupe_percent > 0).then_some((dedupe_percent, mode));
    job.buffers.refill = compat::refills(job.buffers.refill, open.dedupe.percent);
    Ok(())
}

/// Bandwidth and I/O rate are sampled once a row where they are logged.
fn lower_logs(job: &mut JobSpec, open: &Open) -> Result<(), Refused> {
    let logs = &mut job.logs;
    if logs.issue_time && !(logs.latency.is_some() && logs.offset) {
        return Err(vec![UserLine::named("log_issue_time option requires write_lat_log and log_offset options")]);
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

/// Combinations of options that are corrected with a warning, or have less effect than a user may expect. Returns all
/// lines, and those that are repeated for each clone because their combination is not corrected. Texts, order and
/// conditions as seen on fio 3.41.
fn warnings(job: &mut JobSpec, is_verified: bool) -> (Vec<UserLine>, Vec<UserLine>) {
    let (mut lines, mut of_clones) = (Vec::new(), Vec::new());
    let aligned = compat::smallest_blocks(job);
    let unaligned =
        job.pattern.block_align.iter().any(|(direction, align)| align.is_some_and(|align| align != aligned[direction]));
    if unaligned && job.pattern.random && !job.pattern.norandommap {
        job.pattern.norandommap = true;
        lines.push(UserLine::named("Any use of blockalign= turns off randommap"));
    }
    if job.pattern.norandommap && is_verified && compat::has_several_block_sizes(job) {
        of_clones.push(UserLine::named("norandommap given for variable block sizes, verify limited"));
    }
    if job.pattern.bs_unaligned && job.durability.direct {
        of_clones.push(UserLine::named("bs_unaligned may not work with raw io"));
    }
    lines.extend(of_clones.iter().cloned());
    if job.limits.time_based && job.limits.runtime_us == 0 {
        job.limits.time_based = false;
        lines.push(UserLine::named("time_based requires a runtime/timeout setting").with_cure(RUNTIME_CURE));
    }
    (lines, of_clones)
}

fn too_small(job: &JobSpec) -> Option<UserLine> {
    let SizeSpec::Bytes(size) = job.extent.size? else { return None };
    let block = compat::smallest_blocks(job).0.into_iter().min()?;
    (size < block)
        .then(|| UserLine::named(format!("size too small, must not be less than minimum block size: {size} < {block}")))
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

    // The block sizes that fio 3.41 prints at the start of such jobs.
    #[test]
    fn a_range_counts_before_and_after_a_size() {
        for options in [[("bsrange", ",1k-2k"), ("bs", "16k")], [("bs", "16k"), ("bsrange", ",1k-2k")]] {
            let sizes = lowered(&options).job.pattern.block_size.0.map(|range| (range.min_bytes, range.max_bytes));
            assert_eq!(sizes, [(16384, 16384), (1024, 2048), (1024, 2048)]);
        }
    }

    // fio 3.41 opens the file of such a job with O_DIRECT.
    #[test]
    fn atomic_writes_are_direct() {
        assert!(lowered(&[("atomic", "1"), ("rw", "write")]).job.durability.direct);
    }

    // Texts and conditions as observed on fio 3.41.
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

    // Expected values: rows as observed on fio 3.41; the error is described in the reference, section "Row".
    #[test]
    fn logs_have_names_and_windows() {
        let job = lowered(&[("name", "j"), ("write_bw_log", ""), ("log_avg_msec", "300")]).job;
        assert_eq!(job.logs.bw.as_deref(), Some(std::path::Path::new("")), "its worker's name is taken");
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

    // Texts, order and conditions as seen on fio 3.41; verify=null counts as well.
    #[test]
    fn verification_without_a_map_is_limited_where_blocks_vary() {
        let limited = UserLine::named("norandommap given for variable block sizes, verify limited");
        let warnings = |options: &str| {
            let words = options.split(' ').map(|word| word.split_once('=').expect("name=value"));
            let Lowered { warnings, clone_warnings, .. } = lowered(&words.collect::<Vec<_>>());
            (warnings, clone_warnings)
        };
        for told in ["bsrange=4k-16k", "bs=4k,8k", "bs=4k,4k,8k", "bsrange=4k-4k,4k-16k", "bssplit=4k/50:16k/50"] {
            for rw in ["randwrite verify=crc32c", "write verify=null", "randread verify=md5 do_verify=0"] {
                let both = warnings(&format!("norandommap=1 {told} rw={rw}"));
                assert_eq!(both, (vec![limited.clone()], vec![limited.clone()]), "{told} {rw}");
            }
            for silent in ["rw=randwrite norandommap=1", "rw=randwrite verify=md5", "rw=write norandommap=0 verify=md5"]
            {
                assert_eq!(warnings(&format!("{told} {silent}")).0, [""; 0], "{told} {silent}");
            }
        }
        for silent in ["bs=8k", "bsrange=4k-4k", "bssplit=4k/100"] {
            assert_eq!(warnings(&format!("rw=randwrite verify=md5 norandommap=1 {silent}")).0, [""; 0], "{silent}");
        }
        let (map, raw) =
            ("fio: Any use of blockalign= turns off randommap", "fio: bs_unaligned may not work with raw io");
        let time = "fio: time_based requires a runtime/timeout setting";
        let of_map = warnings("rw=randwrite bsrange=4k-16k verify=md5 ba=8k time_based=1");
        assert_eq!(of_map.0, [map, &limited, time]);
        assert_eq!(of_map.1, [&*limited]);
        let of_raw = warnings("rw=randwrite bs_unaligned=1 direct=1 ba=8k time_based=1");
        assert_eq!(of_raw.0, [map, raw, time]);
        assert_eq!(of_raw.1, [raw]);
    }

    #[test]
    fn warnings_may_be_fatal() {
        let strict = Strictness { warnings_fatal: true, ..Strictness::default() };
        let refused = lower(draft(&[("time_based", "1")]), strict).unwrap_err();
        assert_eq!(refused, ["fio: time_based requires a runtime/timeout setting"]);
        assert!(lower(draft(&[]), strict).is_ok());
    }

    /// The first two texts are those of fio 3.41.
    #[test]
    fn trims_of_several_ranges_need_an_engine_that_has_them() {
        let refusal = |options: &[(&str, &str)]| {
            lower(draft(options), Strictness::default())
                .map_or_else(|lines| lines.iter().map(|line| &**line).collect::<String>(), |_| String::new())
        };
        let ranges = ("num_range", "4");
        let with = |rw, engine, more: &[(&'static str, &'static str)]| {
            refusal(&[&[ranges, ("rw", rw), ("ioengine", engine)], more].concat())
        };
        assert_eq!(with("trim", "psync", &[]), "fio: can't use multiple ranges with IO engine psync");
        let text = "fio: trimwrite cannot be used with multiple ranges.";
        assert_eq!(with("randtrimwrite", "io_uring_cmd", &[]), text);
        let zoned = with("trim", "io_uring_cmd", &[("zonemode", "zbd")]);
        assert_eq!(zoned, "fio: zonemode cannot be used with multiple ranges.");
        assert_eq!(with("read", "psync", &[]), "");
        assert_eq!(with("randtrim", "io_uring_cmd", &[]), "");
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

    // Expected values as observed on fio 3.41: the smallest block of any direction decides.
    #[test]
    fn a_size_holds_at_least_one_block() {
        let small = lower(draft(&[("size", "4k"), ("bs", "8k")]), Strictness::default()).unwrap_err();
        assert_eq!(small, ["fio: size too small, must not be less than minimum block size: 4096 < 8192"]);
        for (size, bs) in [("4k", "8k,4k"), ("4k", "4k,8k"), ("0", "8k"), ("50%", "8k")] {
            assert!(lower(draft(&[("size", size), ("bs", bs)]), Strictness::default()).is_ok(), "{size} {bs}");
        }
    }
}
