//! A percentile that rests on a handful of I/Os.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::asked::{syncs_between_writes, waits_at_end};
use crate::rules::{FindingRule, MeasuredState, Observation};
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::counted;

pub const RULE: FindingRule = FindingRule {
    id: "few-samples",
    title: "The 99th percentile rests on few I/Os",
    severity: Severity::Note,
    what: "The number of latencies of a direction; of syncs, where a job has them between its writes. It is reported below 1,000: fewer than ten I/Os took longer than the 99th percentile.",
    why: "A percentile is the value of the slowest few I/Os, and with fewer than ten of them chance decides.",
    example: "--name=a --rw=randread --number_ios=100 --size=1g",
    cure: "Run longer, or look at the median.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

const LEAST: u64 = 1000;

/// A rate of fewer I/Os is none, and neither is their median.
const LEAST_OF_ALL: u64 = ferrio_stats::LEAST_IOS_OF_RATE;
/// So many kinds of latencies are named.
const MOST_NAMED: usize = 6;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let of_job = |job| DataDirection::ALL.into_iter().filter_map(move |direction| few_of(job, direction));
    let few: Vec<FewLatencies<'_, '_>> = case.jobs.iter().flat_map(of_job).collect();
    // One remark for all jobs and directions.
    observation(&few).into_iter().collect()
}

/// Latencies that are too few for a high percentile.
struct FewLatencies<'c, 'a> {
    job: &'c AuditedJob<'a>,
    direction: DataDirection,
    /// `read`, `fsync`.
    word: &'static str,
    n_samples: u64,
}

impl FewLatencies<'_, '_> {
    fn counted(&self) -> String {
        counted(self.n_samples, &format!("{} latency", self.word), &format!("{} latencies", self.word))
    }
}

fn few_of<'c, 'a>(job: &'c AuditedJob<'a>, direction: DataDirection) -> Option<FewLatencies<'c, 'a>> {
    let n_samples = job.figures(direction)?.clat.n_samples;
    // Turns of work have a length of their own, and no I/O decides it.
    if job.engine.moves_nothing() || n_samples == 0 || !job.spec.reporting.clat_percentiles {
        return None;
    }
    let is_write = direction == DataDirection::Write;
    let (word, n_samples) = match sync_latencies(job).filter(|_| is_write) {
        // A buffered write waits for nothing: the syncs alone count.
        Some(syncs) if job.is_buffered() && (n_samples < LEAST || syncs_between_writes(job)) => syncs,
        Some(syncs) if n_samples >= LEAST && syncs_between_writes(job) => syncs,
        // A sync at the end has no latency, and those of the writes are those of memory.
        _ if is_write && job.is_buffered() && waits_at_end(job) && n_samples >= LEAST_OF_ALL => return None,
        _ => (direction.name(), n_samples),
    };
    (n_samples < LEAST).then_some(FewLatencies { job, direction, word, n_samples })
}

fn observation(few: &[FewLatencies<'_, '_>]) -> Option<Observation> {
    let first = few.first()?;
    let is_of_one_job = few.iter().all(|one| one.job.index == first.job.index);
    let explanation = if few.len() == 1 {
        let beyond = match first.n_samples / 100 {
            0 => "none lies".to_owned(),
            1 => "one lies".to_owned(),
            n_beyond => format!("{n_beyond} lie"),
        };
        format!("Of {} {beyond} beyond the 99th percentile: chance decides what it says.", first.counted())
    } else {
        let name = |one: &FewLatencies<'_, '_>| {
            if is_of_one_job { one.counted() } else { format!("{} of {}", one.counted(), one.job.name) }
        };
        let mut named: Vec<String> = few.iter().take(MOST_NAMED).map(name).collect();
        if few.len() > MOST_NAMED {
            named.push(format!("{} more", few.len() - MOST_NAMED));
        }
        let last = named.pop().unwrap_or_default();
        format!(
            "Of {} and {last} fewer than ten each lie beyond the 99th percentile: chance decides what it says.",
            named.join(", ")
        )
    };
    let measured = |one: &FewLatencies<'_, '_>| {
        let of_job = if is_of_one_job { String::new() } else { format!(" of {}", one.job.name) };
        Measured::count(&format!("{} latencies{of_job}", one.word), one.n_samples as f64)
    };
    let evidence = few.iter().take(MOST_NAMED).map(measured).collect();
    let cure = few.iter().any(|one| one.n_samples < LEAST_OF_ALL).then(|| CURE_OF_FEWEST.to_owned());
    let mut jobs: Vec<&AuditedJob<'_>> = few.iter().map(|one| one.job).collect();
    jobs.dedup_by_key(|job| job.index);
    let found = Observation { cure, ..Observation::of_jobs(jobs, evidence, explanation) };
    Some(found.about(Some(first.direction).filter(|_| few.len() == 1)))
}

