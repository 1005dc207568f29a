//! Time that passes in handing I/Os over.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::measures::cures::past_page_cache;
use crate::measures::extents::first_written_bytes;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::thousands;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "submission-blocked",
    title: "The kernel held the job while it handed I/Os over",
    severity: Severity::Misleading,
    what: "Submission latency (slat) as a share of the whole latency, of jobs with an asynchronous engine and iodepth above 1; and the \
           time in submission without the CPU time of the job and its waits for a CPU, as a share of the time of I/O. It is reported above one half of either.",
    why: "An asynchronous engine hands I/Os over and goes on. When handing over takes longer than the I/O, something serialises it: \
          buffered I/O, writes that extend a file or convert its extents, a full queue of the device.",
    example: "--name=a --ioengine=libaio --iodepth=32 --rw=randwrite --direct=1 --size=1g",
    cure: "Write the files before the test (--overwrite=1, or a run before), use --direct=1, or --ioengine=psync.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &["iodepth"],
    state: MeasuredState::Lasting,
    yields_to: &["depth-beyond-queue", "asynchronous-without-direct", "load-generator-limit"],
    find,
};

const SHARE: f64 = 0.5;
const LEAST_IOS: u64 = 100;
/// Context switches for each I/O, where submission sleeps: one, but for a few I/Os that find nothing to wait for.
const LEAST_SLEEPS: f64 = 0.8;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let depth = job.spec.queue.iodepth;
    let (measured, explanation) = match (share_of_latency(job), share_of_time(job)) {
        (Some(share), _) => (
            Measured::percent("slat of lat", share),
            format!(
                "{share:.0} % of the latency passed while I/Os were handed over: something serialises them, so fewer than {depth} \
                 were in flight."
            ),
        ),
        (None, Some(share)) => (
            Measured::percent("time asleep in submission", share),
            format!(
                "{share:.0} % of the time the job slept while it handed I/Os over: each was done before the next one began. \
                 Submission was serialised, and the depth of {depth} was one of I/Os that were done and not collected."
            ),
        ),
        (None, None) => return None,
    };
    let pieces = pieces(job).filter(|_| !job.is_buffered());
    let in_pieces = pieces.map_or_else(String::new, |pieces| {
        format!(
            " The files are in {} extents of {} on average, and the kernel looks up each while it takes an I/O.",
            thousands(pieces.n_extents),
            text::bytes(pieces.mean_bytes)
        )
    });
    let cure = pieces.map_or_else(|| cure(case, job), |_| Some(CURE_OF_PIECES.to_owned()));
    Some(Observation { cure, ..Observation::of(job, vec![measured], explanation + &in_pieces) })
}

const CURE_OF_PIECES: &str = "Copy the files to new ones on a file system with free space in one piece, or join their extents (e4defrag, xfs_fsr, \
                              btrfs filesystem defragment), and repeat the run.";

/// The extents of a job's files.
#[derive(Clone, Copy)]
struct FilePieces {
    n_extents: u64,
    mean_bytes: u64,
}

/// The extents of the files, if they are so small that about every I/O is in another one; `None` as well: not known.
fn pieces(job: &AuditedJob<'_>) -> Option<FilePieces> {
    let all: Vec<_> = job.places.iter().map(|place| place.before.extents.value()).collect::<Option<_>>()?;
    let n_extents = sum(all.iter().map(|extents| extents.n_extents));
    let bytes = sum(all.iter().map(|extents| extents.written_bytes));
    let mean_bytes = bytes.checked_div(n_extents)?;
    (n_extents >= MANY_EXTENTS && mean_bytes <= SMALL_EXTENT_BYTES).then_some(FilePieces { n_extents, mean_bytes })
}

/// With fewer extents, or larger ones, a file is in few pieces.
const MANY_EXTENTS: u64 = 1_000;
const SMALL_EXTENT_BYTES: u64 = 64 << 10;

