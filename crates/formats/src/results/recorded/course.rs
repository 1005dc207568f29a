//! The course of a job in a record, as series.
//!
//! A record has intervals of equal length, with counts. The job begins and ends within the first and the last of them.
//! Must not know: totals, formats. Start reading at [`time_series`].

use crate::results::{
    JoinFigures, LatencyCounts, LatencyHeat, LatencyKind, Quantity, TimeBase, TimeBin, TimeInterval, TimeSeries,
};
use ferrio_stats::histogram::{N_FULL_BUCKETS, bucket_latency_ns, full_bucket_index};
use ferrio_stats::{DirectionSeries, JobSeries, LatencyStat, ThreadStats};
use ferrio_units::DataDirection;

const NS_PER_SEC: f64 = 1e9;

/// Start and end on the clock of the run, nanoseconds.
type Reach = (u64, u64);

/// The course of a job with a number of clones: rates and latencies of each direction. `reach_ns` is when the wall clock says that its
/// I/O began and ended.
pub(super) fn time_series(
    series: &JobSeries,
    n_clones: usize,
    total: &ThreadStats,
    reach_ns: Option<Reach>,
) -> Vec<TimeSeries> {
    let times = times(series, n_clones, reach_ns);
    let mut all = Vec::new();
    for direction in DataDirection::ALL {
        let course = &series.directions[direction];
        for (quantity, counts) in [(Quantity::Iops, &course.ios), (Quantity::Bandwidth, &course.bytes)] {
            if counts.iter().any(|count| *count > 0) {
                all.push(rates(&times, counts, TimeSeries::new(quantity, direction, series.interval_ns)));
            }
        }
        let latency = TimeSeries::new(Quantity::Latency(LatencyKind::Completion), direction, 1);
        all.extend(latencies(&times, course, latency, &total.directions[direction].clat));
    }
    if series.syncs.ios.iter().any(|count| *count > 0) {
        let of_syncs = |quantity, cell_ns| TimeSeries::new(quantity, DataDirection::Write, cell_ns);
        all.push(rates(&times, &series.syncs.ios, of_syncs(Quantity::Syncs, series.interval_ns)));
        all.extend(latencies(&times, &series.syncs, of_syncs(Quantity::SyncLatency, 1), &total.sync));
    }
    for series in &mut all {
        series.base = TimeBase::Run(0);
    }
    all
}

fn rates(times: &[Option<Reach>], counts: &[u64], mut series: TimeSeries) -> TimeSeries {
    for (time, count) in times.iter().zip(counts) {
        if let Some((start_ns, end_ns)) = *time {
            let seconds = (end_ns - start_ns) as f64 / NS_PER_SEC;
            series.add_rate(start_ns, end_ns, *count as f64 / seconds, usize::MAX);
        }
    }
    series.intervals.join_short_end();
    series
}

fn latencies(
    times: &[Option<Reach>],
    course: &DirectionSeries,
    mut series: TimeSeries,
    whole: &LatencyStat,
) -> Option<TimeSeries> {
    let mut heat = LatencyHeat::new(1);
    for (time, buckets) in times.iter().zip(&course.latencies) {
        let Some((start_ns, end_ns)) = *time else { continue };
        let (mut counts, mut bin) = (LatencyCounts::default(), TimeBin::default());
        for (bucket, count) in buckets.iter().filter(|(bucket, _)| usize::from(*bucket) < N_FULL_BUCKETS) {
            counts.add(*bucket, *count);
            bin.join(&TimeBin::of_many(bucket_latency_ns(usize::from(*bucket)) as f64, *count));
        }
        if bin.n > 0 {
            series.intervals.add(start_ns, end_ns, &bin, usize::MAX);
            heat.columns.add(start_ns, end_ns, &counts, usize::MAX);
        }
    }
    show_slowest(&mut series, whole);
    series.heat = Some(heat);
    (!series.intervals.is_empty()).then_some(series)
}

