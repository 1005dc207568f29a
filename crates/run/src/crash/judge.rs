//! Judges a block after a crash: which writes it holds, and whether it may hold them.
//!
//! Must not know: files, journals. Start reading at [`judge`].

use crate::crash::history::{Candidate, WrittenPlace};
use ferrio_workload::verify::block::{BlockRules, Write};

/// Number of equal bytes that practically never occur by chance.
const PROOF_BYTES: usize = 16;

/// The state of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The newest acknowledged write is there, or one issued after it.
    There,
    /// None of its writes was acknowledged, and none is there.
    InFlight,
    /// The newest write is missing, which is allowed, as no sync was completed after it. The block holds all that must
    /// be there.
    LostLater,
    /// Parts of several writes that may be there; each part is at least as long as the device's atomic unit.
    Mixed,
    /// A write that a sync made durable is missing.
    Lost {
        /// Number of the write that must be there.
        wanted: u64,
        /// Number of the write that is there, if the block holds a single one.
        found: Option<u64>,
    },
    /// The block has parts that are shorter than the device's atomic unit, or parts of no write that may be there.
    Torn {
        /// Number of units that must not be as they are.
        n_bad: usize,
        n_units: usize,
    },
}

impl Verdict {
    /// True if the device has not kept its promise.
    pub fn is_violation(self) -> bool {
        matches!(self, Self::Lost { .. } | Self::Torn { .. })
    }
}

/// Judges a block. `last`: the last write that the journal shows as issued; a later one may be there, because the
/// journal ends before the crash. `unit_bytes`: the device's atomic unit, at least 1.
pub fn judge(
    rules: &BlockRules,
    place: &WrittenPlace,
    last: Option<Write>,
    received: &[u8],
    unit_bytes: usize,
) -> Verdict {
    let durable = place.candidates.iter().filter(|candidate| candidate.is_durable).map(|candidate| candidate.write);
    let durable = durable.max_by_key(|write| write.sequence);
    let is_later = |write: &Write| {
        let after = |other: Write| write.sequence > other.sequence && write.start_ns >= other.start_ns;
        // If candidates were left out, the block may hold one of them.
        place.has_more || last.is_some_and(after)
    };
    let whole = rules.whole_write(received, offset_bytes(place));
    if let Some(write) = whole {
        return judge_whole(place, &write, is_later(&write), durable);
    }
    if place.has_more && rules.has_headers(received, offset_bytes(place)) {
        // The parts may come from candidates that were left out.
        return Verdict::Mixed;
    }
    let torn = judge_parts(rules, place, received, unit_bytes, durable.is_some());
    match (torn, durable) {
        (Parts { n_bad: 0, n_known: 0, .. }, None) => none_there(place),
        (Parts { n_bad: 0, .. }, _) => Verdict::Mixed,
        (Parts { n_known: 0, has_traces: false, .. }, Some(write)) => {
            Verdict::Lost { wanted: write.sequence, found: None }
        }
        (Parts { n_bad, n_units, .. }, _) => Verdict::Torn { n_bad, n_units },
    }
}

fn offset_bytes(place: &WrittenPlace) -> u64 {
    place.candidates.first().map_or(0, |candidate| candidate.write.offset_bytes)
}

fn none_there(place: &WrittenPlace) -> Verdict {
    if place.candidates.iter().any(Candidate::is_acknowledged) { Verdict::LostLater } else { Verdict::InFlight }
}

/// Judges a block that comes from a single write.
fn judge_whole(place: &WrittenPlace, write: &Write, is_later: bool, durable: Option<Write>) -> Verdict {
    let newest = place.candidates.iter().filter(|candidate| candidate.is_acknowledged());
    let newest = newest.map(|candidate| candidate.write.sequence).max();
    let is_candidate = place.candidates.iter().any(|candidate| candidate.write == *write);
    match durable {
        _ if is_candidate && newest.is_none_or(|newest| write.sequence >= newest) => Verdict::There,
        _ if is_candidate => Verdict::LostLater,
        _ if is_later && newest.is_none_or(|newest| write.sequence >= newest) => Verdict::There,
        _ if is_later => Verdict::LostLater,
        Some(durable) => Verdict::Lost { wanted: durable.sequence, found: Some(write.sequence) },
        // The block is as it was before the job.
        None => none_there(place),
    }
}

/// The origin of a block's units.
struct Parts {
    n_units: usize,
    /// Number of units that must not be as they are.
    n_bad: usize,
    /// Number of units from writes that may be there.
    n_known: usize,
    /// Some bad units contain pieces of such writes.
    has_traces: bool,
}

fn judge_parts(
    rules: &BlockRules,
    place: &WrittenPlace,
    received: &[u8],
    unit_bytes: usize,
    is_durable: bool,
) -> Parts {
    let unit_bytes = unit_bytes.clamp(1, received.len().max(1));
    let n_units = received.len().div_ceil(unit_bytes);
    let (mut is_known, mut has_traces) = (vec![false; n_units], vec![false; n_units]);
    // Only one candidate's data at a time is kept in memory, because blocks may be large.
    let mut block = vec![0; received.len()];
    // Newest first: mostly, a few of many candidates explain the whole block.
    for candidate in place.candidates.iter().rev() {
        if is_known.iter().all(|is_known| *is_known) {
            break;
        }
        block.fill(0);
        rules.stamp(&mut block, &candidate.write);
        for (index, (wanted, unit)) in block.chunks(unit_bytes).zip(received.chunks(unit_bytes)).enumerate() {
            is_known[index] |= wanted == unit;
            has_traces[index] |= shares_a_piece(wanted, unit);
        }
    }
    let mut parts = Parts { n_units, n_bad: 0, n_known: 0, has_traces: false };
    for (is_known, has_traces) in is_known.into_iter().zip(has_traces) {
        if is_known {
            parts.n_known += 1;
            continue;
        }
        parts.has_traces |= has_traces;
        // If no write is durable, the units may be as they were before the job.
        parts.n_bad += usize::from(is_durable || has_traces);
    }
    parts
}

fn shares_a_piece(one: &[u8], other: &[u8]) -> bool {
    one.chunks_exact(PROOF_BYTES).zip(other.chunks_exact(PROOF_BYTES)).any(|(one, other)| one == other)
}
