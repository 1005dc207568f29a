//! The table of the profile `act`: the share of slow I/Os in each hour, and a verdict on the devices.
//!
//! Must not know: the measurement. Start reading at [`LatencySlices`].

use ferrio_stats::IntervalStats;
use ferrio_stats::histogram::bucket_latency_ns;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A row covers an hour.
const SLICE_NS: u64 = 3_600_000_000_000;

/// An I/O counts for the largest of these limits that it exceeds; milliseconds.
const LIMITS_MS: [u64; 3] = [1, 8, 64];

/// Largest allowed percentage of an hour's I/Os for each limit.
const MOST_PERCENT: [f64; 3] = [5.0, 1.0, 0.1];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Slice {
    n_ios: u64,
    n_slow: [u64; 3],
}

impl Slice {
    fn percent(&self) -> [f64; 3] {
        self.n_slow.map(|n_slow| if self.n_ios == 0 { 0.0 } else { 100.0 * n_slow as f64 / self.n_ios as f64 })
    }
}

/// Completion latencies by the hour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatencySlices {
    n_slices: u64,
    by_hour: BTreeMap<u64, Slice>,
}

impl LatencySlices {
    /// Empty counts. A run is meant to take `n_slices` hours; later I/Os count for the last hour.
    pub fn new(n_slices: u64) -> Self {
        Self { n_slices: n_slices.max(1), by_hour: BTreeMap::new() }
    }

    /// Counts the figures of a worker's interval for the hour in which it began. A latency counts as the value of its
    /// bucket, which is less than 1 % away.
    pub fn count(&mut self, stretch: &IntervalStats) {
        let hour = (stretch.start_ns / SLICE_NS).min(self.n_slices - 1);
        let slice = self.by_hour.entry(hour).or_default();
        for histogram in stretch.stats.directions.0.iter().filter_map(|direction| direction.clat.histogram.as_ref()) {
            for (index, n_ios) in histogram.filled() {
                slice.n_ios = slice.n_ios.saturating_add(n_ios);
                let latency_ns = bucket_latency_ns(index);
                if let Some(class) = LIMITS_MS.iter().rposition(|limit_ms| latency_ns > limit_ms * 1_000_000) {
                    slice.n_slow[class] = slice.n_slow[class].saturating_add(n_ios);
                }
            }
        }
    }

    /// The table of the hours that the run reached, and the verdict.
    pub fn text(&self) -> String {
        let mut text = "        trans                   device\n        %>(ms)                  %>(ms)\n \
                        slice\t  1\t  8\t 64\t  1\t  8\t 64\n \
                        -----  -----   -----  ------   -----   -----  ------\n"
            .to_owned();
        let mut is_passed = true;
        for hour in 0..=self.by_hour.keys().next_back().copied().unwrap_or(0) {
            let percent = self.by_hour.get(&hour).copied().unwrap_or_default().percent();
            is_passed &= percent.iter().zip(MOST_PERCENT).all(|(percent, most)| *percent <= most);
            let [one, eight, many] = percent.map(|percent| format!("{percent:.2}"));
            // Writing into a String cannot fail.
            let _ = writeln!(text, "{:5}\t{one}\t{eight}\t{many}\t{one}\t{eight}\t{many}", hour + 1);
        }
        let verdict = if is_passed { "PASSED" } else { "FAILED" };
        let _ = writeln!(text, "\nact: test complete, device(s): {verdict}");
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_stats::{LatencyStat, ThreadStats};
    use ferrio_units::{DataDirection, PerDirection};

    fn stretch(hour: u64, direction: DataDirection, latencies: &[(u64, u64)]) -> IntervalStats {
        let mut stats = ThreadStats::default();
        let mut clat = LatencyStat::new(true);
        for (value_us, n_ios) in latencies {
            (0..*n_ios).for_each(|_| clat.record(value_us * 1_000));
        }
        stats.directions[direction].clat = clat;
        IntervalStats {
            job_name: String::new(),
            job_number: 1,
            group_index: 0,
            directions: PerDirection::default(),
            percentiles: Vec::new(),
            start_ns: hour * SLICE_NS,
            end_ns: hour * SLICE_NS + 5,
            run_epoch_ms: 0,
            host: None,
            stats,
        }
    }

    fn rows(stretches: &[IntervalStats]) -> (Vec<String>, String) {
        let mut slices = LatencySlices::new(3);
        for stretch in stretches {
            slices.count(stretch);
        }
        let text = slices.text();
        let rows = text.lines().skip(4).take_while(|line| !line.is_empty()).map(str::to_owned).collect();
        (rows, text.lines().last().unwrap().to_owned())
    }

    /// Expected: head, row and verdict of fio 3.41, byte for byte.
    #[test]
    fn the_table_is_that_of_the_peer() {
        let mut slices = LatencySlices::new(1);
        slices.count(&stretch(0, DataDirection::Read, &[(100, 7), (2_000, 3)]));
        let expected = "        trans                   device\n        %>(ms)                  %>(ms)\n \
                        slice\t  1\t  8\t 64\t  1\t  8\t 64\n -----  -----   -----  ------   -----   -----  ------\n    \
                        1\t30.00\t0.00\t0.00\t30.00\t0.00\t0.00\n\nact: test complete, device(s): FAILED\n";
        assert_eq!(slices.text(), expected);
    }

    #[test]
    fn an_io_belongs_to_one_column_and_reads_and_writes_are_one() {
        let reads = stretch(0, DataDirection::Read, &[(900, 90), (2_000, 2), (20_000, 1)]);
        let writes = stretch(0, DataDirection::Write, &[(100, 6), (200_000, 1)]);
        assert_eq!(rows(&[reads, writes]).0, ["    1\t2.00\t1.00\t1.00\t2.00\t1.00\t1.00"]);
    }

    #[test]
    fn a_verdict_is_that_of_the_worst_hour() {
        let of_thousand = |hour, slow: [u64; 3]| {
            let latencies =
                [(100, 1_000 - slow.iter().sum::<u64>()), (2_000, slow[0]), (9_000, slow[1]), (70_000, slow[2])];
            stretch(hour, DataDirection::Read, &latencies)
        };
        let verdict = |slow| rows(&[of_thousand(0, slow), of_thousand(1, [0; 3])]).1;
        for (slow, expected) in
            [([50, 10, 1], "PASSED"), ([51, 0, 0], "FAILED"), ([0, 11, 0], "FAILED"), ([0, 0, 2], "FAILED")]
        {
            assert_eq!(verdict(slow), format!("act: test complete, device(s): {expected}"), "{slow:?}");
        }
    }

    #[test]
    fn hours_have_rows_of_their_own_and_none_is_beyond_the_last() {
        let one = |hour| stretch(hour, DataDirection::Read, &[(100, 1)]);
        assert_eq!(rows(&[one(0), one(2), one(3), one(9)]).0.len(), 3);
        assert_eq!(rows(&[]).0, ["    1\t0.00\t0.00\t0.00\t0.00\t0.00\t0.00"]);
    }
}
