//! A percentile that rests on a handful of I/Os.

use crate::case::{Case, CaseJob};
use crate::rules::{FindingRule, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "few-samples",
    title: "The 99th percentile rests on few I/Os",
    severity: Severity::Note,
    what: "The number of latencies of a direction. It is reported below 1,000: fewer than ten I/Os took longer than the 99th percentile.",
    why: "A percentile is the value of the slowest few I/Os, and with fewer than ten of them chance decides.",
    example: "--name=a --rw=randread --number_ios=100 --size=1g",
    cure: "Run longer, or look at the median.",
    yields_to: &[],
    find,
};

const LEAST: u64 = 1000;

fn find(case: &Case<'_>) -> Vec<Observation> {
    case.jobs
        .iter()
        .flat_map(|job| DataDirection::ALL.into_iter().filter_map(move |direction| of_job(job, direction)))
        .collect()
}

fn of_job(job: &CaseJob<'_>, direction: DataDirection) -> Option<Observation> {
    let n_samples = job.figures(direction)?.clat.n_samples;
    // Turns of work have a length of their own, and no I/O decides it.
    if job.engine.moves_nothing() || n_samples == 0 || n_samples >= LEAST || !job.spec.reporting.clat_percentiles {
        return None;
    }
    let word = direction.name();
    let beyond = match n_samples / 100 {
        0 => "none lies".to_owned(),
        1 => "one lies".to_owned(),
        n_beyond => format!("{n_beyond} lie"),
    };
    let explanation =
        format!("Of {n_samples} {word} latencies {beyond} beyond the 99th percentile: chance decides what it says.");
    let evidence = vec![Measured::count(&format!("{word} latencies"), n_samples as f64)];
    Some(Observation::of(job, evidence, explanation).about(direction))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::LatencyStat;

    #[test]
    fn a_thousand_latencies_are_enough() {
        let scene = |n_samples: u64| {
            let mut scene = TestRun::new(job("a", DirectionMix::Read));
            let clat = &mut scene.stats().directions.0[0].clat;
            *clat = LatencyStat::new(true);
            (0..n_samples).for_each(|_| clat.record(300_000));
            scene.found()
        };
        assert_eq!(scene(999), ["few-samples"]);
        assert_eq!(scene(1000), Vec::<String>::new());
    }

    #[test]
    fn turns_of_work_have_no_percentile_to_doubt() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        let clat = &mut scene.stats().directions.0[0].clat;
        *clat = LatencyStat::new(true);
        (0..10).for_each(|_| clat.record(300_000));
        assert_eq!(scene.found(), ["few-samples"]);
        "cpuio".clone_into(&mut scene.jobs[0].engine.name);
        assert_eq!(scene.found(), Vec::<String>::new());
    }
}
