//! Figures of a job over the course of a run, in intervals of equal length.
//!
//! Must not know: statistics of the course, formats. Start reading at [`JobSeries::add`]. The intervals count from the start of
//! the run, so those of all jobs lie side by side. Memory is bounded: when a series has too many intervals, pairs of them become
//! one.

use crate::counters::counts::add_to;
use crate::{Histogram, ThreadStats};
use ferrio_units::{DataDirection, PerDirection};
use serde::{Deserialize, Serialize};

/// The course of a job: all its clones together.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JobSeries {
    pub job_index: u32,
    /// Length of an interval, nanoseconds, at least 1.
    pub interval_ns: u64,
    /// Number of the first interval; interval 0 begins with the run.
    pub first: u64,
    /// Time that the clones spent on their I/O in each interval, nanoseconds, summed. The ramp does not count.
    pub clone_ns: Vec<u64>,
    /// The I/O of each direction; a direction without I/O has no values.
    pub directions: PerDirection<DirectionSeries>,
    /// The syncs, which move no bytes; no values: there were none.
    #[serde(default)]
    pub syncs: DirectionSeries,
}

/// The course of one direction, with a value for each interval.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DirectionSeries {
    pub ios: Vec<u64>,
    pub bytes: Vec<u64>,
    /// Completion latencies, of syncs their only ones: buckets that are not empty, ascending, with their counts. Empty: not measured.
    pub latencies: Vec<Vec<(u16, u64)>>,
}

/// Times of a clone's figures, nanoseconds since the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StretchTimes {
    pub start_ns: u64,
    /// The end that was planned. No I/O of the clone completed between this time and the end, except at the end itself.
    pub due_ns: u64,
    pub end_ns: u64,
}

impl JobSeries {
    /// A series without intervals.
    pub fn new(job_index: u32, interval_ns: u64) -> Self {
        Self { job_index, interval_ns: interval_ns.max(1), ..Self::default() }
    }

    /// Adds what a clone did in a stretch of time, and keeps at most `most` intervals (at least 2). Figures over several
    /// intervals are spread evenly; their latencies count in the last of them.
    pub fn add(&mut self, times: StretchTimes, stats: &ThreadStats, most: usize) {
        let StretchTimes { start_ns, due_ns, end_ns } = times;
        let (start_ns, due_ns) = (start_ns.min(end_ns), due_ns.clamp(start_ns.min(end_ns), end_ns));
        if start_ns == end_ns && stats.has_counted_nothing() {
            return;
        }
        self.make_room(start_ns, end_ns, most.max(2));
        self.spread(start_ns, end_ns, end_ns - start_ns, |series, index, part_ns| {
            add_to(&mut series.clone_ns[index], part_ns);
        });
        for direction in DataDirection::ALL {
            let figures = &stats.directions[direction];
            if figures.n_completed == 0 && figures.bytes == 0 {
                continue;
            }
            self.directions[direction].widen(self.clone_ns.len());
            self.spread(start_ns, due_ns, figures.n_completed, |series, index, part| {
                add_to(&mut series.directions[direction].ios[index], part);
            });
            self.spread(start_ns, due_ns, figures.bytes, |series, index, part| {
                add_to(&mut series.directions[direction].bytes[index], part);
            });
            if let Some(histogram) = &figures.clat.histogram {
                let (_, last) = self.cells(start_ns, due_ns);
                self.directions[direction].add_latencies(last, histogram);
            }
        }
        self.add_syncs(start_ns, due_ns, stats);
    }

    /// Adds the syncs that returned in a stretch of time; where their latency is not measured, those that began.
    fn add_syncs(&mut self, start_ns: u64, due_ns: u64, stats: &ThreadStats) {
        let histogram = stats.sync.histogram.as_ref();
        let n_syncs = histogram.map_or(stats.n_syncs_issued, |_| stats.sync.n_samples);
        if n_syncs == 0 {
            return;
        }
        self.syncs.widen(self.clone_ns.len());
        self.spread(start_ns, due_ns, n_syncs, |series, index, part| add_to(&mut series.syncs.ios[index], part));
        if let Some(histogram) = histogram {
            let (_, last) = self.cells(start_ns, due_ns);
            self.syncs.add_latencies(last, histogram);
        }
    }

