//! Looks at the clock that are a large part of each latency.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{LatencyStat, Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::duration_text;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "clock-cost",
    title: "Looks at the clock are a large part of the latencies",
    severity: Severity::Note,
    what: "The time of one look at the clock, which ferrio measures before a run, and the median completion latency of a job on files or devices, with \
           the mean submission latency of engines that have one: there an I/O may end during its submission. It is reported from a fifth of \
           their sum on.",
    why: "A latency is the difference of two looks at the clock, and contains about one of them. Of very fast I/O a good part is then \
          that of the clock.",
    example: "--name=a --ioengine=mmap --rw=randread --bs=64 --size=16m",
    cure: "Compare IOPS instead of latencies, and measure larger blocks or slower targets; --gtod_reduce=1 leaves out most looks.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

const SHARE: f64 = 0.2;

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let look_ns = case.provenance.clock.look_ns.filter(|_| job.has_files())?;
    let usual_latency = |direction| {
        let figures = job.figures(direction)?;
        let completion_ns = figures.clat.percentile(50.0).map(|median| median.latency_ns).filter(|ns| *ns > 0)?;
        Some(completion_ns.saturating_add(mean_ns(&figures.slat)))
    };
    let usual = DataDirection::ALL.into_iter().filter_map(|direction| Some((direction, usual_latency(direction)?)));
    let mut affected = usual.filter(|(_, latency_ns)| look_ns as f64 >= *latency_ns as f64 * SHARE);
    let (direction, first_ns) = affected.next()?;
    let others: Vec<u64> = affected.map(|(_, latency_ns)| latency_ns).collect();
    let latency_ns = others.iter().copied().fold(first_ns, u64::min);
    let explanation = format!(
        "A look at the clock takes {}, and half of the I/Os took no more than about {}: about as much of that is the clock.",
        duration_text(look_ns as f64),
        duration_text(latency_ns as f64)
    );
    let evidence = vec![
        Measured::seconds("look at the clock", look_ns as f64 / 1e9),
        Measured::seconds("median latency", latency_ns as f64 / 1e9),
    ];
    let found = Observation::of(job, evidence, explanation);
    Some(if others.is_empty() { found.about(direction) } else { found })
}

/// 0 where nothing was recorded.
fn mean_ns(latency: &LatencyStat) -> u64 {
    let mean = latency.sum_ns.checked_div(u128::from(latency.n_samples)).unwrap_or(0);
    u64::try_from(mean).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_units::DataDirection;

    #[test]
    fn a_fifth_of_the_median_is_told() {
        // The median is that of a bucket around 300 us.
        let scene = |look_ns: Option<u64>| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            scene.clock.look_ns = look_ns;
            scene.found()
        };
        assert_eq!(scene(Some(61_000)), ["clock-cost"]);
        assert_eq!(scene(Some(59_000)), Vec::<String>::new());
        assert_eq!(scene(None), Vec::<String>::new());
    }

    /// With vsync an I/O on a file in the page cache ends during its submission.
    #[test]
    fn the_submission_counts() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.clock.look_ns = Some(61_000);
        scene.stats().directions[DataDirection::Read].slat.record(10_000);
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
