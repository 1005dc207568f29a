//! Applies the options of traces to a draft, and refuses options that contradict a replay.
//!
//! Must not know: how values are parsed, formats of traces. Start reading at [`read_iolog`], then [`lower`].

use crate::contradiction::Contradiction;
use crate::error::JobError;
use crate::message::UserLine;
use crate::options::draft::{ApplyContext, Draft, Open};
use crate::options::drafts::MergeDraft;
use crate::value::Value;
use crate::value::lists::colon_names;
use ferrio_spec::{JobSpec, MergeSpec, ReplaySpec, SizeSpec, ZoneSpec};
use ferrio_units::byte_text;

type Applied = Result<(), JobError>;
type Context<'a, 'b> = &'a mut ApplyContext<'b>;

pub(super) fn write_iolog(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.write_iolog = Some(byte_text::to_os_string(value.text()?).into());
    Ok(())
}

pub(super) fn read_iolog(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.replay.traces = colon_names(value.text()?);
    Ok(())
}

pub(super) fn replay_redirect(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.replay.redirect = Some(byte_text::to_os_string(value.text()?).into());
    Ok(())
}

pub(super) fn replay_scale(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let scale = u64::try_from(value.number()?);
    // 0 divides by nothing, as 1 does.
    draft.job.replay.scale =
        scale.map_err(|_| JobError::Said("replay_scale: offsets are divided by at least 1".into()))?.max(1);
    Ok(())
}

/// Text of fio 3.41.
pub(super) fn replay_align(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let bytes = u64::try_from(value.number()?).ok().filter(|bytes| bytes.is_power_of_two());
    draft.job.replay.align_bytes = bytes.ok_or_else(|| JobError::Said("replay_align: must be a power-of-2".into()))?;
    Ok(())
}

pub(super) fn replay_offset(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let bytes = u64::try_from(value.number()?).map_err(|_| JobError::NotParsed)?;
    draft.job.replay.offset_bytes = Some(bytes);
    Ok(())
}

pub(super) fn replay_time_scale(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.replay.time_scale_percent = u32::try_from(value.number()?).unwrap_or(u32::MAX).max(1);
    Ok(())
}

/// Words of several lines are combined. Text of fio 3.41.
pub(super) fn replay_skip(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let skip = &mut draft.job.replay.skip;
    for word in value.text()?.split(',') {
        match word {
            "read" => skip.read = true,
            "write" => skip.write = true,
            "trim" => skip.trim = true,
            "sync" => skip.sync = true,
            _ => return Err(JobError::Said(format!("Unknown skip type: {word}").into())),
        }
    }
    Ok(())
}

pub(super) fn merge_file(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let output = byte_text::to_os_string(value.text()?).into();
    draft.open.merge.has_output = true;
    draft.open.merge.spec.output = output;
    Ok(())
}

/// Percent become millionths.
pub(super) fn merge_scalars(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let ppm = |percent: &f64| {
        let ppm = (percent * 10_000.0).round();
        (ppm >= 1.0 && ppm <= f64::from(u32::MAX)).then_some(ppm as u64)
    };
    let scales: Option<Vec<u64>> = floats(value)?.iter().map(ppm).collect();
    draft.open.merge.spec.time_scales_ppm =
        scales.ok_or_else(|| JobError::Said("merge_blktrace_scalars: percentages from 0.0001 to 429496".into()))?;
    Ok(())
}

pub(super) fn merge_iters(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let whole = |n: &f64| (n.fract() == 0.0 && *n >= 1.0 && *n <= f64::from(u32::MAX)).then_some(*n as u32);
    let passes: Option<Vec<u32>> = floats(value)?.iter().map(whole).collect();
    draft.open.merge.spec.n_passes =
        passes.ok_or_else(|| JobError::Said("merge_blktrace_iters: whole numbers from 1".into()))?;
    Ok(())
}

fn floats(value: &Value) -> Result<&[f64], JobError> {
    if let Value::Floats(list, _) = value { Ok(list) } else { Err(JobError::NotParsed) }
}

/// The merge of a job with these traces. Texts of fio 3.41.
fn merge(open: &MergeDraft, n_traces: usize) -> Result<Option<MergeSpec>, Contradiction> {
    let MergeDraft { has_output, spec } = open;
    let lists = [("merge_blktrace_scalars", spec.time_scales_ppm.len()), ("merge_blktrace_iters", spec.n_passes.len())];
    for (name, n) in lists.into_iter().filter(|(_, n)| *n > 0) {
        if !has_output {
            return Err(Contradiction::MergeFileMissing(name));
        }
        if n != n_traces {
            return Err(Contradiction::MergeList { name, n_values: n, n_traces });
        }
    }
    Ok(has_output.then(|| spec.clone()))
}