    /// Adds the course of the same job on another host, whose run began so many nanoseconds after that of this one. Its intervals are moved by
    /// whole ones, so that none is divided; where they are longer than those here, by another factor than a power of two, they are spread
    /// evenly, and their latencies count in the last of the intervals here.
    pub fn add_course(&mut self, other: &Self, later_ns: u64, most: usize) {
        let length_ns = other.interval_ns.max(1);
        if other.clone_ns.is_empty() {
            return;
        }
        while self.interval_ns < length_ns
            && length_ns.is_multiple_of(self.interval_ns)
            && (length_ns / self.interval_ns).is_power_of_two()
        {
            self.halve();
        }
        let moved = later_ns.saturating_add(length_ns / 2) / length_ns;
        let first = other.first.saturating_add(moved);
        let start_of = |index: usize| first.saturating_add(index as u64).saturating_mul(length_ns);
        self.make_room(start_of(0), start_of(other.clone_ns.len()), most.max(2));
        for (index, clone_ns) in other.clone_ns.iter().enumerate() {
            let (start_ns, end_ns) = (start_of(index), start_of(index + 1));
            self.spread(start_ns, end_ns, *clone_ns, |series, place, part| add_to(&mut series.clone_ns[place], part));
        }
        for (number, course) in other.courses().enumerate().filter(|(_, course)| !course.ios.is_empty()) {
            let length = self.clone_ns.len();
            self.course_mut(number).widen(length);
            for index in 0..other.clone_ns.len() {
                let (start_ns, end_ns) = (start_of(index), start_of(index + 1));
                let value = |values: &[u64]| values.get(index).copied().unwrap_or_default();
                self.spread(start_ns, end_ns, value(&course.ios), |series, place, part| {
                    add_to(&mut series.course_mut(number).ios[place], part);
                });
                self.spread(start_ns, end_ns, value(&course.bytes), |series, place, part| {
                    add_to(&mut series.course_mut(number).bytes[place], part);
                });
                let (_, last) = self.cells(start_ns, end_ns);
                if let Some(buckets) = course.latencies.get(index) {
                    let own = self.course_mut(number);
                    own.latencies.resize(length, Vec::new());
                    merge_buckets(&mut own.latencies[last], buckets);
                }
            }
        }
    }

    /// The course of a direction by its place, or behind them that of the syncs.
    fn course_mut(&mut self, number: usize) -> &mut DirectionSeries {
        match self.directions.0.get_mut(number) {
            Some(direction) => direction,
            None => &mut self.syncs,
        }
    }

    /// The courses of all kinds of I/O.
    fn courses(&self) -> impl Iterator<Item = &DirectionSeries> {
        self.directions.0.iter().chain(std::iter::once(&self.syncs))
    }

    /// The courses of all kinds of I/O.
    fn courses_mut(&mut self) -> impl Iterator<Item = &mut DirectionSeries> {
        self.directions.0.iter_mut().chain(std::iter::once(&mut self.syncs))
    }

    /// Number of latency buckets kept: the larger part of the memory.
    pub fn n_buckets(&self) -> usize {
        self.courses().flat_map(|course| &course.latencies).map(Vec::len).sum()
    }

    /// Forgets the latencies.
    pub fn drop_latencies(&mut self) {
        self.courses_mut().for_each(|course| course.latencies.clear());
    }

    /// Makes pairs of intervals one.
    pub fn halve(&mut self) {
        let is_odd = self.first % 2 == 1;
        self.interval_ns = self.interval_ns.saturating_mul(2);
        self.first /= 2;
        let sums = |values: &[u64]| halved(values, is_odd, |sum, value| add_to(sum, *value));
        self.clone_ns = sums(&self.clone_ns);
        for direction in self.courses_mut() {
            direction.ios = sums(&direction.ios);
            direction.bytes = sums(&direction.bytes);
            direction.latencies = halved(&direction.latencies, is_odd, |sum, buckets| merge_buckets(sum, buckets));
        }
    }

    /// Makes the series long enough for a time, and halves it where it would be too long.
    fn make_room(&mut self, start_ns: u64, end_ns: u64, most: usize) {
        if self.clone_ns.is_empty() {
            self.first = start_ns / self.interval_ns;
        }
        let most = most as u64;
        while self.bounds(start_ns, end_ns).1 >= most
            || self.bounds(start_ns, end_ns).0 + self.clone_ns.len() as u64 > most
        {
            self.halve();
        }
        let (n_before, last) = self.bounds(start_ns, end_ns);
        debug_assert!(n_before + self.clone_ns.len() as u64 <= most && last < most, "a series keeps its bound");
        // Both fit: they are below `most`.
        if n_before > 0 {
            self.first -= n_before;
            self.prepend(n_before as usize);
        }
        self.widen_to((last + 1) as usize);
    }

