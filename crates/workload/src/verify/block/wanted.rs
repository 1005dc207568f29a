//! The expected data of a block that is compared byte by byte: a pattern without a checksum, or data that a checksum
//! does not cover.
//!
//! Must not know: headers. Start reading at [`BlockRules::wanted`].

use super::{BlockRules, Expected};
use crate::verify::fault::{Fault, FaultKind};
use ferrio_units::checksum::Checksum;

/// The data of a block as it was written.
pub(super) struct Wanted {
    data: Vec<u8>,
    is_pattern: bool,
}

/// A part of a block with its own header, header first.
pub(super) struct Interval {
    /// Offset in the block.
    pub(super) at: usize,
    pub(super) length_bytes: usize,
    /// Length of header and checksum.
    pub(super) area_bytes: usize,
}

impl BlockRules {
    /// The data to compare a block with; `None`: its checksums cover all of it, or its data are unknown.
    pub(super) fn wanted(&self, block: &[u8], expected: &Expected) -> Option<Wanted> {
        let is_pattern = self.checksum.is_none() && self.spec.pattern.is_some();
        // In the layout of fio 3.33, this checksum covers only the end of an interval.
        let is_covered_in_part = self.checksum == Some(Checksum::Sha512Unfinished) && expected.seed.is_some();
        if !is_pattern && !is_covered_in_part {
            return None;
        }
        let mut data = vec![0; block.len()];
        self.fill(&mut data, expected.offset_bytes, expected.seed.unwrap_or(0));
        Some(Wanted { data, is_pattern })
    }
}

impl Wanted {
    pub(super) fn compare(&self, block: &[u8], block_offset: u64, interval: &Interval) -> Result<(), Fault> {
        let data = interval.at + interval.area_bytes..interval.at + interval.length_bytes;
        let (Some(found), Some(wanted)) = (block.get(data.clone()), self.data.get(data.clone())) else { return Ok(()) };
        // Comparing everything is much faster than searching for the first byte that differs.
        if found == wanted {
            return Ok(());
        }
        let Some(first) = found.iter().zip(wanted).position(|(found, wanted)| found != wanted) else { return Ok(()) };
        let (at, found, wanted) = (data.start + first, found[first], wanted[first]);
        let offset_bytes = block_offset + interval.at as u64;
        Err(if self.is_pattern {
            // A fault in a pattern is reported for the whole block.
            let kind = FaultKind::Pattern { at, found, wanted };
            Fault { offset_bytes: block_offset, length_bytes: block.len() as u64, kind }
        } else {
            let kind = FaultKind::Uncovered { at, found, wanted };
            Fault { offset_bytes, length_bytes: interval.length_bytes as u64, kind }
        })
    }
}
