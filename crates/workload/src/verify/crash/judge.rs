//! A block after a crash: what of it is there, and whether it may be so.
//!
//! Must not know: files, journals. Start reading at [`judge`].

use super::history::{Candidate, WrittenPlace};
use crate::verify::block::{BlockRules, Write};

/// Bytes that are by chance those of a write as good as never.
const PROOF_BYTES: usize = 16;

/// What became of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The newest write that was acknowledged is there, or one issued after it.
    There,
    /// None of its writes was acknowledged, and none of them is there.
    InFlight,
    /// The newest write is not there, and need not be: no sync was completed after it. What must be there is.
    LostLater,
    /// Parts of several writes that may be there, each part as long as the device writes at once, or longer.
    Mixed,
    /// A write that a sync made durable is not there.
    Lost {
        /// The write that must be there.
        wanted: u64,
        /// The write that is, if it is one.
        found: Option<u64>,
    },
    /// Parts shorter than the device writes at once, or parts of nothing that may be there.
    Torn {
        /// Units that may not be so.
        n_bad: usize,
        /// All units.
        n_units: usize,
    },
}

impl Verdict {
    /// The device has broken its word.
    pub fn is_violation(self) -> bool {
        matches!(self, Self::Lost { .. } | Self::Torn { .. })
    }
}

/// Judges a block. `last`: the write of the journal that was issued last; a later one may be there, since the journal
/// ends before the crash. `unit_bytes`: what the device writes as a whole, at least 1.
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
        // Where writes were left out, it may be one of them.
        place.has_more || last.is_some_and(after)
    };
    let whole = rules.whole_write(received, offset_bytes(place));
    if let Some(write) = whole {
        return judge_whole(place, &write, is_later(&write), durable);
    }
    if place.has_more && rules.has_headers(received, offset_bytes(place)) {
        // Its parts may be of writes that were left out.
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

/// The block is that of one write.
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
        // What was there before the job.
        None => none_there(place),
    }
}

/// What the units of a block are.
struct Parts {
    n_units: usize,
    /// Units that may not be so.
    n_bad: usize,
    /// Units of writes that may be there.
    n_known: usize,
    /// Within bad units there are pieces of such writes.
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
    // One block at a time: blocks may be large.
    let mut block = vec![0; received.len()];
    // Newest first: most blocks are known after a few of many.
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
        // Where nothing is durable, whatever was there before the job may be there still.
        parts.n_bad += usize::from(is_durable || has_traces);
    }
    parts
}

fn shares_a_piece(one: &[u8], other: &[u8]) -> bool {
    one.chunks_exact(PROOF_BYTES).zip(other.chunks_exact(PROOF_BYTES)).any(|(one, other)| one == other)
}
