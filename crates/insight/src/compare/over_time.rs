//! The course of a figure as values of equal weight.
//!
//! Must not know: statistics. Start reading at [`joined`], then [`means`] and [`weighted_means`].

use ferrio_formats::{TimeSeries, together};
use ferrio_inference::weighted;
use ferrio_stats::halved;
use std::borrow::Cow;

/// Longer series are shortened, by sums of neighbours: a bootstrap of more values takes longer and tells little more.
const MOST_VALUES: usize = 512;
/// Most intervals of several clones together.
const MOST_INTERVALS: usize = 4096;
/// Most intervals without a weight, as a share; with more, the weights are those of another log.
const MOST_WITHOUT_WEIGHT: f64 = 0.1;

/// Weight of an interval (seconds of a rate, number of latencies), and the sum of its values by weight.
type Interval = (f64, f64);

/// The series of all clones of a job as one: rates are summed, latencies joined, over the time in which all of them ran. `None`: there
/// are none, or they do not fit together.
pub(super) fn joined<'a>(all: &[&'a TimeSeries]) -> Option<Cow<'a, TimeSeries>> {
    if let [one] = all {
        return Some(Cow::Borrowed(*one));
    }
    let mut sum = together(all, MOST_INTERVALS).ok()?;
    // A rate without one clone is no rate of all.
    let reaches: Vec<(u64, u64)> = all.iter().map(|one| one.intervals.reach_ns()).collect::<Option<_>>()?;
    let start_ns = reaches.iter().map(|(start_ns, _)| *start_ns).max()?;
    let end_ns = reaches.iter().map(|(_, end_ns)| *end_ns).min()?;
    sum.keep_within(start_ns, end_ns);
    (!sum.intervals.is_empty()).then_some(Cow::Owned(sum))
}

/// The usual distance of intervals with values, nanoseconds.
fn spacing_ns(series: &TimeSeries) -> u64 {
    series.intervals.usual_length_ns()
}

/// The mean of each interval.
pub(super) fn means(series: &TimeSeries) -> Vec<f64> {
    let all = series.filled().map(|(_, bin)| (bin.weight, bin.sum)).collect();
    shortened(all).into_iter().map(|(n, sum)| sum / n).collect()
}

/// Values around the mean of all I/Os, in which an interval counts as much as it has I/Os: those of the series, or where it has only
/// the means of windows, those of the rates.
pub(super) fn weighted_means(series: &TimeSeries, rates: Option<&TimeSeries>) -> Vec<f64> {
    let by_rate = rates.filter(|_| series.heat.is_none()).and_then(|rates| weighted_by(series, rates));
    let own = || series.filled().map(|(_, bin)| (bin.weight, bin.sum)).collect();
    weighted(&shortened(by_rate.unwrap_or_else(own)))
}

/// Means of windows with the rates of these windows as their numbers of I/Os. `None`: the windows are others.
fn weighted_by(series: &TimeSeries, rates: &TimeSeries) -> Option<Vec<Interval>> {
    let near_ns = spacing_ns(series).max(spacing_ns(rates)) / 2;
    let mut rates = rates.filled().peekable();
    let mut windows = Vec::new();
    let mut n_windows = 0;
    for (time_ns, window) in series.filled() {
        n_windows += 1;
        while rates.next_if(|(of_rate_ns, _)| of_rate_ns.saturating_add(near_ns) < time_ns).is_some() {}
        let rate = rates.peek().filter(|(of_rate_ns, _)| of_rate_ns.abs_diff(time_ns) <= near_ns);
        if let (Some(rate), Some(mean)) = (rate.and_then(|(_, rate)| rate.mean()), window.mean()) {
            windows.push((rate, rate * mean));
        }
    }
    let n_without = (n_windows - windows.len()) as f64;
    let has_weight = windows.iter().any(|(rate, _)| *rate > 0.0);
    (has_weight && n_without <= (MOST_WITHOUT_WEIGHT * f64::from(n_windows as u32)).max(1.0)).then_some(windows)
}

/// No more intervals than are needed; the last one counts as the others do.
fn shortened(mut all: Vec<Interval>) -> Vec<Interval> {
    while all.len() > MOST_VALUES {
        all = halved(&all, false, |sum, one| *sum = (sum.0 + one.0, sum.1 + one.1));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_formats::{LatencyHeat, LatencyKind, Quantity, TimeBase};
    use ferrio_units::DataDirection;

    const MS: u64 = 1_000_000;

    /// A window of 500 ms each, as in a log, whose times are off by some milliseconds.
    fn windows(quantity: Quantity, off_ms: u64, values: &[f64]) -> TimeSeries {
        let mut series = TimeSeries::new(quantity, DataDirection::Read, MS);
        series.base = TimeBase::Run(0);
        for (index, value) in (0..).zip(values) {
            let start_ms = 500 * index + off_ms;
            series.add_rate(start_ms * MS, (start_ms + 500) * MS, *value, 4096);
        }
        series
    }

    #[test]
    fn rates_of_clones_are_summed() {
        let (one, other) = (windows(Quantity::Iops, 0, &[100.0; 80]), windows(Quantity::Iops, 7, &[300.0; 80]));
        let sum = joined(&[&one, &other]).expect("they fit");
        let values = means(&sum);
        assert!(values.len() >= 25 && values.iter().all(|value| (value - 400.0).abs() < 1e-9), "{values:?}");
        assert!(joined(&[]).is_none());
        assert_eq!(means(&joined(&[&one]).expect("one")), vec![100.0; 80]);
    }

    /// A stall at the end of a run is a part of it.
    #[test]
    fn the_last_window_counts() {
        for n in [30, 513] {
            let mut rates = vec![100.0; n];
            rates[n - 1] = 1.0;
            let values = means(&windows(Quantity::Iops, 0, &rates));
            assert!(values.last().is_some_and(|last| *last < 100.0), "{n}: {values:?}");
        }
    }

    #[test]
    fn latencies_of_clones_are_joined() {
        let kind = Quantity::Latency(LatencyKind::Completion);
        let series = |latency_ns: u64| {
            let mut series = windows(kind, 0, &[latency_ns as f64; 40]);
            let mut heat = LatencyHeat::new(MS);
            (0..40_u64).for_each(|index| heat.add(500 * index * MS, latency_ns, 3, 512));
            series.heat = Some(heat);
            series
        };
        let (one, other) = (series(100), series(120));
        let both = joined(&[&one, &other]).expect("they fit");
        assert_eq!(both.heat.as_ref().map(LatencyHeat::total), Some(vec![(100, 120), (120, 120)]));
        assert!(weighted_means(&both, None).iter().all(|value| (value - 110.0).abs() < 1e-9));
    }

    /// Half of the windows are ten times as fast: they hold ten of eleven I/Os.
    #[test]
    fn windows_count_as_much_as_they_have_ios() {
        let latencies: Vec<f64> = (0..100).map(|index| if index % 2 == 0 { 10.0 } else { 100.0 }).collect();
        let rates: Vec<f64> = latencies.iter().map(|latency| 1000.0 / latency).collect();
        let series = windows(Quantity::Latency(LatencyKind::Completion), 3, &latencies);
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let weighted = weighted_means(&series, Some(&windows(Quantity::Iops, 0, &rates)));
        assert!((mean(&weighted) - 200.0 / 11.0).abs() < 1e-6, "{}", mean(&weighted));
        // Rates of other times are no weights.
        let other = weighted_means(&series, Some(&windows(Quantity::Iops, 0, &rates[..30])));
        assert!((mean(&other) - 55.0).abs() < 1e-6, "{}", mean(&other));
    }
}
