//! Verification of a job that replays a trace: settings that depend on the trace.
//!
//! Must not know: formats of traces, blocks. Start reading at [`adapt`]. As seen on fio 3.41: there is a header every
//! `verify_interval`, by default every `bs`, and one in each shorter write; if the trace writes nothing, its reads are
//! checked. If an interval does not divide a write, fio's last header in that write covers bytes past its end; here the
//! interval becomes the common divisor.

use super::EINVAL;
use crate::error::{Failure, failure};
use ferrio_spec::{HeaderLayout, VerifiedWrites, VerifySpec};
use ferrio_stats::note::{UnjudgedTrace, VerifyNote};
use ferrio_units::DataDirection;
use ferrio_workload::replay::TraceSurvey;
use ferrio_workload::verify::block::BlockRules;
use std::path::PathBuf;

/// Adapts the verification to the trace. `writes`: the trace has writes.
pub(super) fn adapt(
    verify: &mut VerifySpec,
    block_bytes: u64,
    survey: &TraceSurvey,
    writes: bool,
) -> Result<(), Failure> {
    if !writes && verify.loads_state {
        return Err(failure!(EINVAL, "verify").explained(VerifyNote::StateOfReads));
    }
    if !writes {
        (verify.reads_back, verify.checks_seed, verify.checks_sequence) = (false, false, false);
        (verify.reads, verify.backlog, verify.trims) = (VerifiedWrites::Done, None, None);
    } else if verify.reads != VerifiedWrites::OfEarlierRun {
        verify.recognises_layouts = false;
    }
    let content = &mut verify.content;
    let wanted = if content.interval_bytes == 0 { block_bytes } else { content.interval_bytes.into() };
    let interval_bytes = interval_bytes(wanted, survey);
    content.interval_bytes = u32::try_from(interval_bytes).unwrap_or(u32::MAX);
    let area_bytes = BlockRules::new(content.clone(), 1).area_bytes() as u64;
    let header_end_bytes = area_bytes + u64::from(content.header_at);
    let is_too_short = |length_bytes: u64| {
        let interval_bytes = length_bytes.min(interval_bytes);
        length_bytes > 0 && (interval_bytes <= area_bytes || interval_bytes < header_end_bytes)
    };
    // If the lengths are not all known, the smallest may be as short as their common divisor.
    if area_bytes > 0 && (is_too_short(interval_bytes) || !survey.lengths.all(|length| !is_too_short(length))) {
        let header_bytes = if content.layout == HeaderLayout::V3 { 48 } else { 40 };
        return Err(failure!(EINVAL, "verify").explained(VerifyNote::NoRoomForHeader { area_bytes, header_bytes }));
    }
    Ok(())
}

/// The reason why the blocks of a trace cannot be checked after a crash (`verify_crash_log`).
pub(super) fn cannot_be_judged(survey: &TraceSurvey, paths: &[PathBuf]) -> Option<UnjudgedTrace> {
    let mut different: Vec<&PathBuf> = paths.iter().collect();
    different.sort();
    different.dedup();
    [
        (!survey.uses(DataDirection::Write), UnjudgedTrace::WritesNothing),
        (survey.uses(DataDirection::Trim), UnjudgedTrace::Trims),
        (different.len() < paths.len(), UnjudgedTrace::SharesFiles),
        (!survey.writes_whole_blocks(), UnjudgedTrace::WritesParts),
    ]
    .into_iter()
    .find_map(|(is_so, why)| is_so.then_some(why))
}

/// The interval: it divides the lengths of all I/Os that are not shorter than it.
fn interval_bytes(wanted: u64, survey: &TraceSurvey) -> u64 {
    let is_divided = |length_bytes: u64| length_bytes < wanted || length_bytes.is_multiple_of(wanted);
    if survey.lengths.all(is_divided) {
        return wanted;
    }
    let (mut a, mut b) = (wanted, survey.lengths.divisor);
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}
