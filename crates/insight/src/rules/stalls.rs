//! Times in which nothing completed.

use super::rate_fell::free_courses;
use super::{FindingRule, Observation};
use crate::case::{Case, CaseJob};
use crate::text;
use ferrio_stats::{Measured, Severity};

pub(super) const RULE: FindingRule = FindingRule {
    id: "stalls",
    title: "Nothing completed for a while",
    severity: Severity::Misleading,
    what: "The I/Os of a job by interval (100 ms, longer in long runs). It speaks of three and more intervals in a row in which none of its \
           clones completed an I/O, where half of the others had 20 I/Os and more; not of jobs that something holds back on purpose.",
    why: "A mean hides a stall, and so do percentiles: all the I/Os that would have been slow were not issued, and one slow I/O in flight \
          stands for them.",
    example: "--name=a --ioengine=sim --sim_stall=1s/600ms --rw=randread --size=1g --time_based --runtime=4",
    cure: "Look at the longest latency and at the course of the run (--output-format=jsonl); a rate with rate_latency=response counts the \
           I/Os that had to wait.",
    find,
};

/// Fewest empty intervals in a row. A busy machine may stop a job for a shorter time.
const LEAST_EMPTY: usize = 3;
/// Half of the intervals with I/O have at least this many I/Os, so that an empty one is no chance.
const LEAST_IOS: f64 = 20.0;

fn find(case: &Case<'_>) -> Vec<Observation> {
    free_courses(case).filter_map(|(job, seconds, ios)| of_job(job, seconds, &ios)).collect()
}

fn of_job(job: &CaseJob<'_>, interval_secs: f64, ios: &[f64]) -> Option<Observation> {
    let usual = usual(ios).filter(|usual| *usual >= LEAST_IOS)?;
    let stalls: Vec<usize> = ios
        .chunk_by(|first, second| (*first > 0.0) == (*second > 0.0))
        .filter(|row| row[0] <= 0.0)
        .map(<[f64]>::len)
        .collect();
    let long = || stalls.iter().copied().filter(|length| *length >= LEAST_EMPTY);
    let (n_stalls, longest) = (long().count(), long().max()?);
    let seconds = |n_intervals: usize| n_intervals as f64 * interval_secs;
    let explanation = format!(
        "{} no I/O of the job completed for {}{} s, while it did {} I/Os a second otherwise. The mean and the percentiles hide it.",
        if n_stalls == 1 { "Once".to_owned() } else { format!("{n_stalls} times") },
        if n_stalls == 1 { "" } else { "up to " },
        text::short(seconds(longest)),
        text::short(usual / interval_secs)
    );
    let evidence = vec![
        Measured::count("stalls", n_stalls as f64),
        Measured::seconds("longest", seconds(longest)),
        Measured::seconds("all together", seconds(long().sum())),
    ];
    Some(Observation::of(job.name, evidence, explanation))
}

/// The median of the intervals in which something completed.
fn usual(ios: &[f64]) -> Option<f64> {
    let mut sorted: Vec<f64> = ios.iter().copied().filter(|n_ios| *n_ios > 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::JobSeries;
    use ferrio_units::DataDirection;

    /// A job of so many I/Os per interval that stalls for so many intervals.
    fn scene(n_ios: u64, n_empty: usize) -> TestRun {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let mut series = JobSeries { clone_ns: vec![100_000_000; 50], ..JobSeries::new(0, 100_000_000) };
        let mut ios = vec![n_ios; 50];
        ios[20..20 + n_empty].fill(0);
        series.directions[DataDirection::Read].ios = ios;
        scene.record.series.push(series);
        scene
    }

    #[test]
    fn three_empty_intervals_are_told() {
        assert_eq!(scene(100, 2).found(), Vec::<String>::new());
        assert_eq!(scene(100, 3).found(), ["stalls"]);
        let finding = scene(100, 5).finding("stalls");
        assert!(
            finding
                .explanation
                .starts_with("Once no I/O of the job completed for 0.5 s, while it did 1,000 I/Os a second"),
            "{}",
            finding.explanation
        );
    }

    /// A slow device has empty intervals without a stall.
    #[test]
    fn a_slow_device_is_no_stall() {
        assert_eq!(scene(19, 5).found(), Vec::<String>::new());
        assert_eq!(scene(20, 5).found(), ["stalls"]);
    }
}
