//! Stamps for a loop that measures no latencies: the clock is read only as often as the deadlines need.
//!
//! Must not know: deadlines. Start reading at [`SparseStamps::next`].

use ferrio_sys::Clock;

/// Most stamps for one read of the clock.
const MAX_INTERVAL: u32 = 32;

/// If more time than this passes between two reads, the clock is read each time, so that a job on a slow device does
/// not overrun its deadlines by many I/Os.
const MAX_AGE_NS: u64 = 1_000_000;

/// The rhythm of the reads.
#[derive(Debug)]
pub(crate) struct SparseStamps {
    n_wanted: u32,
    interval: u32,
    last_read: u64,
}

impl SparseStamps {
    pub(crate) fn new() -> Self {
        Self { n_wanted: 0, interval: 1, last_read: 0 }
    }

    /// A new stamp, or the last one if it is recent enough. Not inlined, because a loop that measures latencies never
    /// calls it.
    #[inline(never)]
    pub(crate) fn next(&mut self, clock: &Clock, last: u64) -> u64 {
        self.n_wanted += 1;
        if self.n_wanted < self.interval { last } else { self.read(clock) }
    }

    fn read(&mut self, clock: &Clock) -> u64 {
        let stamp = clock.stamp();
        let is_slow = clock.between_ns(self.last_read, stamp) > MAX_AGE_NS;
        self.interval = if is_slow { 1 } else { (self.interval * 2).min(MAX_INTERVAL) };
        self.n_wanted = 0;
        self.last_read = stamp;
        stamp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of reads for 1000 stamps that are `step_ns` apart.
    fn n_reads(step_ns: u64) -> usize {
        let clock = Clock::new_virtual();
        let mut stamps = SparseStamps::new();
        let mut last = 0;
        let mut n_reads = 0;
        for _ in 0..1_000 {
            clock.advance(step_ns);
            let next = stamps.next(&clock, last);
            n_reads += usize::from(next != last);
            last = next;
        }
        n_reads
    }

    #[test]
    fn fast_devices_need_few_reads_and_slow_ones_all() {
        // Reads at 1, 2, 4, 8, 16 and then every 32nd: 5 for the first 31 stamps, then 969 / 32.
        assert_eq!(n_reads(100), 5 + 30);
        assert_eq!(n_reads(2_000_000), 1_000);
    }
}
