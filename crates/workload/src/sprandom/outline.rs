//! Outline of a pass, for users who ask for it (`--debug=sprandom`).
//!
//! Must not know: the order of blocks. Start reading at [`PassOutline::new`].

use super::schedule::Schedule;
use ferrio_spec::SpRandomSpec;

/// A pass over one file.
#[derive(Debug, Clone)]
pub struct PassOutline {
    /// Number of blocks of the file; each is written once.
    pub n_blocks: u64,
    pub n_overwrites: u64,
    /// Blocks that the cache of the device holds, rounded up.
    pub n_cached: u64,
    /// Share of valid blocks in the region that the device will clean next.
    pub oldest_valid: f64,
    /// Number of regions of the pass; each has at least one write.
    pub n_regions: u64,
    schedule: Schedule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegionOutline {
    pub n_writes: u64,
    /// Number of overwrites among them, unless the cache delays some.
    pub n_overwrites: u64,
}

impl PassOutline {
    /// The pass over a file with this number and size of blocks.
    pub fn new(spec: &SpRandomSpec, n_blocks: u64, block_bytes: u64) -> Self {
        let schedule = Schedule::new(spec, n_blocks);
        Self {
            n_blocks,
            n_overwrites: spec.n_overwrites(n_blocks),
            n_cached: spec.cache_bytes.div_ceil(block_bytes.max(1)),
            oldest_valid: schedule.oldest_valid(),
            n_regions: schedule.n_regions(),
            schedule,
        }
    }

    /// The regions in order.
    pub fn regions(&self) -> impl Iterator<Item = RegionOutline> {
        let difference = |count: fn(&Schedule, u64) -> u64, region: u64| {
            count(&self.schedule, region + 1).saturating_sub(count(&self.schedule, region))
        };
        (0..self.n_regions).map(move |region| RegionOutline {
            n_writes: difference(Schedule::end_of, region),
            n_overwrites: difference(Schedule::due_at, region),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An over-provisioning of a quarter: `k = 1.25 * (1 - exp(-k))` has the solution 0.464, `exp(-k)` is 0.629. By the model the
    /// overwrites up to the part `x` are `x - (1 - exp(-k * x)) / k` of all 1,250 writes: 67.2 up to the half, then 250.
    #[test]
    fn two_regions_are_those_of_the_model() {
        let spec = SpRandomSpec { n_regions: 2, over_provisioning: 0.25, cache_bytes: 6 << 10 };
        let outline = PassOutline::new(&spec, 1_000, 4096);
        assert_eq!((outline.n_blocks, outline.n_overwrites, outline.n_cached), (1_000, 250, 2));
        assert!((outline.oldest_valid - 0.629).abs() < 0.001, "{}", outline.oldest_valid);
        let regions: Vec<RegionOutline> = outline.regions().collect();
        let expected = [(625, 67), (625, 183)].map(|(n_writes, n_overwrites)| RegionOutline { n_writes, n_overwrites });
        assert_eq!(regions, expected);
    }

    #[test]
    fn a_file_of_few_blocks_has_few_regions() {
        let spec = SpRandomSpec { n_regions: 100, over_provisioning: 0.5, cache_bytes: 0 };
        let outline = PassOutline::new(&spec, 8, 4096);
        assert_eq!((outline.n_regions, outline.n_overwrites), (12, 4));
        let sums = outline.regions().fold((0, 0), |(n, m), region| (n + region.n_writes, m + region.n_overwrites));
        assert_eq!(sums, (12, 4));
        assert_eq!(PassOutline::new(&spec, 0, 4096).regions().count(), 0);
    }
}