    /// Number of intervals to put before the first, and index of the last one then.
    fn bounds(&self, start_ns: u64, end_ns: u64) -> (u64, u64) {
        let start = start_ns / self.interval_ns;
        let first = self.first.min(start);
        let last = (end_ns.saturating_sub(1) / self.interval_ns).max(start);
        (self.first - first, last - first)
    }

    fn prepend(&mut self, n_before: usize) {
        let zeroes = || std::iter::repeat_n(0, n_before);
        self.clone_ns.splice(..0, zeroes());
        for direction in self.courses_mut().filter(|direction| !direction.ios.is_empty()) {
            direction.ios.splice(..0, zeroes());
            direction.bytes.splice(..0, zeroes());
            if !direction.latencies.is_empty() {
                direction.latencies.splice(..0, std::iter::repeat_n(Vec::new(), n_before));
            }
        }
    }

    fn widen_to(&mut self, length: usize) {
        let length = length.max(self.clone_ns.len());
        self.clone_ns.resize(length, 0);
        for direction in self.courses_mut().filter(|direction| !direction.ios.is_empty()) {
            direction.widen(length);
        }
    }

    /// Indexes of the first and the last interval that a time touches; the series has room for it.
    fn cells(&self, start_ns: u64, end_ns: u64) -> (usize, usize) {
        let start = start_ns / self.interval_ns;
        let last = (end_ns.saturating_sub(1) / self.interval_ns).max(start);
        let index = |number: u64| number.saturating_sub(self.first) as usize;
        (index(start), index(last))
    }

    /// Gives each interval its share of an amount by time; the shares add up to the amount.
    fn spread(&mut self, start_ns: u64, end_ns: u64, amount: u64, mut add: impl FnMut(&mut Self, usize, u64)) {
        let (first, last) = self.cells(start_ns, end_ns);
        debug_assert!(first <= last && last < self.clone_ns.len(), "a time lies in the series that was made for it");
        let whole_ns = u128::from(end_ns - start_ns).max(1);
        let mut given = 0;
        for index in first..last {
            let until_ns = (self.first + index as u64 + 1).saturating_mul(self.interval_ns);
            let until_ns = u128::from(until_ns.saturating_sub(start_ns)).min(whole_ns);
            // Fits: at most the amount.
            let so_far = (u128::from(amount) * until_ns / whole_ns) as u64;
            debug_assert!((given..=amount).contains(&so_far), "shares add up to the amount");
            add(self, index, so_far - given);
            given = so_far;
        }
        add(self, last, amount - given);
    }
}

impl DirectionSeries {
    fn widen(&mut self, length: usize) {
        self.ios.resize(length, 0);
        self.bytes.resize(length, 0);
        if !self.latencies.is_empty() {
            self.latencies.resize(length, Vec::new());
        }
    }

    fn add_latencies(&mut self, index: usize, histogram: &Histogram) {
        self.latencies.resize(self.ios.len(), Vec::new());
        // Fits: there are fewer than 2^16 buckets.
        let buckets: Vec<(u16, u64)> = histogram.filled().map(|(bucket, count)| (bucket as u16, count)).collect();
        debug_assert!(buckets.is_sorted_by(|one, next| one.0 < next.0), "buckets are in order, each once");
        merge_buckets(&mut self.latencies[index], &buckets);
    }
}

/// Adds sorted counts to sorted counts.
fn merge_buckets(sum: &mut Vec<(u16, u64)>, other: &[(u16, u64)]) {
    if sum.is_empty() {
        sum.extend_from_slice(other);
        return;
    }
    for (bucket, count) in other {
        match sum.binary_search_by_key(bucket, |(bucket, _)| *bucket) {
            Ok(place) => add_to(&mut sum[place].1, *count),
            Err(place) => sum.insert(place, (*bucket, *count)),
        }
    }
}

