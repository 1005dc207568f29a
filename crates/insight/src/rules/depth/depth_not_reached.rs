//! A depth that was asked for and not reached.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::measures::asked::{is_held_back, mean_depth};
use crate::measures::cpu_time::{throttled_share, waiting_share};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_spec::engines::Completes;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "depth-not-reached",
    title: "Fewer I/Os were in flight than asked for",
    severity: Severity::Misleading,
    what: "The mean number of I/Os in flight of each clone, from the completion latencies and the time (Little's law), and iodepth. It \
           is reported below three quarters of iodepth, of jobs that nothing holds back on purpose (rates, pauses, latency targets).",
    why: "The device had less to do than the job says: it, or the CPU, may have had more to give.",
    example: "--name=a --ioengine=libaio --iodepth=256 --rw=randwrite --bs=4k --direct=1 --size=1g",
    cure: "Take the figures for the depth that was reached, or use more jobs (--numjobs). If CPU/I/O is near p50, the CPU is the limit; the same \
           command without the word run shows slat, the time that submission takes.",
    needs: &[EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &["iodepth"],
    state: MeasuredState::Lasting,
    yields_to: &["depth-beyond-queue", "load-generator-limit", "asynchronous-without-direct", "submission-blocked"],
    find,
};

const SHARE: f64 = 0.75;
/// With fewer I/Os, the mean depends mostly on the filling and draining of the queue.
const LEAST_TURNS: u64 = 20;
/// A shorter job says nothing of its depth, seconds.
const LEAST_SECONDS: f64 = 0.1;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let queue = &job.spec.queue;
    let wanted = f64::from(queue.iodepth);
    // Batches let the queue drain before it is filled again.
    let is_batched = queue.low < queue.iodepth || queue.batch_complete_min > 1;
    // An engine that does nothing has done each I/O at once.
    let is_instant = job.engine.completes == Completes::OnCommit && !job.has_files();
    if queue.iodepth == 1 || job.engine.is_inline() || is_instant || is_batched || is_held_back(job) {
        return None;
    }
    // As much of the depth is lost as of the time in which the job can start I/Os.
    let idle_share = throttled_share(case).or_else(|| waiting_share(case, job));
    if idle_share.is_some_and(|share| share > 1.0 - SHARE) {
        return None;
    }
    let total = job.total.as_ref()?;
    let directions = [DataDirection::Read, DataDirection::Write, DataDirection::Trim];
    let n_ios = sum(directions.iter().map(|direction| total.directions[*direction].clat.n_samples));
    let seconds = directions.iter().map(|direction| job.seconds(*direction)).fold(0.0, f64::max);
    if n_ios < LEAST_TURNS.saturating_mul(u64::from(queue.iodepth)).saturating_mul(job.workers.len() as u64)
        || seconds < LEAST_SECONDS
    {
        return None;
    }
    let mean = mean_depth(job)?;
    if mean >= wanted * SHARE {
        return None;
    }
    let explanation = format!(
        "{} I/Os of each job were to be in flight, on average {} were. The device or the CPU may have had more to give.",
        queue.iodepth,
        text::short(mean)
    );
    let evidence = vec![Measured::count("iodepth", wanted), Measured::count("mean depth", mean)];
    Some(Observation::of(job, evidence, explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::LatencyStat;

    /// 25,600 I/Os in 10 s of so many microseconds each: 0.00256 in flight for each microsecond.
    fn scene(iodepth: u32, latency_us: u64) -> TestRun {
        let mut job = job("a", DirectionMix::Read);
        "libaio".clone_into(&mut job.engine.name);
        (job.queue.iodepth, job.queue.low, job.queue.batch_submit) = (iodepth, iodepth, 1);
        let mut scene = TestRun::new(job);
        let clat = &mut scene.stats().directions.0[0].clat;
        *clat = LatencyStat::new(true);
        (0..25_600).for_each(|_| clat.record(latency_us * 1000));
        scene
    }

    #[test]
    fn three_quarters_are_enough() {
        // 3125 us: 8 in flight.
        assert_eq!(scene(10, 3125).found(), Vec::<String>::new());
        assert_eq!(scene(11, 3125).found(), ["depth-not-reached"]);
        let finding = scene(32, 3125).finding("depth-not-reached");
        assert!(
            finding.explanation.contains("32 I/Os of each job were to be in flight, on average 8 were"),
            "{}",
            finding.explanation
        );
    }

    #[test]
    fn a_job_that_is_held_back_on_purpose_is_left_alone() {
        let mut scene = scene(32, 3125);
        scene.jobs[0].pace.ios_per_sec.0[0] = 2560;
        assert_eq!(scene.found(), Vec::<String>::new());
        scene.jobs[0].pace.ios_per_sec.0[0] = 0;
        "null".clone_into(&mut scene.jobs[0].engine.name);
        assert!(!scene.found().contains(&"depth-not-reached".to_owned()));
    }
}
