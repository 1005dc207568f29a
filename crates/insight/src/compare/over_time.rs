//! The course of a figure as values of equal weight.
//!
//! Must not know: statistics. Start reading at [`joined`], then [`means`] and [`weighted_means`].

use crate::statistics::weighted;
use ferrio_results::{LatencyHeat, Quantity, TimeBin, TimeSeries};
use std::borrow::Cow;

/// Longer series are shortened, by sums of neighbours: a bootstrap of more values takes longer and tells little more.
const MOST_VALUES: usize = 512;
/// Series of at least this many values go without the first and the last, which may be of a part of an interval.
const LONG_SERIES: usize = 27;
/// Most intervals without a weight, as a share; with more, the weights are those of another log.
const MOST_WITHOUT_WEIGHT: f64 = 0.1;

/// Number of values and their sum in an interval.
type Interval = (f64, f64);

/// The series of all clones of a job as one: rates are summed, latencies joined. `None`: there are none, or they do not fit together.
pub(super) fn joined<'a>(all: &[&'a TimeSeries]) -> Option<Cow<'a, TimeSeries>> {
    match all {
        [] => None,
        [one] => Some(Cow::Borrowed(*one)),
        [first, others @ ..] => {
            // Windows of clones do not end at the same time: an interval has to hold at least one of each.
            let interval_ns = all.iter().map(|one| one.interval_ns.max(2 * spacing_ns(one))).max()?;
            let mut sum = coarse(first, interval_ns);
            for other in others {
                sum = sum_of(&sum, &coarse(other, interval_ns))?;
            }
            Some(Cow::Owned(sum))
        }
    }
}

/// The usual distance of intervals with values, nanoseconds.
fn spacing_ns(series: &TimeSeries) -> u64 {
    let n_filled = series.bins.iter().filter(|bin| bin.n > 0).count().max(1) as u64;
    series.interval_ns.saturating_mul((series.bins.len() as u64).div_ceil(n_filled))
}

/// The series with intervals of at least a length.
fn coarse(series: &TimeSeries, interval_ns: u64) -> TimeSeries {
    let mut series = series.clone();
    while series.interval_ns < interval_ns && series.bins.len() > 1 {
        series.halve();
        if let Some(heat) = &mut series.heat {
            while heat.interval_ns < series.interval_ns && heat.columns.len() > 1 {
                heat.halve();
            }
        }
    }
    series
}

fn sum_of(one: &TimeSeries, other: &TimeSeries) -> Option<TimeSeries> {
    if one.interval_ns != other.interval_ns {
        return None;
    }
    // Only times in which both have values: a rate without one clone is no rate of all.
    let first = one.first.max(other.first);
    let end = |series: &TimeSeries| series.first + series.bins.len() as u64;
    let bin = |series: &TimeSeries, number: u64| series.bins[(number - series.first) as usize];
    let is_rate = !matches!(one.quantity, Quantity::Latency(_));
    let sum = |number: u64| {
        let (mut sum, other) = (bin(one, number), bin(other, number));
        match (sum.mean(), other.mean()) {
            (Some(first), Some(second)) if is_rate => TimeBin::of(first + second),
            (None, _) | (_, None) if is_rate => TimeBin::default(),
            _ => {
                sum.merge(&other);
                sum
            }
        }
    };
    let bins = (first..end(one).min(end(other))).map(sum).collect();
    let heat = one.heat.as_ref().zip(other.heat.as_ref()).and_then(|(one, other)| heat_of(one, other));
    let empty = TimeSeries::new(one.quantity, one.direction, one.interval_ns);
    Some(TimeSeries { bins, first, heat, ..empty })
}

/// The distributions of two clones as one.
fn heat_of(one: &LatencyHeat, other: &LatencyHeat) -> Option<LatencyHeat> {
    if one.interval_ns != other.interval_ns {
        return None;
    }
    let first = one.first.max(other.first);
    let end = |heat: &LatencyHeat| heat.first + heat.columns.len() as u64;
    let column = |number: u64| {
        let mut sum = one.columns[(number - one.first) as usize].clone();
        for (bucket, count) in &other.columns[(number - other.first) as usize] {
            let known: &mut u64 = sum.entry(*bucket).or_default();
            *known = known.saturating_add(*count);
        }
        sum
    };
    let columns = (first..end(one).min(end(other))).map(column).collect();
    Some(LatencyHeat { first, columns, ..*one })
}

/// The mean of each interval.
pub(super) fn means(series: &TimeSeries) -> Vec<f64> {
    let all = series.filled().map(|(_, bin)| (bin.n as f64, bin.sum)).collect();
    shortened(all).into_iter().map(|(n, sum)| sum / n).collect()
}

/// Values around the mean of all I/Os, in which an interval counts as much as it has I/Os: those of the series, or where it has only
/// the means of windows, those of the rates.
pub(super) fn weighted_means(series: &TimeSeries, rates: Option<&TimeSeries>) -> Vec<f64> {
    let by_rate = rates.filter(|_| series.heat.is_none()).and_then(|rates| weighted_by(series, rates));
    let own = || series.filled().map(|(_, bin)| (bin.n as f64, bin.sum)).collect();
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

/// Without the intervals at the ends, and no more than are needed.
fn shortened(mut all: Vec<Interval>) -> Vec<Interval> {
    if all.len() >= LONG_SERIES {
        all.pop();
        all.remove(0);
    }
    while all.len() > MOST_VALUES {
        all = all.chunks_exact(2).map(|pair| (pair[0].0 + pair[1].0, pair[0].1 + pair[1].1)).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_results::LatencyKind;
    use ferrio_units::DataDirection;

    const MS: u64 = 1_000_000;

    /// A window of 500 ms each, as in a log, whose times are off by some milliseconds.
    fn windows(quantity: Quantity, off_ms: u64, values: &[f64]) -> TimeSeries {
        let mut series = TimeSeries::new(quantity, DataDirection::Read, MS);
        for (index, value) in (1..).zip(values) {
            series.add((500 * index + off_ms) * MS, *value, 4096);
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
        assert_eq!(means(&joined(&[&one]).expect("one")), vec![100.0; 78]);
    }

    #[test]
    fn latencies_of_clones_are_joined() {
        let kind = Quantity::Latency(LatencyKind::Completion);
        let series = |latency_ns: u64| {
            let mut series = windows(kind, 0, &[latency_ns as f64; 40]);
            let mut heat = LatencyHeat::new(MS);
            (1..=40_u64).for_each(|index| heat.add(500 * index * MS, latency_ns, 3, 512));
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
