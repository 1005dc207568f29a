//! Rates from counts: a log with a row for each I/O.
//!
//! Must not know: rows. Start reading at [`CountedIos::into_rates`].

use crate::results::{Quantity, TimeSeries};
use ferrio_stats::halved;
use ferrio_units::DataDirection;

const NS_PER_MS: u64 = 1_000_000;
const NS_PER_SEC: f64 = 1e9;
/// Intervals of rates are at least as long, where the log is long enough: in shorter ones a rate says little.
const SHORTEST_NS: u64 = 100 * NS_PER_MS;
/// A log with fewer intervals keeps shorter ones.
const FEWEST_INTERVALS: usize = 20;

/// Amounts by time, in intervals of equal length: one without I/O has the rate 0, since the log would have its I/Os.
pub(super) struct CountedIos {
    quantity: Quantity,
    direction: DataDirection,
    interval_ns: u64,
    first: u64,
    amounts: Vec<f64>,
    first_ns: u64,
    last_ns: u64,
}

impl CountedIos {
    pub(super) fn new(quantity: Quantity, direction: DataDirection) -> Self {
        let (interval_ns, first_ns) = (NS_PER_MS, u64::MAX);
        Self { quantity, direction, interval_ns, first: 0, amounts: Vec::new(), first_ns, last_ns: 0 }
    }

    /// Adds an amount: one I/O, or its bytes.
    pub(super) fn add(&mut self, time_ns: u64, amount: f64, most: usize) {
        let time_ns = time_ns.min(u64::MAX / 8);
        (self.first_ns, self.last_ns) = (self.first_ns.min(time_ns), self.last_ns.max(time_ns));
        if self.amounts.is_empty() {
            self.first = time_ns / self.interval_ns;
        }
        loop {
            let number = time_ns / self.interval_ns;
            let end = self.first + self.amounts.len() as u64;
            let (first, end) = (self.first.min(number), end.max(number + 1));
            if end - first <= most.max(2) as u64 {
                self.amounts.splice(..0, std::iter::repeat_n(0.0, (self.first - first) as usize));
                self.amounts.resize((end - first) as usize, 0.0);
                self.first = first;
                self.amounts[(number - first) as usize] += amount;
                return;
            }
            self.halve();
        }
    }

    /// Makes pairs of intervals one.
    fn halve(&mut self) {
        self.amounts = halved(&self.amounts, self.first % 2 == 1, |sum, amount| *sum += amount);
        self.first /= 2;
        self.interval_ns *= 2;
    }

    /// The rate of each interval. The first one begins with the job or the first I/O, the last one ends with the last I/O.
    pub(super) fn into_rates(mut self) -> TimeSeries {
        while self.interval_ns < SHORTEST_NS && self.amounts.len() > FEWEST_INTERVALS {
            self.halve();
        }
        let mut series = TimeSeries::new(self.quantity, self.direction, self.interval_ns);
        for (number, amount) in (self.first..).zip(&self.amounts) {
            let start_ns = number * self.interval_ns;
            let begin_ns = if number == self.first && number > 0 { self.first_ns.max(start_ns) } else { start_ns };
            let end_ns = (start_ns + self.interval_ns).min(self.last_ns + NS_PER_MS).max(begin_ns + 1);
            let seconds = (end_ns - begin_ns) as f64 / NS_PER_SEC;
            series.add_rate(begin_ns, end_ns, amount / seconds, usize::MAX);
        }
        series.intervals.join_short_end();
        series
    }
}
