//! Completion latencies of I/Os that were done while they were handed over.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::duration_text;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "latency-without-submission",
    title: "The latencies leave out the handing over, which took longer",
    severity: Severity::Misleading,
    what: "The mean submission latency (slat) and the mean whole latency (lat) of each direction, of jobs on files or devices with an \
           asynchronous engine and iodepth=1. It is reported above one half; of a higher depth, submission-blocked speaks.",
    why: "Percentiles are those of the completion latency, which begins when the I/O has been handed over. Buffered I/O, writes that extend \
          a file and fast devices are done by then, so that hardly anything is left to measure: microseconds become nanoseconds.",
    example: "--name=a --ioengine=libaio --rw=randread --size=1g",
    cure: "Use --ioengine=psync, whose completion latency is the whole of it, or read lat instead of clat.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case: &AuditInput<'_>| case.jobs.iter().flat_map(of_job).collect(),
};

const SHARE: f64 = 0.5;
const LEAST_IOS: u64 = 100;

fn of_job(job: &AuditedJob<'_>) -> Vec<Observation> {
    if job.spec.queue.iodepth != 1 || job.engine.is_inline() || !job.has_files() {
        return Vec::new();
    }
    let directions = [DataDirection::Read, DataDirection::Write, DataDirection::Trim];
    directions.into_iter().filter_map(|direction| of_direction(job, direction)).collect()
}

fn of_direction(job: &AuditedJob<'_>, direction: DataDirection) -> Option<Observation> {
    let figures = job.figures(direction)?;
    let (slat, lat) = (&figures.slat, &figures.lat);
    // Neither is measured where the options switch it off.
    if lat.n_samples < LEAST_IOS || slat.n_samples != lat.n_samples {
        return None;
    }
    let (slat_ns, lat_ns) = (slat.sum_ns as f64 / slat.n_samples as f64, lat.sum_ns as f64 / lat.n_samples as f64);
    if slat_ns <= lat_ns * SHARE {
        return None;
    }
    let explanation = format!(
        "An I/O ({}) took {} on average, {} of that while it was handed over. The percentiles begin after that, and show what was left.",
        direction.name(),
        duration_text(lat_ns),
        duration_text(slat_ns)
    );
    let evidence = vec![Measured::seconds("mean slat", slat_ns / 1e9), Measured::seconds("mean lat", lat_ns / 1e9)];
    Some(Observation::of(job, evidence, explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    fn scene(engine: &str, slat_us: u64, clat_us: u64) -> TestRun {
        let mut job = job("a", DirectionMix::Write);
        engine.clone_into(&mut job.engine.name);
        let mut scene = TestRun::new(job);
        scene.latencies_of_writes(slat_us, clat_us);
        scene
    }

    #[test]
    fn half_of_the_latency_is_the_border() {
        assert_eq!(scene("libaio", 301, 300).found(), ["latency-without-submission"]);
        for (engine, slat_us, clat_us) in [("libaio", 300, 300), ("psync", 301, 300)] {
            assert_eq!(scene(engine, slat_us, clat_us).found(), Vec::<String>::new(), "{engine} {slat_us} {clat_us}");
        }
        let finding = scene("io_uring", 80, 1).finding("latency-without-submission");
        assert!(finding.explanation.starts_with("An I/O (write) took 81.0 us on average, 80.0 us"), "{finding:?}");
    }
}
