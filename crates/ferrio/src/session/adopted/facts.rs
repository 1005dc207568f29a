//! What a report says about its own figures.
//!
//! Must not know: options, disks. Start reading at [`of`].

use ferrio_formats::{IoKind, JobResult, LatencyFigures, RunResult, SteadyOutcome};
use ferrio_stats::{
    ReportedClass, ReportedFacts, ReportedMisfit, ReportedRate, ReportedRow, ReportedStatistic, ReportedSteady,
};
use ferrio_units::{DataDirection, PerDirection};

/// The facts of the whole report; rows and disks are entered by others.
pub(super) fn of(result: &RunResult) -> ReportedFacts {
    let steady = |outcome: &SteadyOutcome| ReportedSteady {
        job: outcome.job.clone(),
        is_attained: outcome.is_attained,
        mean_ios_per_sec: outcome.mean_ios_per_sec,
    };
    ReportedFacts {
        lacks_options: result.gaps.lacks_options,
        has_whole_us: result.gaps.has_whole_us,
        n_no_numbers: result.gaps.n_no_numbers,
        steady: result.steady.iter().map(steady).collect(),
        ..ReportedFacts::default()
    }
}

/// `is_text`: its figures are rounded, down to whole milliseconds.
pub(super) fn row(worker_number: u32, row: &JobResult, is_text: bool) -> ReportedRow {
    let rate = |direction: DataDirection| {
        let figures = row.directions[direction].as_ref()?;
        Some(ReportedRate { ios_per_sec: figures.ios_per_sec, bytes_per_sec: figures.bytes_per_sec })
    };
    ReportedRow {
        worker_number,
        n_members: row.n_members,
        most_in_flight: most_in_flight(row),
        rates: PerDirection(DataDirection::ALL.map(rate)),
        percents: percents(row),
        misfit: misfit(row, if is_text { TEXT_ROUNDED_NS } else { JSON_ROUNDED_NS }).map(Box::new),
        classes: classes(row),
    }
}

/// The first two statistics of a latency of which one is below another one that is smaller in each distribution.
fn misfit(row: &JobResult, rounded_ns: f64) -> Option<ReportedMisfit> {
    row.kinds().find_map(|(kind, figures)| {
        let latencies = [("slat", &figures.slat), ("clat", &figures.clat), ("lat", &figures.lat)];
        latencies.into_iter().find_map(|(name, latency)| {
            let (below, above) = out_of_order(latency.as_ref()?, rounded_ns)?;
            Some(ReportedMisfit { of: kind.name().to_owned(), latency: name.to_owned(), below, above })
        })
    })
}

/// Reports round: statistics that differ by no more than this part and the unit of their format may be equal.
const ROUNDED_PART: f64 = 0.05;
/// A millisecond is the largest unit of latencies in fio's text.
const TEXT_ROUNDED_NS: f64 = 1e6;
const JSON_ROUNDED_NS: f64 = 1e3;

fn out_of_order(latency: &LatencyFigures, rounded_ns: f64) -> Option<(ReportedStatistic, ReportedStatistic)> {
    let statistic = |name: &str, ns: f64| ReportedStatistic { name: name.to_owned(), ns };
    let (least, mean, most) = (latency.min_ns as f64, latency.mean_ns, latency.max_ns as f64);
    let moments = [statistic("minimum", least), statistic("mean", mean), statistic("maximum", most)];
    let all = latency.percentiles.iter().map(|(percent, ns)| statistic(&format!("p{percent}"), *ns as f64));
    let percentiles: Vec<ReportedStatistic> = all.chain([statistic("maximum", most)]).collect();
    // Percentiles have one unit, so that no rounding changes their order.
    let of_percentiles = |pair: &[ReportedStatistic], is_last: bool| {
        let rounded = if is_last { pair[0].ns * (1.0 - ROUNDED_PART) - rounded_ns } else { pair[0].ns };
        pair[1].ns < rounded
    };
    let n_pairs = percentiles.len().saturating_sub(1);
    let mut pairs = percentiles.windows(2).enumerate();
    let found = pairs
        .find(|(at, pair)| of_percentiles(pair, at + 1 == n_pairs))
        .map(|(_, pair)| pair)
        .or_else(|| moments.windows(2).find(|pair| pair[1].ns < pair[0].ns * (1.0 - ROUNDED_PART) - rounded_ns))?;
    Some((found[1].clone(), found[0].clone()))
}

