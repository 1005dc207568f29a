//! Seeds of the random data for each buffer: a new seed, or one that was used before (`dedupe_percentage`).
//!
//! Must not know: bytes. Start reading at [`FillSeeds`].

use super::ContentsPlan;
use crate::compat;
use ferrio_spec::DedupeMode;
use ferrio_units::random::{GOLDEN_RATIO_64, SeedIndex, SeedTable, Taus88};
use std::sync::Arc;

/// Seeds of buffers, one after another.
#[derive(Debug, Clone)]
pub(super) struct FillSeeds {
    new: Taus88,
    repeats: Option<Repeats>,
}

#[derive(Debug, Clone)]
struct Repeats {
    percent: u64,
    draws: Taus88,
    source: SeedOrigin,
}

#[derive(Debug, Clone)]
enum SeedOrigin {
    Last(u64),
    /// A seed of a fixed set: the first `n_seeds` new seeds of the job, whether a buffer has used them yet or not. Thus
    /// no extra writes are needed to fill the set, and the share of repeats is the one asked for. A seed is computed
    /// from its number, so a set of any size takes no memory.
    Set {
        own: DedupeSet,
        n_new: u64,
        shared: Arc<[DedupeSet]>,
        picks: Taus88,
    },
}

/// The fixed set of repeated buffers that a job has (`dedupe_mode=working_set`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DedupeSet {
    base: u64,
    n_seeds: u64,
}

impl DedupeSet {
    /// The set of the job with these seeds: `percent` of its `size_bytes`, in blocks of `block_bytes`.
    pub fn new(seeds: &SeedTable, percent: u32, size_bytes: u64, block_bytes: u64) -> Self {
        let base = Taus88::from_table(seeds, SeedIndex::Buffer).buffer_seed();
        Self { base, n_seeds: (size_bytes / 100 * u64::from(percent) / block_bytes.max(1)).max(1) }
    }

    /// A seed of a job with a fixed set: odd, so that its sequence has the longest period, and different for each
    /// number.
    fn numbered(self, index: u64) -> u64 {
        (self.base ^ (index + 1).wrapping_mul(GOLDEN_RATIO_64)) | 1
    }

    /// Draws a set and one of its seeds. With a single set, only the seed is drawn.
    fn pick(sets: &[Self], own: Self, picks: &mut Taus88) -> u64 {
        let set = match sets.len() as u64 {
            0 | 1 => own,
            // Fits: it is below the number of sets.
            n => sets[picks.between(0, n - 1) as usize],
        };
        set.numbered(picks.between(0, set.n_seeds - 1))
    }
}

impl FillSeeds {
    pub(super) fn new(dedupe: Option<(u32, DedupeMode)>, seeds: &SeedTable, plan: &ContentsPlan) -> Self {
        let mut of_job = Self::without_first_fills(dedupe, seeds, plan);
        of_job.skip_first_fills(plan);
        of_job
    }

    /// Seeds for laying out files, before the job has buffers; also the seed before the first of them, if there is one,
    /// which is the first that can be repeated.
    pub(super) fn of_layout(
        dedupe: Option<(u32, DedupeMode)>,
        seeds: &SeedTable,
        plan: &ContentsPlan,
    ) -> (Self, Option<u64>) {
        let of_job = Self::without_first_fills(dedupe, seeds, plan);
        let first = match of_job.repeats.as_ref().map(|repeats| &repeats.source) {
            Some(SeedOrigin::Last(seed)) => Some(*seed),
            _ => None,
        };
        (of_job, first)
    }

    fn without_first_fills(dedupe: Option<(u32, DedupeMode)>, seeds: &SeedTable, plan: &ContentsPlan) -> Self {
        let mut new = Taus88::from_table(seeds, SeedIndex::Buffer);
        let repeats = dedupe.map(|(percent, mode)| {
            let source = match mode {
                DedupeMode::Repeat => SeedOrigin::Last(new.buffer_seed()),
                DedupeMode::WorkingSet { percent } => SeedOrigin::Set {
                    own: DedupeSet::new(seeds, percent, plan.size_bytes, plan.block_bytes),
                    n_new: 0,
                    shared: Arc::clone(&plan.shared_sets),
                    picks: Taus88::from_table(seeds, SeedIndex::DedupeSet),
                },
            };
            Repeats { percent: percent.into(), draws: Taus88::from_table(seeds, SeedIndex::Dedupe), source }
        });
        Self { new, repeats }
    }

    /// Draws the data of buffers that are filled but not written.
    fn skip_first_fills(&mut self, plan: &ContentsPlan) {
        let Some(repeats) = &self.repeats else { return };
        let has_fixed_set = matches!(repeats.source, SeedOrigin::Set { .. });
        let n_skipped = compat::n_unwritten_fills(plan.compatibility, plan.iodepth, has_fixed_set);
        for _ in 0..n_skipped {
            self.next();
        }
    }

    #[inline]
    pub(super) fn next(&mut self) -> u64 {
        let Some(repeats) = &mut self.repeats else { return self.new.buffer_seed() };
        if repeats.draws.between(1, 100) <= repeats.percent {
            return match &mut repeats.source {
                SeedOrigin::Last(last) => *last,
                SeedOrigin::Set { own, shared, picks, .. } => DedupeSet::pick(shared, *own, picks),
            };
        }
        match &mut repeats.source {
            SeedOrigin::Last(last) => {
                *last = self.new.buffer_seed();
                *last
            }
            SeedOrigin::Set { own, n_new, .. } => {
                *n_new += 1;
                own.numbered(*n_new - 1)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn seeds(dedupe: Option<(u32, DedupeMode)>) -> FillSeeds {
        let plan = ContentsPlan { size_bytes: 400 << 20, ..ContentsPlan::of_blocks(4096) };
        FillSeeds::new(dedupe, &SeedTable::new(0x89, 1), &plan)
    }

    fn n_different(mut seeds: FillSeeds, n: usize) -> usize {
        (0..n).map(|_| seeds.next()).collect::<BTreeSet<_>>().len()
    }

    #[test]
    fn shares_are_those_asked_for() {
        assert_eq!(n_different(seeds(None), 10_000), 10_000);
        assert_eq!(n_different(seeds(Some((100, DedupeMode::Repeat))), 1_000), 1);
        let n_repeated = 100_000 - n_different(seeds(Some((30, DedupeMode::Repeat))), 100_000);
        // Four standard deviations of 100,000 draws at 30 %: 4 * sqrt(100000 * 0.3 * 0.7) = 580.
        assert!(n_repeated.abs_diff(30_000) < 580, "{n_repeated}");
    }

    #[test]
    fn a_set_has_its_size() {
        // 5 % of 400 MiB in blocks of 4 KiB: 5,120 seeds. That 50,000 picks miss one of them is practically impossible.
        let mode = DedupeMode::WorkingSet { percent: 5 };
        assert_eq!(n_different(seeds(Some((100, mode))), 200_000), 5_120);
    }
}
