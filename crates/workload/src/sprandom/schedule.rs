//! The share of overwrites in each part of a pass (`sprandom`).
//!
//! Must not know: blocks. Start reading at [`decay`], then [`Schedule::next`]. The model is derived in docs/sprandom.md.

use ferrio_spec::SpRandomSpec;
use ferrio_units::random::Taus258;

/// Number of bisections after which an interval of doubles cannot get shorter.
const N_HALVINGS: u32 = 100;

/// The rate at which valid data decays with age: of the data written at the age `a` (0 the newest, 1 the next to be
/// cleaned) the share `exp(-k * a)` is valid. The result is the `k` above 0 for which `k = (1 + op) * (1 - exp(-k))`.
pub(super) fn decay(over_provisioning: f64) -> f64 {
    let physical = 1.0 + over_provisioning;
    // The right side is above the left one between 0 and the solution. The solution is between these two bounds: the
    // right side is concave, (1 - exp(-k)) / k is above 1 - k / 2, and 1 - exp(-k) is below 1.
    let (mut low, mut high) = (over_provisioning / physical, physical);
    for _ in 0..N_HALVINGS {
        let middle = low.midpoint(high);
        if -physical * (-middle).exp_m1() > middle { low = middle } else { high = middle }
    }
    low
}

/// Decides which writes of a pass are overwrites.
#[derive(Debug, Clone)]
pub(super) struct Schedule {
    decay: f64,
    n_regions: u64,
    n_writes: u64,
    n_overwrites: u64,
    /// Index of the region after the present one.
    next_region: u64,
    /// Writes left in the present region.
    n_left: u64,
    /// Overwrites due by its end, counted from the start of the pass.
    n_due: u64,
    /// Overwrites done so far.
    n_done: u64,
}

impl Schedule {
    pub(super) fn new(spec: &SpRandomSpec, n_blocks: u64) -> Self {
        let n_overwrites = spec.n_overwrites(n_blocks);
        let n_writes = n_blocks.saturating_add(n_overwrites);
        Self {
            decay: decay(spec.over_provisioning),
            // More regions than writes would leave some without a write.
            n_regions: u64::from(spec.n_regions).min(n_writes),
            n_writes,
            n_overwrites,
            next_region: 0,
            n_left: 0,
            n_due: 0,
            n_done: 0,
        }
    }

    /// Share of valid blocks at the age 1.
    pub(super) fn oldest_valid(&self) -> f64 {
        (-self.decay).exp()
    }

    pub(super) fn n_regions(&self) -> u64 {
        self.n_regions
    }

    /// True if the next write is to be an overwrite; `None`: the pass is over.
    pub(super) fn next(&mut self, stream: &mut Taus258) -> Option<bool> {
        if self.n_left == 0 {
            self.enter_region()?;
        }
        // Each of the writes left in the region is equally likely to be one of the overwrites that are due, so that
        // exactly this many are done by the end.
        let is_overwrite = stream.below(self.n_left) < self.n_due.saturating_sub(self.n_done);
        self.n_left -= 1;
        Some(is_overwrite)
    }

    /// Counts an overwrite. One that was not possible is due later.
    pub(super) fn overwrote(&mut self) {
        self.n_done += 1;
    }

    fn enter_region(&mut self) -> Option<()> {
        let region = self.next_region;
        if region == self.n_regions {
            return None;
        }
        self.next_region += 1;
        self.n_left = self.end_of(self.next_region) - self.end_of(region);
        self.n_due = self.due_at(self.next_region);
        Some(())
    }

    /// Number of writes before a region (regions count from 0). Each region has at least one, because there are no more regions
    /// than writes.
    pub(super) fn end_of(&self, region: u64) -> u64 {
        // Fits: it is at most `n_writes`.
        (u128::from(self.n_writes) * u128::from(region) / u128::from(self.n_regions)) as u64
    }

    /// Number of overwrites due before a region: the share of overwrites at the part `x` of a pass is `1 -
    /// exp(-k * x)`, summed up to there.
    pub(super) fn due_at(&self, region: u64) -> u64 {
        if region == self.n_regions {
            return self.n_overwrites;
        }
        let part = region as f64 / self.n_regions as f64;
        let share = part + (-self.decay * part).exp_m1() / self.decay;
        // Rounding may make a sum near 0 negative; casts saturate.
        ((share * self.n_writes as f64).round() as u64).min(self.n_overwrites)
    }
}