/// The slowest I/O is known itself: it is in the interval with the highest bucket. No other was slower.
fn show_slowest(series: &mut TimeSeries, whole: &LatencyStat) {
    let slowest_ns = whole.max_ns as f64;
    if whole.n_samples == 0 {
        return;
    }
    let highest = series.intervals.all().iter().map(|interval| interval.figures.max).fold(0.0, f64::max);
    let is_its_bucket = full_bucket_index(highest as u64) == full_bucket_index(whole.max_ns);
    for bin in series.intervals.all_mut() {
        if is_its_bucket && bin.max >= highest {
            bin.max = slowest_ns;
        }
        bin.max = bin.max.min(slowest_ns);
        bin.min = bin.min.min(bin.max);
    }
}

/// Start and end of each interval as far as the job ran; `None`: it did not.
fn times(series: &JobSeries, n_clones: usize, reach_ns: Option<Reach>) -> Vec<Option<Reach>> {
    let interval_ns = series.interval_ns.max(1);
    // A record may say anything: its last interval has to begin before the end of time.
    let first = series.first.min(u64::MAX / 8 / interval_ns);
    let last = series.clone_ns.len().saturating_sub(1);
    let of_interval = |(index, clone_ns): (usize, &u64)| {
        let start_ns = (first + index as u64).saturating_mul(interval_ns).min(u64::MAX / 8);
        let whole = TimeInterval { start_ns, end_ns: start_ns.saturating_add(interval_ns), figures: () };
        if *clone_ns == 0 {
            return None;
        }
        let neighbour_ns = match index {
            0 => series.clone_ns.get(1),
            _ => series.clone_ns.get(index - 1),
        };
        // As many clones ran here as in the next interval, and all of them if there is none.
        let n_active =
            neighbour_ns.map_or(n_clones as u64, |ns| ns.div_ceil(interval_ns)).clamp(1, n_clones.max(1) as u64);
        let (fewest_ns, most_ns) = ((clone_ns / n_active).clamp(1, interval_ns), (*clone_ns).min(interval_ns));
        // The last I/Os of few clones, as the others had ended before, are no fall of the rate.
        let is_drain = index == last && neighbour_ns.is_some_and(|ns| *clone_ns < ns / 4);
        let told_ns =
            reach_ns.filter(|_| !is_drain).map_or(fewest_ns, |(begin_ns, end_ns)| whole.overlap_ns(begin_ns, end_ns));
        let used_ns = told_ns.clamp(fewest_ns, most_ns);
        Some(match index {
            // A job of one interval begins where the clock says.
            0 if last == 0 => {
                let begin_ns = reach_ns.map_or(whole.start_ns, |(begin_ns, _)| begin_ns);
                let begin_ns = begin_ns.clamp(whole.start_ns, whole.end_ns - used_ns);
                (begin_ns, begin_ns + used_ns)
            }
            0 => (whole.end_ns - used_ns, whole.end_ns),
            _ if index == last => (whole.start_ns, whole.start_ns + used_ns),
            _ => (whole.start_ns, whole.end_ns),
        })
    };
    series.clone_ns.iter().enumerate().map(of_interval).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_units::PerDirection;

    const MS: u64 = 1_000_000;

    /// A job with reads in intervals of 100 ms: the time of its clones and its I/Os in each.
    fn series(clone_ns: &[u64], ios: &[u64]) -> JobSeries {
        let read = DirectionSeries { ios: ios.to_vec(), bytes: vec![0; ios.len()], latencies: Vec::new() };
        let directions = PerDirection([read, DirectionSeries::default(), DirectionSeries::default()]);
        JobSeries { interval_ns: 100 * MS, clone_ns: clone_ns.to_vec(), directions, ..JobSeries::default() }
    }

    /// End of each interval, milliseconds, and its rate.
    fn rates(series: &JobSeries, n_clones: usize, reach_ns: Option<Reach>) -> Vec<(u64, f64)> {
        let all = time_series(series, n_clones, &ThreadStats::default(), reach_ns);
        let of_interval =
            |one: &TimeInterval<TimeBin>| (one.end_ns / MS, one.figures.mean().unwrap_or_default().round());
        all[0].intervals.all().iter().map(of_interval).collect()
    }

    /// 100 I/Os in each tenth of a second, of which the last ends in its middle, or after a hundredth of it.
    #[test]
    fn the_ends_of_a_job_are_no_drop_of_its_rate() {
        let ending = |last_ns: u64, n_last| series(&[200 * MS, 200 * MS, 2 * last_ns], &[100, 100, n_last]);
        assert_eq!(rates(&ending(50 * MS, 50), 2, None), [(100, 1000.0), (200, 1000.0), (250, 1000.0)]);
        // The drain of a queue, and the I/Os of the last moment, are part of the interval before.
        assert_eq!(rates(&ending(MS, 3), 2, None), [(100, 1000.0), (201, 1020.0)]);
    }

    /// 24 clones with 10 I/Os a second each, of which two wait for their last I/O for 54 ms.
    #[test]
    fn the_last_ios_of_few_clones_are_no_drop_of_the_rate() {
        let drain = series(&[2400 * MS, 2400 * MS, 108 * MS], &[24, 24, 2]);
        assert_eq!(rates(&drain, 24, Some((0, 254 * MS))), [(100, 240.0), (204, 249.0)]);
        // Six of them went on as before.
        let going_on = series(&[2400 * MS, 2400 * MS, 600 * MS], &[24, 24, 6]);
        assert_eq!(rates(&going_on, 24, Some((0, 300 * MS))), [(100, 240.0), (200, 240.0), (300, 60.0)]);
    }

    /// One of two clones ended with the second interval: in the last one there was one.
    #[test]
    fn clones_that_end_one_after_another_do_not_double_the_rate() {
        let both = series(&[200 * MS, 200 * MS, 100 * MS], &[100, 100, 50]);
        let end = Some((0, 300 * MS));
        assert_eq!(rates(&both, 2, end), [(100, 1000.0), (200, 1000.0), (300, 500.0)]);
    }

    /// Ten syncs of 2 ms in the first tenth of a second, none in the next.
    #[test]
    fn syncs_are_a_course_beside_the_data() {
        let mut both = series(&[100 * MS, 100 * MS], &[100, 100]);
        let bucket = full_bucket_index(2 * MS) as u16;
        both.syncs =
            DirectionSeries { ios: vec![10, 0], bytes: vec![0; 2], latencies: vec![vec![(bucket, 10)], vec![]] };
        let all = time_series(&both, 1, &ThreadStats::default(), None);
        let of = |quantity| all.iter().find(|series| series.quantity == quantity).expect("a series");
        let rates: Vec<f64> = of(Quantity::Syncs).filled().filter_map(|(_, bin)| bin.mean()).collect();
        assert_eq!((rates, of(Quantity::Syncs).kind().name()), (vec![100.0, 0.0], "sync"));
        let latency = of(Quantity::SyncLatency);
        let heat = latency.heat.as_ref().map_or(0, LatencyHeat::n_ios);
        assert_eq!((latency.intervals.len(), heat, latency.quantity.is_rate()), (1, 10, false));
    }

    #[test]
    fn a_pause_has_no_rate() {
        let paused = series(&[100 * MS, 0, 100 * MS], &[100, 0, 100]);
        assert_eq!(rates(&paused, 1, None), [(100, 1000.0), (300, 1000.0)]);
        let silent = series(&[100 * MS, 100 * MS, 100 * MS], &[100, 0, 100]);
        assert_eq!(rates(&silent, 1, None), [(100, 1000.0), (200, 0.0), (300, 1000.0)]);
    }
}
