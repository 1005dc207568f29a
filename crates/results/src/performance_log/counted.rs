//! Rates from counts: a log with a row for each I/O.
//!
//! Must not know: rows. Start reading at [`CountedIos::into_rates`].

use crate::{Quantity, TimeBin, TimeSeries};
use ferrio_units::DataDirection;

const NS_PER_MS: u64 = 1_000_000;
const NS_PER_SEC: f64 = 1e9;
/// Intervals of rates are at least as long, where the log is long enough: in shorter ones a rate says little.
const SHORTEST_NS: u64 = 100 * NS_PER_MS;
/// A log with fewer intervals keeps shorter ones.
const FEWEST_BINS: usize = 20;

/// Amounts by time.
pub(super) struct CountedIos {
    amounts: TimeSeries,
    last_ns: u64,
}

impl CountedIos {
    pub(super) fn new(quantity: Quantity, direction: DataDirection) -> Self {
        Self { amounts: TimeSeries::new(quantity, direction, NS_PER_MS), last_ns: 0 }
    }

    /// Adds an amount: one I/O, or its bytes.
    pub(super) fn add(&mut self, time_ns: u64, amount: f64, most: usize) {
        self.amounts.add(time_ns, amount, most);
        // A series keeps times up to this one.
        self.last_ns = self.last_ns.max(time_ns.min(u64::MAX / 2));
    }

    /// The rate of each interval. The last one ends with the last I/O.
    pub(super) fn into_rates(self) -> TimeSeries {
        let mut amounts = self.amounts;
        while amounts.interval_ns < SHORTEST_NS && amounts.bins.len() > FEWEST_BINS {
            amounts.halve();
        }
        let (first, interval_ns, last_ns) = (amounts.first, amounts.interval_ns, self.last_ns);
        let rate = |(index, bin): (usize, &TimeBin)| {
            let start_ns = (first + index as u64).saturating_mul(interval_ns);
            let length_ns = (last_ns + NS_PER_MS).saturating_sub(start_ns).clamp(1, interval_ns);
            TimeBin::of(if bin.n == 0 { 0.0 } else { bin.sum / (length_ns as f64 / NS_PER_SEC) })
        };
        let bins = amounts.bins.iter().enumerate().map(rate).collect();
        TimeSeries { bins, ..amounts }
    }
}
