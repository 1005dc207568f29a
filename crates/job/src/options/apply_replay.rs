//! What the options of traces do to a draft, and what does not go with a replay.
//!
//! Must not know: how values are parsed, formats of traces. Start reading at [`read_iolog`], then [`lower`].

use crate::draft::{ApplyContext, Draft, Open};
use crate::error::JobError;
use crate::spec::{JobSpec, ReplaySpec, ZoneSpec};
use crate::value::Value;
use crate::value::lists::colon_names;
use std::path::PathBuf;

type Applied = Result<(), JobError>;
type Context<'a, 'b> = &'a mut ApplyContext<'b>;

pub(super) fn write_iolog(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.write_iolog = Some(PathBuf::from(value.text()?));
    Ok(())
}

pub(super) fn read_iolog(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.replay.traces = colon_names(value.text()?);
    Ok(())
}

pub(super) fn replay_redirect(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.replay.redirect = Some(PathBuf::from(value.text()?));
    Ok(())
}

pub(super) fn replay_scale(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    // 0 divides by nothing, as 1 does.
    draft.job.replay.scale = u64::try_from(value.number()?).unwrap_or(0).max(1);
    Ok(())
}

/// Text of fio 3.33.
pub(super) fn replay_align(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let bytes = u64::try_from(value.number()?).ok().filter(|bytes| *bytes == 0 || bytes.is_power_of_two());
    draft.job.replay.align_bytes =
        bytes.ok_or_else(|| JobError::Said("replay_align: must be a power-of-2".to_owned()))?;
    Ok(())
}

pub(super) fn replay_time_scale(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    draft.job.replay.time_scale_percent = u32::try_from(value.number()?).unwrap_or(u32::MAX).max(1);
    Ok(())
}

/// Words of several lines add up. Text of fio 3.33.
pub(super) fn replay_skip(draft: &mut Draft, value: &Value, _: Context) -> Applied {
    let skip = &mut draft.job.replay.skip;
    for word in value.text()?.split(',').filter(|word| !word.is_empty()) {
        match word {
            "read" => skip.read = true,
            "write" => skip.write = true,
            "trim" => skip.trim = true,
            "sync" => skip.sync = true,
            _ => return Err(JobError::Said(format!("Unknown skip type: {word}"))),
        }
    }
    Ok(())
}

/// What depends on several options. Returns remarks for standard error.
pub(crate) fn lower(job: &mut JobSpec, open: &Open) -> Result<Vec<String>, String> {
    if !job.replay.is_set() {
        // Options of a replay that is not to be change nothing: jobs without any have the same description.
        job.replay = ReplaySpec::default();
        return Ok(Vec::new());
    }
    job.replay.takes_depth = open.iodepth.is_none();
    if let Some(name) = contradiction(job) {
        return Err(format!("fio: {}: {name} cannot be combined with read_iolog: the trace decides", job.name));
    }
    let overridden = job.write_iolog.take().is_some();
    Ok(overridden.then(|| "fio: read iolog overrides write_iolog".to_owned()).into_iter().collect())
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
    use crate::options::{find_general, set};
    use crate::testing::World;

    fn lowered(options: &[(&str, &str)]) -> Result<Lowered, Vec<String>> {
        let mut draft = Draft::new();
        for (name, text) in options {
            let mut messages = crate::message::Messages::new();
            let mut context = ApplyContext { environment: &World::default(), readonly: false, messages: &mut messages };
            set::set(&mut draft, find_general(name).unwrap(), Some(text), &mut context)
                .map_err(|error| vec![error.to_string()])?;
        }
        crate::lower::lower(draft, Strictness::default())
    }

    #[test]
    fn traces_are_listed_and_kinds_add_up() {
        let options = [("read_iolog", "a:b\\:c:-"), ("replay_skip", "read,trim"), ("replay_skip", "sync")];
        let replay = lowered(&options).unwrap().job.replay;
        assert_eq!(replay.traces, ["a", "b:c", "-"]);
        assert_eq!(replay.skip, crate::spec::SkippedKinds { read: true, write: false, trim: true, sync: true });
        assert!(replay.takes_depth);
        assert!(!lowered(&[("read_iolog", "a"), ("iodepth", "1")]).unwrap().job.replay.takes_depth);
        assert_eq!(lowered(&[("replay_no_stall", "1")]).unwrap().job.replay, ReplaySpec::default());
    }

    // Texts of fio 3.33.
    #[test]
    fn what_cannot_be_is_refused() {
        assert_eq!(lowered(&[("replay_align", "3")]).unwrap_err(), ["replay_align: must be a power-of-2"]);
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