fn classes(row: &JobResult) -> Vec<ReportedClass> {
    let told = row.latency_classes.iter();
    let mut all: Vec<_> =
        told.map(|class| ReportedClass { up_to_ns: class.up_to_ns, percent: class.percent }).collect();
    all.sort_by_key(|class| class.up_to_ns.unwrap_or(u64::MAX));
    all
}

/// The percentiles of all latencies of a row; `None`: a latency has its distribution.
fn percents(row: &JobResult) -> Option<Vec<f64>> {
    let kinds = IoKind::ALL.into_iter().filter_map(|kind| row.get(kind));
    let latencies = kinds.flat_map(|figures| [&figures.slat, &figures.clat, &figures.lat].into_iter().flatten());
    let mut told: Vec<f64> = Vec::new();
    for latency in latencies {
        if !latency.bins.is_empty() {
            return None;
        }
        told.extend(latency.percentiles.iter().map(|(percent, _)| percent));
    }
    told.sort_by(f64::total_cmp);
    told.dedup();
    Some(told)
}

/// The upper end of the highest class of depths that has I/Os. The class `16` has those from 16 to 31, the last one has no end.
fn most_in_flight(row: &JobResult) -> Option<u32> {
    let (name, _) = row.depths.iter().rfind(|(_, share)| *share > 0.0)?;
    let start: u32 = name.parse().ok()?;
    start.checked_mul(2).map(|end| end - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_that_no_distribution_has_are_found() {
        const MS: u64 = 1_000_000;
        let latency = |[min_ns, mean_ns, max_ns]: [u64; 3], percentiles: &[(f64, u64)]| LatencyFigures {
            n_samples: 1000,
            min_ns,
            max_ns,
            mean_ns: mean_ns as f64,
            percentiles: percentiles.to_vec(),
            ..LatencyFigures::default()
        };
        let found = |latency: &LatencyFigures| {
            out_of_order(latency, TEXT_ROUNDED_NS).map(|(below, above)| format!("{} below {}", below.name, above.name))
        };
        assert_eq!(found(&latency([MS, 5 * MS, 20 * MS], &[(50.0, 4 * MS), (99.0, 19 * MS)])), None);
        assert_eq!(found(&latency([MS, 5 * MS, 20 * MS], &[(50.0, 4 * MS), (99.0, 4 * MS), (99.9, 20 * MS)])), None);
        let swapped = latency([MS, 5 * MS, 20 * MS], &[(50.0, 4 * MS), (99.0, 3 * MS)]);
        assert_eq!(found(&swapped).as_deref(), Some("p99 below p50"));
        let lowered = latency([MS, 5 * MS, 8 * MS], &[(50.0, 4 * MS), (99.0, 19 * MS)]);
        assert_eq!(found(&lowered).as_deref(), Some("maximum below p99"));
        // 20 ms, of which 5 % and a millisecond are rounding.
        assert_eq!(found(&latency([MS, 5 * MS, 18 * MS], &[(99.0, 20 * MS)])), None);
        assert_eq!(found(&latency([MS, 30 * MS, 20 * MS], &[])).as_deref(), Some("maximum below mean"));
        assert_eq!(found(&latency([10 * MS, 5 * MS, 20 * MS], &[])).as_deref(), Some("mean below minimum"));
    }

    #[test]
    fn classes_of_depths_have_upper_ends() {
        for (shares, expected) in [
            (&[("1", 100.0), ("2", 0.0)][..], Some(1)),
            (&[("1", 0.1), ("16", 99.9), ("32", 0.0), (">=64", 0.0)][..], Some(31)),
            (&[("1", 0.1), (">=64", 99.9)][..], None),
            (&[("1", 0.0)][..], None),
            (&[][..], None),
        ] {
            let depths = shares.iter().map(|(name, share)| ((*name).to_owned(), *share)).collect();
            assert_eq!(most_in_flight(&JobResult { depths, ..JobResult::default() }), expected, "{shares:?}");
        }
    }
}