/// Every pair of values as one, which `join` makes by adding the second value to the first. With `is_odd`, the first value is alone, because
/// it is the second one of its pair: pairs begin at even numbers of the whole series, of which these values are a part.
pub fn halved<T: Clone>(values: &[T], is_odd: bool, mut join: impl FnMut(&mut T, &T)) -> Vec<T> {
    let (alone, pairs) = values.split_at(usize::from(is_odd).min(values.len()));
    let mut joined = Vec::with_capacity(values.len() / 2 + 1);
    joined.extend_from_slice(alone);
    joined.extend(pairs.chunks(2).map(|pair| {
        let mut first = pair[0].clone();
        pair[1..].iter().for_each(|second| join(&mut first, second));
        first
    }));
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LatencyStat;
    use proptest::prelude::*;

    const READ: DataDirection = DataDirection::Read;

    fn stats(n_reads: u64, latency_ns: u64) -> ThreadStats {
        let mut stats = ThreadStats::default();
        let read = &mut stats.directions[READ];
        (read.n_completed, read.bytes) = (n_reads, n_reads * 4096);
        read.clat = LatencyStat::new(true);
        (0..n_reads).for_each(|_| read.clat.record(latency_ns));
        stats
    }

    fn times(start_ns: u64, due_ns: u64, end_ns: u64) -> StretchTimes {
        StretchTimes { start_ns, due_ns, end_ns }
    }

    #[test]
    fn clones_are_summed_by_interval() {
        let mut series = JobSeries::new(3, 100);
        for start_ns in [200, 300, 200] {
            series.add(times(start_ns, start_ns + 100, start_ns + 100), &stats(10, 5), 8);
        }
        let read = &series.directions[READ];
        assert_eq!((series.first, &series.clone_ns[..], &read.ios[..]), (2, &[200, 100][..], &[20, 10][..]));
        assert_eq!(read.latencies, [[(5, 20)], [(5, 10)]]);
        assert_eq!(read.bytes, [20 * 4096, 10 * 4096]);
        assert_eq!(series.directions[DataDirection::Write], DirectionSeries::default());
    }

    #[test]
    fn syncs_have_a_course_of_their_own() {
        let mut series = JobSeries::new(0, 100);
        let mut stats = ThreadStats { n_syncs_issued: 9, ..stats(4, 5) };
        stats.sync = LatencyStat::new(true);
        (0..8).for_each(|_| stats.sync.record(20));
        series.add(times(0, 100, 100), &stats, 8);
        series.add(times(100, 200, 200), &ThreadStats::default(), 8);
        series.add(times(200, 300, 300), &stats, 8);
        assert_eq!((&series.syncs.ios[..], series.n_buckets()), (&[8, 0, 8][..], 4));
        assert_eq!(series.syncs.latencies, [vec![(20, 8)], vec![], vec![(20, 8)]]);
        series.halve();
        assert_eq!(series.syncs.ios, [8, 8]);
        // Without latencies, those that began.
        let without = ThreadStats { n_syncs_issued: 3, ..ThreadStats::default() };
        series.add(times(400, 600, 600), &without, 8);
        assert_eq!(series.syncs.ios, [8, 8, 3]);
    }

    /// A worker that waits for its device is late; nothing has completed in the meantime.
    #[test]
    fn what_comes_late_belongs_before_the_silence() {
        let mut series = JobSeries::new(0, 100);
        series.add(times(0, 100, 350), &stats(10, 5), 8);
        series.add(times(350, 400, 400), &stats(4, 5), 8);
        assert_eq!(series.clone_ns, [100, 100, 100, 100]);
        assert_eq!(series.directions[READ].ios, [10, 0, 0, 4]);
        assert_eq!(series.directions[READ].latencies, [vec![(5, 10)], vec![], vec![], vec![(5, 4)]]);
    }

    #[test]
    fn figures_over_several_intervals_are_spread() {
        let mut series = JobSeries::new(0, 100);
        series.add(times(50, 300, 300), &stats(10, 5), 8);
        // Half an interval and two whole ones: 2 + 4 + 4.
        assert_eq!((&series.directions[READ].ios[..], &series.clone_ns[..]), (&[2, 4, 4][..], &[50, 100, 100][..]));
    }

    #[test]
    fn a_clone_that_began_earlier_may_come_later() {
        let mut series = JobSeries::new(0, 100);
        series.add(times(500, 600, 600), &stats(1, 5), 8);
        series.add(times(300, 600, 600), &stats(3, 7), 8);
        assert_eq!((series.first, &series.directions[READ].ios[..]), (3, &[1, 1, 2][..]));
        assert_eq!(series.directions[READ].latencies, [vec![], vec![], vec![(5, 1), (7, 3)]]);
    }

    #[test]
    fn too_many_intervals_become_longer_ones() {
        let mut series = JobSeries::new(0, 100);
        for index in 1..10 {
            series.add(times(index * 100, index * 100 + 100, index * 100 + 100), &stats(index, 5), 4);
        }
        // Intervals of 400 ns from 0 on: 1 + 2 + 3, 4 to 7, 8 + 9.
        assert_eq!((series.interval_ns, series.first), (400, 0));
        assert_eq!(series.directions[READ].ios, [6, 22, 17]);
        assert_eq!(series.clone_ns, [300, 400, 200]);
        assert_eq!(series.directions[READ].latencies, [[(5, 6)], [(5, 22)], [(5, 17)]]);
        series.drop_latencies();
        assert_eq!(series.n_buckets(), 0);
        series.add(times(1_000, 1_100, 1_100), &ThreadStats::default(), 4);
        assert_eq!(series.directions[READ].ios, [6, 22, 17]);
    }

    #[test]
    fn hosts_are_summed_by_their_nearest_intervals() {
        let of = |interval_ns, start_ns, n_reads: &[u64]| {
            let mut series = JobSeries::new(0, interval_ns);
            for (index, n_reads) in (0..).zip(n_reads) {
                let start_ns = start_ns + index * interval_ns;
                series.add(times(start_ns, start_ns + interval_ns, start_ns + interval_ns), &stats(*n_reads, 5), 8);
            }
            series
        };
        let mut all = of(100, 0, &[10, 20, 30]);
        all.add_course(&of(100, 0, &[1, 2, 3]), 49, 8);
        all.add_course(&of(100, 0, &[1, 2, 3]), 51, 8);
        let read = &all.directions[READ];
        assert_eq!((&read.ios[..], &all.clone_ns[..]), (&[11, 23, 35, 3][..], &[200, 300, 300, 100][..]));
        assert_eq!(read.latencies, [[(5, 11)], [(5, 23)], [(5, 35)], [(5, 3)]]);
        // Longer intervals by a power of two: those here become as long.
        all.add_course(&of(200, 0, &[100, 0]), 0, 8);
        assert_eq!((all.interval_ns, &all.directions[READ].ios[..]), (200, &[134, 38][..]));
        // Shorter ones fit in; others are spread.
        all.add_course(&of(100, 0, &[1, 1, 0, 0]), 0, 8);
        assert_eq!(all.directions[READ].ios, [136, 38]);
        all.add_course(&of(600, 0, &[30]), 0, 8);
        assert_eq!(all.directions[READ].ios, [146, 48, 10]);
        all.add_course(&of(200, 0, &[1]), u64::MAX, 8);
        assert_eq!(all.directions[READ].ios.iter().sum::<u64>(), 205);
        all.add_course(&JobSeries { interval_ns: 0, ..JobSeries::default() }, 5, 8);
    }

    #[test]
    fn hostile_times_take_no_memory() {
        let mut series = JobSeries::new(0, 1);
        series.add(times(0, 1, 1), &stats(1, 5), 8);
        series.add(times(u64::MAX - 5, u64::MAX, u64::MAX), &stats(2, 5), 8);
        series.add(times(9, 3, 2), &stats(1, 5), 8);
        assert!(series.clone_ns.len() <= 8);
        assert_eq!(series.directions[READ].ios.iter().sum::<u64>(), 4);
    }

    proptest! {
        /// Whatever is added, in whatever order: sums are kept, and the number of intervals is bounded.
        #[test]
        fn nothing_is_lost(
            stretches in prop::collection::vec((0u64..1 << 40, 0u64..1 << 30, 0u64..1 << 30, 0u64..50), 1..60),
            most in 2usize..40,
        ) {
            let mut series = JobSeries::new(0, 1 << 20);
            let (mut n_ios, mut time_ns) = (0, 0);
            for (start_ns, length_ns, late_ns, n_reads) in stretches {
                let due_ns = start_ns + length_ns;
                series.add(times(start_ns, due_ns, due_ns + late_ns), &stats(n_reads, n_reads), most);
                n_ios += n_reads;
                time_ns += length_ns + late_ns;
                prop_assert!(series.clone_ns.len() <= most);
            }
            let read = &series.directions[READ];
            prop_assert_eq!(series.clone_ns.iter().sum::<u64>(), time_ns);
            prop_assert_eq!(read.ios.iter().sum::<u64>(), n_ios);
            prop_assert_eq!(read.bytes.iter().sum::<u64>(), n_ios * 4096);
            prop_assert_eq!(read.latencies.iter().flatten().map(|(_, count)| count).sum::<u64>(), n_ios);
            prop_assert!(read.ios.is_empty() || read.ios.len() == series.clone_ns.len());
            let text = serde_json::to_string(&series).expect("serialises");
            prop_assert_eq!(serde_json::from_str::<JobSeries>(&text).expect("reads back"), series);
        }
    }

    #[test]
    fn pairs_begin_at_even_numbers() {
        let sums = |values: &[u64], is_odd| halved(values, is_odd, |sum, value| *sum += value);
        assert_eq!(sums(&[1, 2, 3, 4], false), [3, 7]);
        assert_eq!(sums(&[1, 2, 3, 4], true), [1, 5, 4]);
        assert_eq!(sums(&[1, 2, 3], false), [3, 3]);
        assert_eq!([sums(&[], false), sums(&[], true)], [[0; 0]; 2]);
    }
}
