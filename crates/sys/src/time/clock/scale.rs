//! From ticks to nanoseconds and back by multiply and shift, and the time line that never goes backwards.
//!
//! Must not know: which counter the ticks come from. Pure arithmetic.

/// Binary digits after the point of nanoseconds per tick. 60 leaves 4 before it: ticks of less than 16 ns, and no TSC has longer ones.
/// Counters of aarch64 may have ticks of 52 ns (19.2 MHz): 54 leaves 10, and an error of at most 2^-55 for each tick.
const NS_SHIFT: u32 = if cfg!(target_arch = "aarch64") { 54 } else { 60 };
/// Binary digits after the point of ticks per nanosecond. 58 leaves 6 before it: counters below 64 GHz.
const TICK_SHIFT: u32 = 58;

/// The measured length of one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Scale {
    /// Nanoseconds per tick, times 2^`NS_SHIFT`.
    ns_per_tick: u64,
    /// Ticks per nanosecond, times 2^`TICK_SHIFT`.
    ticks_per_ns: u64,
}

impl Scale {
    pub(super) const IDENTITY: Self = Self { ns_per_tick: 1 << NS_SHIFT, ticks_per_ns: 1 << TICK_SHIFT };

    /// The scale of a counter that ran `ticks` in `ns`. `None` if a tick is too long for [`NS_SHIFT`], or the counter is faster
    /// than 64 GHz: no counter is.
    pub(super) fn measured(ticks: u64, ns: u64) -> Option<Self> {
        if ticks == 0 || ns == 0 {
            return None;
        }
        // Cannot overflow: 64 bits shifted by at most 60, plus half a divisor of 63 bits, fit in 128.
        let ns_per_tick = ((u128::from(ns) << NS_SHIFT) + u128::from(ticks / 2)) / u128::from(ticks);
        let ticks_per_ns = ((u128::from(ticks) << TICK_SHIFT) + u128::from(ns / 2)) / u128::from(ns);
        Some(Self { ns_per_tick: u64::try_from(ns_per_tick).ok()?, ticks_per_ns: u64::try_from(ticks_per_ns).ok()? })
    }

    /// True if a counter of so many hertz has this scale, to within 1 %: what a first calibration beside other programs can tell.
    pub(super) fn is_near(self, hz: u64) -> bool {
        let ticks = self.to_stamps(1_000_000_000);
        ticks.abs_diff(hz) <= hz / 100
    }

    /// Nanoseconds per tick: binary digits after the point, and the number.
    pub(super) fn factor(self) -> (u32, u64) {
        (NS_SHIFT, self.ns_per_tick)
    }

    /// Nanoseconds in `ticks`, rounded down. The product of two 64-bit numbers fits in 128 bits; the result fits in 64 as
    /// long as it is below 2^64 ns.
    #[inline]
    pub(super) fn to_ns(self, ticks: u64) -> u64 {
        ((u128::from(ticks) * u128::from(self.ns_per_tick)) >> NS_SHIFT) as u64
    }

    /// Ticks in `ns`, rounded down. Saturates.
    #[inline]
    pub(super) fn to_stamps(self, ns: u64) -> u64 {
        let ticks = (u128::from(ns) * u128::from(self.ticks_per_ns)) >> TICK_SHIFT;
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }

    /// How much longer this scale's tick is than the other's, in parts per billion.
    pub(super) fn ppb_against(self, other: Self) -> i64 {
        let ratio = self.ns_per_tick as f64 / other.ns_per_tick.max(1) as f64;
        ((ratio - 1.0) * 1e9).round() as i64
    }
}

/// Nanoseconds since an origin as a line through the last known point.
#[derive(Debug, Clone, Copy)]
pub(super) struct StampLine {
    start_stamp: u64,
    start_ns: u64,
    scale: Scale,
}

impl StampLine {
    /// A line that is 0 at a stamp.
    pub(super) fn new(start_stamp: u64, scale: Scale) -> Self {
        Self { start_stamp, start_ns: 0, scale }
    }

    /// Height of the line at a stamp; before the last steering point, the height of that point.
    #[inline]
    pub(super) fn at_ns(&self, stamp: u64) -> u64 {
        self.start_ns.saturating_add(self.scale.to_ns(stamp.saturating_sub(self.start_stamp)))
    }

    pub(super) fn stamp_at_ns(&self, ns: u64) -> u64 {
        self.start_stamp.saturating_add(self.scale.to_stamps(ns.saturating_sub(self.start_ns)))
    }

    /// Bends the line at `stamp`, where it should be at `true_ns` and continue with `scale`: it continues from its
    /// present value, at a rate (within 1 % of the true one) that corrects the difference over as long a time as has
    /// passed so far.
    pub(super) fn steer(&mut self, stamp: u64, true_ns: u64, scale: Scale) {
        let shown_ns = self.at_ns(stamp);
        let horizon_ns = true_ns.max(1_000_000);
        let limit = (horizon_ns / 100) as i64;
        let behind_ns = (true_ns.wrapping_sub(shown_ns) as i64).clamp(-limit, limit);
        let steered = Scale::measured(scale.to_stamps(horizon_ns), horizon_ns.saturating_add_signed(behind_ns));
        *self = Self { start_stamp: stamp, start_ns: shown_ns, scale: steered.unwrap_or(scale) };
    }
}
