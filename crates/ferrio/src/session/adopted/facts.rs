//! What a report says about its own figures.
//!
//! Must not know: options, disks. Start reading at [`of`].

use ferrio_formats::{IoKind, JobResult, RunResult, SteadyOutcome};
use ferrio_stats::{ReportedFacts, ReportedRate, ReportedRow, ReportedSteady};
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

pub(super) fn row(worker_number: u32, row: &JobResult) -> ReportedRow {
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
    }
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
