//! The data of verified blocks: random words of a seed, or a pattern with the offset in it.
//!
//! Must not know: headers. Start reading at [`fill`].
//! Facts: reference "Verify header" (pattern fill position, random fill).

use crate::contents::fill::{RandomWords, fill_pattern};
use ferrio_job::spec::VerifyPattern;

/// Fills a block. `offset_bytes`: its place in the file.
pub(super) fn fill(
    block: &mut [u8],
    pattern: Option<&VerifyPattern>,
    pattern_interval_bytes: u32,
    offset_bytes: u64,
    seed: u64,
) {
    let Some(pattern) = pattern else {
        RandomWords::new(seed).fill(block);
        return;
    };
    let interval_bytes = if pattern_interval_bytes == 0 { block.len().max(1) } else { pattern_interval_bytes as usize };
    for (index, part) in block.chunks_mut(interval_bytes).enumerate() {
        fill_pattern(part, &pattern.bytes, 0);
        // Cannot overflow: it lies within a file.
        let offset_bytes = offset_bytes.wrapping_add((index * interval_bytes) as u64);
        put_offsets(part, pattern, offset_bytes);
    }
}

/// Writes the offset where the pattern has it, in each of its repetitions; the last may be cut off.
fn put_offsets(part: &mut [u8], pattern: &VerifyPattern, offset_bytes: u64) {
    for repetition in part.chunks_mut(pattern.bytes.len().max(1)) {
        for at in &pattern.offsets_at {
            let place = repetition.get_mut(*at..).unwrap_or_default();
            for (byte, value) in place.iter_mut().zip(offset_bytes.to_le_bytes()) {
                *byte = value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_has_the_offset_in_it() {
        let pattern = VerifyPattern { bytes: vec![0xab, 0xcd, 0, 0, 0, 0, 0, 0, 0, 0], offsets_at: vec![2] };
        let mut block = [0; 24];
        fill(&mut block, Some(&pattern), 0, 0x0102, 0);
        let expected = [0xab, 0xcd, 2, 1, 0, 0, 0, 0, 0, 0, 0xab, 0xcd, 2, 1, 0, 0, 0, 0, 0, 0, 0xab, 0xcd, 2, 1];
        assert_eq!(block, expected);
    }

    #[test]
    fn a_pattern_starts_anew_each_interval() {
        let pattern = VerifyPattern { bytes: vec![1, 2, 3], offsets_at: Vec::new() };
        let mut block = [0; 12];
        fill(&mut block, Some(&pattern), 4, 0, 0);
        assert_eq!(block, [1, 2, 3, 1, 1, 2, 3, 1, 1, 2, 3, 1]);
        let pattern = VerifyPattern { bytes: vec![0; 8], offsets_at: vec![0] };
        let mut block = [0; 32];
        fill(&mut block, Some(&pattern), 16, 4096, 0);
        assert_eq!((block[0..2].to_vec(), block[8..10].to_vec()), (vec![0, 16], vec![0, 16]));
        assert_eq!((block[16..18].to_vec(), block[24..26].to_vec()), (vec![16, 16], vec![16, 16]));
    }
}