/// The cure, if it is not that of the rule: options that the job has already are none.
fn cure(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<String> {
    let (writes, is_direct) = (job.does(DataDirection::Write), job.spec.durability.direct);
    // Files that held data before are overwritten anyway.
    let were_written = job.spec.layout.overwrite || (has_known_extents(job) && first_written_bytes(job).is_none());
    let cure = match (writes, is_direct) {
        (true, false) => return past_page_cache(case, &[job], ", or take --ioengine=psync."),
        (true, true) if were_written => "Use --ioengine=psync and take the latency for that of one I/O.",
        (true, true) => "Write the files before the test (--overwrite=1, or a run before), or use --ioengine=psync.",
        (false, true) => "Use --ioengine=psync and take the latency for that of one I/O.",
        (false, false) => {
            let way = past_page_cache(case, &[job], ", or take --ioengine=psync.");
            return way.or_else(|| Some("Use --direct=1, or --ioengine=psync.".to_owned()));
        }
    };
    Some(cure.to_owned())
}

fn has_known_extents(job: &AuditedJob<'_>) -> bool {
    !job.places.is_empty() && job.places.iter().all(|place| place.now.extents.value().is_some())
}

fn can_be_affected(job: &AuditedJob<'_>) -> bool {
    job.spec.queue.iodepth > 1 && !job.engine.is_inline() && job.has_files()
}

/// Percentage of the time of I/O that a job slept in submission, if it is the largest part. An I/O that is done when its submission
/// returns is collected only after the queue has been filled, so that slat alone does not tell.
fn share_of_time(job: &AuditedJob<'_>) -> Option<f64> {
    // Of a batch each I/O waits for the others: their times overlap.
    if !can_be_affected(job) || job.spec.queue.batch_submit > 1 {
        return None;
    }
    let total = job.total.as_ref()?;
    let figures = || [DataDirection::Read, DataDirection::Write].map(|direction| &total.directions[direction]);
    let n_ios = sum(figures().map(|figures| figures.slat.n_samples));
    let in_submission_ns: f64 = figures().iter().map(|figures| figures.slat.sum_ns as f64).sum();
    let cpu_ns = total.usage.user_ns.saturating_add(total.usage.system_ns) as f64;
    let time_ns = figures().iter().map(|figures| figures.runtime_ns).max()? as f64 * job.workers.len() as f64;
    // A job that lacks a CPU does not run either, but is seldom interrupted: at most once in some milliseconds.
    let sleeps = total.usage.context_switches as f64 >= n_ios as f64 * LEAST_SLEEPS;
    // What waits for a CPU, within a submission or beside it, does not sleep.
    let waited_ns = total.usage.cpu_turns.map_or(0, |turns| turns.waited_ns) as f64;
    let asleep_ns = in_submission_ns - cpu_ns - waited_ns;
    (n_ios >= LEAST_IOS && sleeps && asleep_ns > time_ns * SHARE).then(|| (100.0 * asleep_ns / time_ns).min(100.0))
}

/// Percentage of submission in the latency, if it is the largest part.
fn share_of_latency(job: &AuditedJob<'_>) -> Option<f64> {
    let total = job.total.as_ref()?;
    if !can_be_affected(job) {
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
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;
    use ferrio_stats::CpuTurns;

    fn scene(slat_us: u64, clat_us: u64) -> TestRun {
        let mut job = job("a", DirectionMix::Write);
        "libaio".clone_into(&mut job.engine.name);
        (job.queue.iodepth, job.queue.low) = (2, 2);
        let mut scene = TestRun::new(job);
        scene.latencies_of_writes(slat_us, clat_us);
        scene
    }

    #[test]
    fn half_of_the_latency_is_the_border() {
        assert_eq!(scene(700, 699).found(), ["submission-blocked"]);
        assert_eq!(scene(600, 600).found(), Vec::<String>::new());
        let finding = scene(900, 100).finding("submission-blocked");
        assert!(finding.explanation.starts_with("90 % of the latency"), "{}", finding.explanation);
        assert!(!finding.cure.contains("--direct=1"), "the job has it: {}", finding.cure);
    }

    /// 25,600 I/Os in 10 s. Of 300 us each, 240 us are slat: 6.1 s.
    #[test]
    fn sleeping_in_submission_is_told_whatever_the_queue_does_then() {
        let scene = |system_s: u64, context_switches: u64, batch_submit: u32| {
            let mut scene = scene(240, 8000);
            (scene.jobs[0].queue.batch_submit, scene.jobs[0].durability.direct) = (batch_submit, true);
            let usage = &mut scene.stats().usage;
            (usage.system_ns, usage.context_switches) = (system_s * 1_000_000_000, context_switches);
            scene
        };
        assert_eq!(scene(1, 25_600, 1).found(), ["submission-blocked"]);
        let finding = scene(1, 25_600, 1).finding("submission-blocked");
        assert!(finding.explanation.starts_with("51 % of the time the job slept"), "{}", finding.explanation);
        // Other programs had the CPU meanwhile.
        let mut waits = scene(1, 25_600, 1);
        waits.stats().usage.cpu_turns = Some(CpuTurns { waited_ns: 200_000_000, ..CpuTurns::default() });
        assert_eq!(waits.found(), Vec::<String>::new());
        // The CPU was busy with it, nothing slept, or the times overlap.
        for (system_s, context_switches, batch_submit) in [(2, 25_600, 1), (1, 20_000, 1), (1, 25_600, 2)] {
            assert_eq!(scene(system_s, context_switches, batch_submit).found(), Vec::<String>::new());
        }
    }
}
