//! Data faster than memory can be copied.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_spec::engines::Data;
use ferrio_stats::{Measured, Severity, WorkerRecord, per_second};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "faster-than-memory",
    title: "The data was faster than memory can be copied",
    severity: Severity::Wrong,
    what: "The bandwidth of each worker in one direction, and the rate at which one CPU copies memory within its caches, which ferrio \
           measures after runs with a job above 16 GB a second. It is reported above three times that rate, of buffered I/O and of targets without a device.",
    why: "The kernel copies the data of such I/O between its memory and that of the job, by the CPU of the job. Data that is faster was not moved.",
    example: "--name=a --filename=/dev/null --rw=write --bs=1m --size=100g --ioengine=psync --scramble_buffers=0",
    cure: "Use a target that keeps its data, and compare the time of the run with another clock.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

/// The kernel may copy somewhat faster than a program.
const TIMES: f64 = 3.0;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let copy = case.record.evidence.memory_copy.as_ref().map(|copy| copy.bytes_per_sec);
    case.jobs.iter().filter_map(|job| of_job(job, copy?)).collect()
}

fn of_job(job: &AuditedJob<'_>, copy_rate: u64) -> Option<Observation> {
    // A device puts data of direct I/O into memory by itself.
    let is_copied = job.is_buffered() || job.has_files() && job.places.iter().all(|place| place.device.is_none());
    if !is_copied || job.engine.data != Data::Kept || copy_rate == 0 {
        return None;
    }
    let of_direction =
        |direction| (direction, job.workers.iter().map(|worker| rate(worker, direction)).fold(0.0, f64::max));
    let mut too_fast: Vec<(DataDirection, f64)> = DataDirection::ALL.into_iter().map(of_direction).collect();
    too_fast.retain(|(_, rate)| *rate > copy_rate as f64 * TIMES);
    let (direction, rate) = too_fast.iter().copied().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let explanation = format!(
        "A worker claims {} a second, and a CPU of this machine copies {}: the data was not moved.",
        text::bytes(rate as u64),
        text::bytes(copy_rate)
    );
    let evidence = vec![
        Measured::bytes("a second, by a worker", rate as u64),
        Measured::bytes("copied by a CPU a second", copy_rate),
    ];
    let found = Observation::of(job, evidence, explanation);
    Some(if too_fast.len() == 1 { found.about(direction) } else { found })
}

/// Bytes a second of a worker in a direction.
fn rate(worker: &WorkerRecord, direction: DataDirection) -> f64 {
    let figures = &worker.stats.directions[direction];
    per_second(figures.bytes, figures.runtime_ns)
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::MemoryCopy;

    #[test]
    fn data_that_no_cpu_copies_is_told() {
        // The job does 10 MiB a second.
        let is_told = |bytes_per_sec: u64, device: Option<&str>| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            scene.places[0].device = device.map(str::to_owned);
            scene.record.evidence.memory_copy = Some(MemoryCopy { bytes_per_sec });
            scene.found().contains(&"faster-than-memory".to_owned())
        };
        assert!(is_told(3 * MIB, None));
        assert!(!is_told(4 * MIB, None) && !is_told(MIB, Some("vda")));
    }
}
