//! Data of verified blocks: random words of a seed, or a pattern, which may contain the offset.
//!
//! Must not know: headers. Start reading at [`fill`].
//! Facts: reference "Verify header" (pattern fill position, random fill).

use crate::contents::fill::{RandomWords, fill_pattern, repeat_head};
use ferrio_spec::{VerifyCompression, VerifyContentSpec, VerifyPattern};

/// Fills a block. `offset_bytes`: offset of the block in the file.
pub(super) fn fill(block: &mut [u8], spec: &VerifyContentSpec, offset_bytes: u64, seed: u64) {
    match (&spec.pattern, &spec.compression) {
        (Some(pattern), _) => fill_with_offsets(block, pattern, spec.pattern_interval_bytes, offset_bytes),
        (None, Some(compression)) => fill_compressible(block, compression, seed),
        (None, None) => RandomWords::new(seed).fill(block),
    }
}

/// As in fio 3.41: the share is that of a piece, which is the whole block there, rounded to whole bytes, and the compressible part is
/// at its end.
fn fill_compressible(block: &mut [u8], compression: &VerifyCompression, seed: u64) {
    let piece_bytes = if compression.piece_bytes == 0 { block.len().max(1) } else { compression.piece_bytes as usize };
    let mut words = RandomWords::new(seed);
    for piece in block.chunks_mut(piece_bytes) {
        let n_random = piece.len() as u64 * u64::from(100 - compression.percent.min(100)) / 100;
        // Fits: `n_random` is at most the length of the piece.
        let (random, tail) = piece.split_at_mut(n_random as usize);
        words.fill(random);
        fill_pattern(tail, &compression.tail, 0);
    }
}

fn fill_with_offsets(block: &mut [u8], pattern: &VerifyPattern, pattern_interval_bytes: u32, offset_bytes: u64) {
    let interval_bytes = if pattern_interval_bytes == 0 { block.len().max(1) } else { pattern_interval_bytes as usize };
    for (index, part) in block.chunks_mut(interval_bytes).enumerate() {
        if pattern.offsets_at.is_empty() || pattern.bytes.is_empty() {
            fill_pattern(part, &pattern.bytes, 0);
            continue;
        }
        // All repetitions have the same offset.
        let n_bytes = part.len().min(pattern.bytes.len());
        part[..n_bytes].copy_from_slice(&pattern.bytes[..n_bytes]);
        // Cannot overflow: the offset lies within a file.
        let offset_bytes = offset_bytes.wrapping_add((index * interval_bytes) as u64);
        put_offsets(&mut part[..n_bytes], &pattern.offsets_at, offset_bytes);
        repeat_head(part, n_bytes);
    }
}

/// Writes the offset into a repetition of the pattern, cut off at its end.
fn put_offsets(repetition: &mut [u8], offsets_at: &[usize], offset_bytes: u64) {
    for at in offsets_at {
        let place = repetition.get_mut(*at..).unwrap_or_default();
        for (byte, value) in place.iter_mut().zip(offset_bytes.to_le_bytes()) {
            *byte = value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: where the compressible part begins in blocks of 4 KiB of fio 3.41.
    #[test]
    fn shares_that_compress_are_those_of_the_peer() {
        for (percent, at) in [(1, 4055), (10, 3686), (33, 2744), (50, 2048), (75, 1024), (90, 409)] {
            for tail in [vec![], vec![0xab], vec![0xde, 0xad, 0xbe, 0xef]] {
                let mut block = [0x55; 4096];
                fill_compressible(
                    &mut block,
                    &VerifyCompression { percent, piece_bytes: 0, tail: tail.clone() },
                    0x1234_5678_9abc_def1,
                );
                let tail = if tail.is_empty() { vec![0] } else { tail };
                assert!(block[at..].iter().zip(tail.iter().cycle()).all(|(byte, wanted)| byte == wanted), "{percent}");
                assert_ne!(block[at - 8..at], block[at..at + 8], "{percent}: random until there");
            }
        }
    }

    #[test]
    fn each_piece_has_its_share() {
        let compression = VerifyCompression { percent: 50, piece_bytes: 4096, tail: vec![] };
        let mut block = vec![0x55; 65_536 + 100];
        fill_compressible(&mut block, &compression, 7);
        for piece in block.chunks(4096) {
            let (random, tail) = piece.split_at(piece.len() / 2);
            assert!(tail.iter().all(|byte| *byte == 0) && random.iter().any(|byte| *byte != 0));
        }
        assert_ne!(block[..2048], block[4096..6144], "no piece repeats another");
    }

    #[test]
    fn a_pattern_has_the_offset_in_it() {
        let pattern = VerifyPattern { bytes: vec![0xab, 0xcd, 0, 0, 0, 0, 0, 0, 0, 0], offsets_at: vec![2] };
        let mut block = [0; 24];
        fill_with_offsets(&mut block, &pattern, 0, 0x0102);
        let expected = [0xab, 0xcd, 2, 1, 0, 0, 0, 0, 0, 0, 0xab, 0xcd, 2, 1, 0, 0, 0, 0, 0, 0, 0xab, 0xcd, 2, 1];
        assert_eq!(block, expected);
    }

    #[test]
    fn a_pattern_starts_anew_each_interval() {
        let pattern = VerifyPattern { bytes: vec![1, 2, 3], offsets_at: Vec::new() };
        let mut block = [0; 12];
        fill_with_offsets(&mut block, &pattern, 4, 0);
        assert_eq!(block, [1, 2, 3, 1, 1, 2, 3, 1, 1, 2, 3, 1]);
        let pattern = VerifyPattern { bytes: vec![0; 8], offsets_at: vec![0] };
        let mut block = [0; 32];
        fill_with_offsets(&mut block, &pattern, 16, 4096);
        assert_eq!((block[0..2].to_vec(), block[8..10].to_vec()), (vec![0, 16], vec![0, 16]));
        assert_eq!((block[16..18].to_vec(), block[24..26].to_vec()), (vec![16, 16], vec![16, 16]));
    }
}
