//! Applies the options of data placement, and refuses contradictory ones.
//!
//! Must not know: how values are parsed, devices. Start reading at [`lower`]. Texts are those of fio 3.42.

use crate::contradiction::Contradiction;
use crate::error::JobError;
use crate::message::UserLine;
use crate::options::draft::{ApplyContext, Draft};
use crate::value::Value;
use ferrio_spec::{PlacementChoice, PlacementKind, PlacementSpec};

/// Most identifiers of a job.
const MAX_IDS: usize = 128;

/// The options as they were given.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlacementDraft {
    pub fdp: bool,
    /// `dataplacement`, if given.
    pub kind: Option<PlacementKind>,
}

pub(super) fn kind(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    draft.open.placement.kind = Some(match value.word()? {
        "fdp" => PlacementKind::Fdp,
        "streams" => PlacementKind::Streams,
        _ => PlacementKind::None,
    });
    Ok(())
}

pub(super) fn choice(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    draft.job.target.placement.choice = match value.word()? {
        "random" => PlacementChoice::Random,
        "scheme" => PlacementChoice::Scheme,
        _ => PlacementChoice::RoundRobin,
    };
    Ok(())
}

pub(super) fn ids(draft: &mut Draft, value: &Value, _: &mut ApplyContext<'_>) -> Result<(), JobError> {
    draft.job.target.placement.ids = parse_ids(value.text()?).map_err(JobError::Said)?;
    Ok(())
}

/// A list of numbers and ranges, ascending.
fn parse_ids(text: &str) -> Result<Vec<u16>, UserLine> {
    let not_parsed = || UserLine::named(format!("failed parsing plids={text}"));
    let mut ids = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u64>().map_err(|_| not_parsed());
        let (first, last) = (number(first)?, number(last)?);
        if first > last {
            return Err(not_parsed());
        }
        if last > u64::from(u16::MAX) {
            return Err("Placement IDs cannot exceed 0xFFFF".into());
        }
        if ids.len() as u64 + (last - first) >= MAX_IDS as u64 {
            return Err(UserLine::named(format!("only {MAX_IDS} IDs supported")));
        }
        ids.extend((first..=last).map(|id| id as u16));
    }
    ids.sort_unstable();
    Ok(ids)
}

pub(crate) fn lower(placement: &mut PlacementSpec, draft: PlacementDraft) -> Result<(), Contradiction> {
    placement.kind = match (draft.fdp, draft.kind) {
        (true, Some(PlacementKind::None | PlacementKind::Streams)) => return Err(Contradiction::FdpAndOther),
        (true, _) => PlacementKind::Fdp,
        (false, kind) => kind.unwrap_or_default(),
    };
    if placement.kind == PlacementKind::None {
        // As in fio, the other options have no effect then.
        return Ok(());
    }
    match placement.choice {
        PlacementChoice::Scheme if placement.scheme_file.is_none() => Err(Contradiction::SchemeMissing),
        PlacementChoice::Scheme => Ok(()),
        _ if placement.kind == PlacementKind::Streams && placement.ids.is_empty() => Err(Contradiction::StreamsMissing),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbers_and_ranges() {
        assert_eq!(parse_ids("5-7,1, 3,3").unwrap(), [1, 3, 3, 5, 6, 7]);
        assert_eq!(parse_ids("0-127").unwrap().len(), 128);
        for (text, why) in [
            ("5-2", "fio: failed parsing plids=5-2"),
            ("a", "fio: failed parsing plids=a"),
            ("0-128", "fio: only 128 IDs supported"),
            ("65536", "Placement IDs cannot exceed 0xFFFF"),
        ] {
            assert_eq!(parse_ids(text).unwrap_err(), why);
        }
    }

    #[test]
    fn kinds_that_contradict_each_other_are_refused() {
        let lowered = |fdp, kind, ids: &[u16]| {
            let mut placement = PlacementSpec { ids: ids.to_vec(), ..PlacementSpec::default() };
            lower(&mut placement, PlacementDraft { fdp, kind }).map(|()| placement.kind)
        };
        assert_eq!(lowered(true, None, &[]), Ok(PlacementKind::Fdp));
        assert_eq!(lowered(true, Some(PlacementKind::Fdp), &[]), Ok(PlacementKind::Fdp));
        assert_eq!(lowered(true, Some(PlacementKind::None), &[]), Err(Contradiction::FdpAndOther));
        assert_eq!(lowered(false, Some(PlacementKind::Streams), &[]), Err(Contradiction::StreamsMissing));
        assert_eq!(lowered(false, Some(PlacementKind::Streams), &[1]), Ok(PlacementKind::Streams));
        assert_eq!(lowered(false, None, &[1]), Ok(PlacementKind::None));
    }
}