/// Computes values that depend on several options. Returns remarks for standard error.
pub(crate) fn lower(job: &mut JobSpec, open: &Open) -> Result<Vec<UserLine>, Contradiction> {
    if !job.replay.is_set() {
        if open.merge.has_output {
            // Here fio 3.41 crashes.
            return Err(Contradiction::MergeWithoutTraces(job.name.clone()));
        }
        // Without a trace, options of replay have no effect: such a job has the same description as one without them.
        job.replay = ReplaySpec::default();
        return Ok(Vec::new());
    }
    job.replay.merge = merge(&open.merge, job.replay.traces.len())?;
    if job.replay.offset_bytes.is_some() {
        check_moved(job)?;
    }
    job.replay.takes_depth = open.queue.iodepth == 0;
    if let Some(option) = contradiction(job) {
        return Err(Contradiction::TraceDecides { job: job.name.clone(), option });
    }
    let overridden = job.write_iolog.take().is_some();
    let overridden = overridden.then(|| UserLine::named("read iolog overrides write_iolog"));
    Ok(overridden.into_iter().chain(left_out(job)).collect())
}

/// Offsets of a trace are moved by numbers of bytes, known before any file is.
fn check_moved(job: &JobSpec) -> Result<(), Contradiction> {
    let (offset, increment) = (job.extent.offset, job.extent.offset_increment);
    if !matches!(offset, SizeSpec::Bytes(0) | SizeSpec::Percent(0)) {
        return Err(Contradiction::MovedTwice(job.name.clone()));
    }
    match increment {
        SizeSpec::Bytes(_) | SizeSpec::Percent(0) => Ok(()),
        SizeSpec::Percent(_) => Err(Contradiction::MovedByPercent(job.name.clone())),
    }
}

/// A line about traces for which there is no clone of the job; fio leaves them out without a word.
fn left_out(job: &JobSpec) -> Option<UserLine> {
    let (name, traces, n_clones) = (&job.name, &job.replay.traces, job.numjobs);
    let rest =
        traces.get(usize::try_from(n_clones).ok()?..).filter(|rest| !rest.is_empty() && job.replay.merge.is_none())?;
    let n_traces = traces.len();
    let rest = rest.join(", ");
    let told = format!("{name}: of the {n_traces} traces of read_iolog, {rest} left out: each clone replays one");
    Some(UserLine::named(format!("{told} (numjobs={n_traces} replays all)")))
}

