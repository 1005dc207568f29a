//! The parts of the passes. A part that was cut off is done again.
//!
//! Must not know: runs. Start reading at [`next_part`].

/// Size of the I/Os of a pass: that of the SNIA specification.
const BLOCK_BYTES: u64 = 128 << 10;
/// Smallest part: a run takes a moment to begin.
const LEAST_PART_BYTES: u64 = 1 << 30;
/// Parts of a pass at most, so that a part is soon done on a large target too.
const MOST_PARTS: u64 = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FillPart {
    /// A number that no other part has.
    pub(crate) number: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    /// Size of its I/Os: its size is a whole multiple.
    pub(crate) block_bytes: u64,
}

/// The next part of passes over a target, of which `done_bytes` are done. `None`: all are.
pub(crate) fn next_part(target_bytes: u64, n_passes: u32, done_bytes: u64) -> Option<FillPart> {
    if target_bytes == 0 || done_bytes >= target_bytes.saturating_mul(u64::from(n_passes)) {
        return None;
    }
    let offset = done_bytes % target_bytes;
    let whole = target_bytes / BLOCK_BYTES * BLOCK_BYTES;
    let number = done_bytes / BLOCK_BYTES;
    // What is left behind the last whole block is an I/O of its own.
    if offset >= whole {
        let bytes = target_bytes - offset;
        return Some(FillPart { number, offset, bytes, block_bytes: bytes });
    }
    let part_bytes = (target_bytes / MOST_PARTS).max(LEAST_PART_BYTES).next_multiple_of(BLOCK_BYTES);
    Some(FillPart { number, offset, bytes: part_bytes.min(whole - offset), block_bytes: BLOCK_BYTES })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(target_bytes: u64, n_passes: u32) -> Vec<FillPart> {
        let mut done = 0;
        std::iter::from_fn(|| {
            let part = next_part(target_bytes, n_passes, done)?;
            done += part.bytes;
            Some(part)
        })
        .take(10_000)
        .collect()
    }

    #[test]
    fn a_small_target_has_a_part_a_pass_and_its_rest() {
        let found: Vec<(u64, u64, u64)> =
            parts((1 << 20) + 8_192, 2).iter().map(|part| (part.offset, part.bytes, part.block_bytes)).collect();
        let (whole, rest) = ((0, 1 << 20, 128 << 10), (1 << 20, 8_192, 8_192));
        assert_eq!(found, [whole, rest, whole, rest]);
        assert_eq!(next_part(0, 2, 0), None);
    }

    proptest! {
        #[test]
        fn each_pass_covers_all_of_the_target_once(blocks in 1_u64..1 << 36, n_passes in 1_u32..4) {
            let target = blocks * 4_096;
            let all = parts(target, n_passes);
            prop_assert!(all.len() as u64 <= (MOST_PARTS + 2) * u64::from(n_passes));
            let mut end = 0;
            for part in &all {
                prop_assert_eq!(part.offset, end % target);
                prop_assert!(part.bytes > 0 && part.bytes % part.block_bytes == 0);
                prop_assert!(part.offset + part.bytes <= target);
                end += part.bytes;
            }
            prop_assert_eq!(end, target * u64::from(n_passes));
        }
    }
}
