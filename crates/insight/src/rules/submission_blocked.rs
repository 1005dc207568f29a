//! Time that passes in handing I/Os over.

use super::{FindingRule, Observation};
use crate::case::{Case, CaseJob};
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(super) const RULE: FindingRule = FindingRule {
    id: "submission-blocked",
    title: "The kernel held the job while it handed I/Os over",
    severity: Severity::Misleading,
    what: "Submission latency (slat) as a share of the whole latency, of jobs with an asynchronous engine and iodepth above 1. It \
           speaks above one half.",
    why: "An asynchronous engine hands I/Os over and goes on. When handing over takes longer than the I/O, something serialises it: \
          buffered I/O, writes that extend a file or convert its extents, a full queue of the device.",
    example: "--name=a --ioengine=libaio --iodepth=32 --rw=randwrite --direct=1 --size=1g",
    cure: "Write the files before the test (--overwrite=1, or a run before), use --direct=1, or a smaller iodepth.",
    find,
};

const SHARE: f64 = 0.5;
const LEAST_IOS: u64 = 100;

fn find(case: &Case<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &Case<'_>, job: &CaseJob<'_>) -> Option<Observation> {
    // These rules say why.
    if super::asynchronous_without_direct::is_affected(job) || super::load_generator_limit::share(case, job).is_some() {
        return None;
    }
    let share = share(job)?;
    let explanation = format!(
        "{share:.0} % of the latency passed while I/Os were handed over: something serialises them, so fewer than {} were in flight.",
        job.spec.queue.iodepth
    );
    let cure = (!job.does(DataDirection::Write)).then(|| "Use --direct=1, or a smaller iodepth.".to_owned());
    Some(Observation { cure, ..Observation::of(job.name, vec![Measured::percent("slat of lat", share)], explanation) })
}

/// Percentage of submission in the latency, if it is the largest part.
pub(super) fn share(job: &CaseJob<'_>) -> Option<f64> {
    let total = job.total.as_ref()?;
    if job.spec.queue.iodepth == 1 || job.engine.is_inline() || !job.has_files() {
        return None;
    }
    let (mut slat, mut lat, mut n_ios) = (0.0, 0.0, 0_u64);
    for direction in [DataDirection::Read, DataDirection::Write] {
        let figures = &total.directions[direction];
        // Neither is measured where the options switch it off.
        if figures.slat.n_samples == figures.lat.n_samples {
            slat += figures.slat.sum_ns as f64;
            lat += figures.lat.sum_ns as f64;
            n_ios = n_ios.saturating_add(figures.lat.n_samples);
        }
    }
    (n_ios >= LEAST_IOS && slat > lat * SHARE).then(|| 100.0 * slat / lat)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::LatencyStat;

    fn scene(slat_us: u64, clat_us: u64) -> TestRun {
        let mut job = job("a", DirectionMix::Write);
        "libaio".clone_into(&mut job.engine.name);
        (job.queue.iodepth, job.queue.low) = (2, 2);
        let mut scene = TestRun::new(job);
        let figures = &mut scene.stats().directions.0[1];
        let latencies =
            [(&mut figures.slat, slat_us), (&mut figures.clat, clat_us), (&mut figures.lat, slat_us + clat_us)];
        for (latency, value_us) in latencies {
            *latency = LatencyStat::new(true);
            (0..25_600).for_each(|_| latency.record(value_us * 1000));
        }
        scene
    }

    #[test]
    fn half_of_the_latency_is_the_border() {
        assert_eq!(scene(700, 699).found(), ["submission-blocked"]);
        assert_eq!(scene(600, 600).found(), Vec::<String>::new());
        let finding = scene(900, 100).finding("submission-blocked");
        assert!(finding.explanation.starts_with("90 % of the latency"), "{}", finding.explanation);
    }
}