/// The option that a replay would have to ignore.
fn contradiction(job: &JobSpec) -> Option<&'static str> {
    let (durability, extent) = (&job.durability, &job.extent);
    let rows = [
        (job.pace.limits_rates(), "a rate"),
        (job.pace.flow.weight > 0, "a flow"),
        (durability.fsync_blocks > 0, "fsync"),
        (durability.fdatasync_blocks > 0, "fdatasync"),
        (durability.sync_file_range.is_some(), "sync_file_range"),
        (extent.fill_device, "fill_device"),
        (extent.file_append, "file_append"),
        (job.zones != ZoneSpec::None, "zonemode"),
    ];
    rows.into_iter().find(|(is_set, _)| *is_set).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::{Lowered, Strictness};
    use crate::testing::draft_of;

    fn lowered(options: &[(&str, &str)]) -> Result<Lowered, Vec<UserLine>> {
        let draft = draft_of(options).map_err(|error| vec![error.line()])?;
        crate::lower::lower(draft, Strictness::default())
    }

    #[test]
    fn traces_without_a_clone_are_named() {
        let warnings = |options: &[(&str, &str)]| {
            lowered(&[&[("name", "j"), ("read_iolog", "a:b:c")], options].concat()).unwrap().warnings
        };
        let told = "fio: j: of the 3 traces of read_iolog, c left out: each clone replays one (numjobs=3 replays all)";
        assert_eq!(warnings(&[("numjobs", "2")]), [told]);
        assert!(warnings(&[("numjobs", "3")]).is_empty());
        assert!(warnings(&[("numjobs", "7")]).is_empty());
        assert!(warnings(&[("merge_blktrace_file", "m")]).is_empty());
    }

    #[test]
    fn traces_are_listed_and_kinds_add_up() {
        let options = [("read_iolog", "a:b\\:c:-"), ("replay_skip", "read,trim"), ("replay_skip", "sync")];
        let replay = lowered(&options).unwrap().job.replay;
        assert_eq!(replay.traces, ["a", "b:c", "-"]);
        assert_eq!(replay.skip, ferrio_spec::SkippedKinds { read: true, write: false, trim: true, sync: true });
        assert!(replay.takes_depth);
        assert!(!lowered(&[("read_iolog", "a"), ("iodepth", "1")]).unwrap().job.replay.takes_depth);
        assert_eq!(lowered(&[("replay_no_stall", "1")]).unwrap().job.replay, ReplaySpec::default());
    }

    #[test]
    fn merges_need_traces() {
        assert_eq!(
            lowered(&[("merge_blktrace_file", "m")]).unwrap_err(),
            ["fio: : merge_blktrace_file needs read_iolog"]
        );
        for harmless in ["merge_blktrace_scalars", "merge_blktrace_iters"] {
            assert!(lowered(&[(harmless, "1")]).is_ok(), "{harmless}");
        }
    }

    #[test]
    fn merges_have_a_number_for_each_trace() {
        let with = |options: &[(&str, &str)]| {
            lowered(&[&[("read_iolog", "a:b"), ("merge_blktrace_file", "m")], options].concat())
        };
        let plain = MergeSpec { output: "m".into(), ..MergeSpec::default() };
        assert_eq!(with(&[]).unwrap().job.replay.merge, Some(plain.clone()));
        let both = with(&[("merge_blktrace_scalars", "50:12.5"), ("merge_blktrace_iters", "2:1")]).unwrap();
        let expected = MergeSpec { time_scales_ppm: vec![500_000, 125_000], n_passes: vec![2, 1], ..plain };
        assert_eq!(both.job.replay.merge, Some(expected));
        for (name, value, text) in [
            ("merge_blktrace_scalars", "50", "fio: merge_blktrace_scalars(1) != nr_logs(2)"),
            ("merge_blktrace_iters", "1:1:1", "fio: merge_blktrace_iters(3) != nr_logs(2)"),
            ("merge_blktrace_scalars", "0:100", "merge_blktrace_scalars: percentages from 0.0001 to 429496"),
            ("merge_blktrace_scalars", "100:-5", "merge_blktrace_scalars: percentages from 0.0001 to 429496"),
            ("merge_blktrace_iters", "1.5:1", "merge_blktrace_iters: whole numbers from 1"),
            ("merge_blktrace_iters", "1:0", "merge_blktrace_iters: whole numbers from 1"),
        ] {
            assert_eq!(with(&[(name, value)]).unwrap_err(), [text], "{name}={value}");
        }
        let alone = lowered(&[("read_iolog", "a"), ("merge_blktrace_iters", "1")]).unwrap_err();
        assert_eq!(alone, ["fio: merge_blktrace_iters needs merge_blktrace_file"]);
    }

    #[test]
    fn offsets_of_a_trace_are_moved_by_bytes() {
        let with = |options: &[(&str, &str)]| {
            lowered(&[&[("name", "j"), ("read_iolog", "a")], options].concat()).map(|lowered| lowered.job)
        };
        let moved = with(&[("replay_offset", "1g"), ("offset_increment", "64m")]).unwrap();
        assert_eq!(moved.replay.offset_bytes, Some(1 << 30));
        assert_eq!(moved.extent.offset_increment, SizeSpec::Bytes(64 << 20));
        assert_eq!(with(&[("replay_offset", "0")]).unwrap().replay.offset_bytes, Some(0));
        // As in fio, without the option.
        assert_eq!(with(&[("offset", "8k"), ("offset_increment", "10%")]).unwrap().replay.offset_bytes, None);
        for (option, told) in [
            (
                ("offset", "8k"),
                "fio: j: replay_offset and offset are not compatible: both would say where the trace is replayed",
            ),
            (("offset_increment", "10%"), "fio: j: replay_offset needs an offset_increment in bytes, not in percent"),
        ] {
            assert_eq!(with(&[("replay_offset", "1g"), option]).unwrap_err(), [told]);
        }
        assert!(lowered(&[("replay_offset", "-1")]).is_err());
    }

    // Expected values: texts of fio 3.41.
    #[test]
    fn what_cannot_be_is_refused() {
        assert_eq!(lowered(&[("replay_align", "3")]).unwrap_err(), ["replay_align: must be a power-of-2"]);
        let negative = lowered(&[("replay_scale", "-1")]).unwrap_err();
        assert_eq!(negative, ["replay_scale: offsets are divided by at least 1"]);
        assert_eq!(lowered(&[("replay_skip", "read,foo")]).unwrap_err(), ["Unknown skip type: foo"]);
        let both = lowered(&[("read_iolog", "a"), ("write_iolog", "b")]).unwrap();
        assert_eq!(both.warnings, ["fio: read iolog overrides write_iolog"]);
        assert_eq!(both.job.write_iolog, None);
        for (name, value) in [("rate", "1m"), ("fsync", "1"), ("fill_device", "1"), ("zonemode", "strided")] {
            let options = [("name", "j"), ("read_iolog", "a"), ("zonesize", "8k"), (name, value)];
            let options = if name == "zonemode" { &options[..] } else { &[options[0], options[1], options[3]] };
            let lines = lowered(options).unwrap_err();
            assert!(lines.last().unwrap().ends_with("cannot be combined with read_iolog: the trace decides"), "{name}");
        }
    }
}
