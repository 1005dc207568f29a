//! How often a skewed stream hits each of its blocks.
//!
//! Must not know: sizes of blocks, texts. Start reading at [`HitCounts::draw`]. Memory: 4 bytes a block, so at most 1 GiB.

use super::{DistributionShape, SkewedBlocks};

/// The hits of blocks, the most frequent first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HitCounts {
    n_blocks: u64,
    /// Of blocks that were hit at all, descending.
    counts: Vec<u32>,
}

/// A number of neighbours in that order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HitRow {
    pub n_blocks: u64,
    pub n_hits: u64,
}

/// Why hits cannot be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum HitsError {
    /// More blocks than are counted.
    #[error("{n_blocks} blocks are too many: at most {max} are counted (1 GiB of memory); take larger blocks", max = HitCounts::MAX_BLOCKS)]
    TooManyBlocks { n_blocks: u64 },
    #[error("no memory for the counts of {n_blocks} blocks (4 bytes each)")]
    Memory { n_blocks: u64 },
}

impl HitCounts {
    pub const MAX_BLOCKS: u64 = 1 << 28;

    /// Draws as often as there are blocks.
    ///
    /// # Errors
    /// There are too many blocks, or too little memory.
    pub fn draw(shape: DistributionShape, seed: u32) -> Result<Self, HitsError> {
        let n_blocks = shape.n_blocks();
        if n_blocks > Self::MAX_BLOCKS {
            return Err(HitsError::TooManyBlocks { n_blocks });
        }
        let mut counts: Vec<u32> = Vec::new();
        counts.try_reserve_exact(n_blocks as usize).map_err(|_| HitsError::Memory { n_blocks })?;
        counts.resize(n_blocks as usize, 0);
        let mut stream = SkewedBlocks::new(shape, seed, None);
        for _ in 0..n_blocks {
            // A block lies below `n_blocks`, and no count exceeds the number of draws, which is below 2^32.
            counts[stream.next_block() as usize] += 1;
        }
        counts.retain(|count| *count > 0);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        Ok(Self { n_blocks, counts })
    }

    /// Number of blocks, which is the number of draws too.
    pub fn n_blocks(&self) -> u64 {
        self.n_blocks
    }

    /// Hits of each block that was hit, descending.
    pub fn counts(&self) -> &[u32] {
        &self.counts
    }

    /// The blocks that were hit in this many rows of the same number of blocks; the last rows may have fewer, or none.
    pub fn rows(&self, n_rows: usize) -> impl Iterator<Item = HitRow> {
        let per_row = self.counts.len().div_ceil(n_rows.max(1)).max(1);
        let row = |counts: &[u32]| HitRow { n_blocks: counts.len() as u64, n_hits: sum(counts) };
        let none = std::iter::repeat(HitRow { n_blocks: 0, n_hits: 0 });
        self.counts.chunks(per_row).map(row).chain(none).take(n_rows)
    }

    /// The smallest number of blocks that have a share of all hits, in percent.
    pub fn blocks_of_share(&self, percent: f64) -> u64 {
        let wanted = (self.n_blocks as f64 * percent / 100.0).ceil() as u64;
        let mut n_hits = 0;
        let before = self.counts.iter().take_while(|count| {
            let is_before = n_hits < wanted;
            n_hits += u64::from(**count);
            is_before
        });
        before.count() as u64
    }
}

fn sum(counts: &[u32]) -> u64 {
    counts.iter().map(|count| u64::from(*count)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(counts: &[u32]) -> HitCounts {
        HitCounts { n_blocks: sum(counts), counts: counts.to_vec() }
    }

    /// Recorded from fio-genzipf of fio 3.33: 1 GiB in blocks of 64 MiB and 16 MiB.
    #[test]
    fn hits_are_those_of_the_peer() {
        let zipf = HitCounts::draw(DistributionShape::zipf(16, 1.2).unwrap(), 1).unwrap();
        assert_eq!(zipf.counts(), [5, 4, 2, 2, 1, 1, 1]);
        let pareto = HitCounts::draw(DistributionShape::pareto(64, 0.2).unwrap(), 1).unwrap();
        assert_eq!(pareto.counts(), [34, 7, 4, 3, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
        let normal = HitCounts::draw(DistributionShape::normal(64, 10.0).unwrap(), 1).unwrap();
        let expected = [8, 8, 6, 5, 4, 4, 3, 3, 3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1];
        assert_eq!(normal.counts(), expected);
    }

    #[test]
    fn rows_hold_all_hits() {
        let hits = counts(&[5, 4, 2, 2, 1, 1, 1]);
        let rows = |n_rows| hits.rows(n_rows).map(|row| (row.n_blocks, row.n_hits)).collect::<Vec<_>>();
        assert_eq!(rows(1), [(7, 16)]);
        assert_eq!(rows(3), [(3, 11), (3, 4), (1, 1)]);
        assert_eq!(rows(4), [(2, 9), (2, 4), (2, 2), (1, 1)]);
        assert_eq!(rows(9)[5..], [(1, 1), (1, 1), (0, 0), (0, 0)]);
        assert_eq!(rows(0), []);
    }

    #[test]
    fn a_share_takes_its_blocks() {
        let hits = counts(&[5, 4, 2, 2, 1, 1, 1]);
        let table =
            [(0.0, 0), (1.0, 1), (31.25, 1), (32.0, 2), (56.25, 2), (90.0, 6), (93.75, 6), (94.0, 7), (100.0, 7)];
        for (percent, n_blocks) in table {
            assert_eq!(hits.blocks_of_share(percent), n_blocks, "{percent}");
        }
    }

    #[test]
    fn memory_is_bounded() {
        let shape = DistributionShape::normal(HitCounts::MAX_BLOCKS + 1, 10.0).unwrap();
        assert!(matches!(HitCounts::draw(shape, 1), Err(HitsError::TooManyBlocks { .. })));
    }
}
