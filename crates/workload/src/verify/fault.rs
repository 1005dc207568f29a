//! A guess at the kind of damage of a block with a fault.
//!
//! Must not know: how blocks are checked. Start reading at [`diagnose`].

pub use ferrio_stats::note::{Damage, Fault, FaultKind};

/// Length of a sector: the unit that devices write as a whole.
const SECTOR_BYTES: usize = 512;

/// Guesses what happened to a block. `expected`: the block as it should be, if that is known; `own`: the block as its
/// own header describes it, if it has one.
pub fn diagnose(fault: &Fault, received: &[u8], expected: Option<&[u8]>, own: Option<&[u8]>) -> Option<Damage> {
    if let FaultKind::NotZero { .. } = fault.kind {
        return Some(diagnose_trim(received, expected));
    }
    if received.iter().all(|byte| *byte == 0) {
        return Some(Damage::Zeroed);
    }
    if let FaultKind::Offset { found, .. } = fault.kind {
        return Some(Damage::Misdirected { belongs_at: found });
    }
    if matches!(fault.kind, FaultKind::Seed { .. } | FaultKind::Sequence { .. }) && own == Some(received) {
        return Some(Damage::Stale);
    }
    let expected = expected?;
    let n_bits: u32 = received.iter().zip(expected).map(|(found, wanted)| (found ^ wanted).count_ones()).sum();
    let sectors = received.chunks(SECTOR_BYTES).zip(expected.chunks(SECTOR_BYTES));
    let n_bad = sectors.filter(|(found, wanted)| found != wanted).count();
    let n_sectors = received.len().div_ceil(SECTOR_BYTES);
    Some(match fault.kind {
        // Up to one bit in a thousand counts as flipped bits.
        _ if n_bits as usize <= (received.len() / 125).max(1) => Damage::FlippedBits { n_bits },
        _ if n_bad < n_sectors => Damage::Torn { n_bad, n_sectors },
        FaultKind::Seed { .. } | FaultKind::Sequence { .. } => Damage::Stale,
        _ => Damage::Other,
    })
}

/// The same for a trimmed block. `written`: the block before the trim.
fn diagnose_trim(received: &[u8], written: Option<&[u8]>) -> Damage {
    if written.is_some_and(|written| written == received) {
        return Damage::NotTrimmed;
    }
    let n_bad = received.chunks(SECTOR_BYTES).filter(|sector| sector.iter().any(|byte| *byte != 0)).count();
    Damage::TrimmedInPart { n_bad, n_sectors: received.len().div_ceil(SECTOR_BYTES) }
}