const CURE_OF_FEWEST: &str =
    "Run longer (--time_based --runtime=10): of fewer than 100 I/Os the rate and the median are chance, too.";

/// The syncs of a job, by their name, and how many latencies they have.
fn sync_latencies(job: &AuditedJob<'_>) -> Option<(&'static str, u64)> {
    let durability = &job.spec.durability;
    let n_syncs = job.total.as_ref()?.sync.n_samples;
    let word = match (durability.fsync_blocks > 0, durability.fdatasync_blocks > 0) {
        (true, false) => "fsync",
        (false, true) => "fdatasync",
        _ => "sync",
    };
    (n_syncs > 0).then_some((word, n_syncs))
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

    /// A buffered write is a copy to memory; the job waits for the device in the sync after it.
    #[test]
    fn syncs_are_named_where_the_job_waits_in_them() {
        let scene = |n_syncs: u64, direct: bool| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            (scene.jobs[0].durability.direct, scene.jobs[0].durability.fdatasync_blocks) = (direct, 1);
            let stats = scene.stats();
            (stats.sync, stats.n_syncs_issued) = (LatencyStat::new(true), n_syncs);
            (0..n_syncs).for_each(|_| stats.sync.record(300_000));
            let clat = &mut stats.directions.0[1].clat;
            *clat = LatencyStat::new(true);
            (0..n_syncs).for_each(|_| clat.record(300_000));
            scene
        };
        let explanation = |n_syncs, direct| scene(n_syncs, direct).finding("few-samples").explanation;
        let expected = "Of 300 fdatasync latencies 3 lie beyond the 99th percentile: chance decides what it says.";
        assert_eq!(explanation(300, false), expected);
        assert!(explanation(1, false).starts_with("Of 1 fdatasync latency none lies "));
        assert!(explanation(300, true).starts_with("Of 300 write latencies 3 lie "));
        assert!(!scene(1000, false).found().contains(&"few-samples".to_owned()));
    }

    /// Both directions of a mix, and several jobs, are one remark.
    #[test]
    fn all_that_are_few_are_told_at_once() {
        let mut scene = TestRun::new(job("a", DirectionMix::ReadWrite));
        scene.add(job("b", DirectionMix::Read), crate::rules::testing::place("/data/b"));
        let few = |clat: &mut LatencyStat, n_samples: u64| {
            *clat = LatencyStat::new(true);
            (0..n_samples).for_each(|_| clat.record(300_000));
        };
        few(&mut scene.stats().directions.0[0].clat, 300);
        few(&mut scene.stats().directions.0[1].clat, 200);
        let finding = scene.finding("few-samples");
        assert_eq!((finding.jobs.as_slice(), finding.direction), (["a".to_owned()].as_slice(), None));
        assert!(
            finding.explanation.starts_with("Of 300 read latencies and 200 write latencies fewer than ten each"),
            "{finding:?}"
        );
        assert_eq!(finding.cure, super::RULE.cure);
        few(&mut scene.record.workers[1].stats.directions.0[0].clat, 64);
        let finding = scene.finding("few-samples");
        assert!(
            finding.explanation.contains(", 200 write latencies of a and 64 read latencies of b fewer"),
            "{finding:?}"
        );
        assert_eq!((finding.jobs.len(), finding.evidence.len()), (2, 3));
        // The median of 64 is no better than their 99th percentile.
        assert!(!finding.cure.contains("look at the median"), "{finding:?}");
        assert_eq!(scene.found().iter().filter(|id| *id == "few-samples").count(), 1);
    }

    /// A job may have enough writes and few syncs.
    #[test]
    fn few_syncs_among_many_writes_are_told() {
        for direct in [true, false] {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            (scene.jobs[0].durability.direct, scene.jobs[0].durability.fdatasync_blocks) = (direct, 100);
            let stats = scene.stats();
            stats.sync = LatencyStat::new(true);
            (0..256).for_each(|_| stats.sync.record(300_000));
            assert!(scene.finding("few-samples").explanation.starts_with("Of 256 fdatasync latencies 2 lie "));
            // A sync at the end alone has no percentiles.
            scene.jobs[0].durability.fdatasync_blocks = 0;
            scene.jobs[0].durability.end_fsync = true;
            assert!(!scene.found().contains(&"few-samples".to_owned()));
        }
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
