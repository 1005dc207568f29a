//! What more I/Os in flight have brought: jobs that differ in `iodepth` or `numjobs` alone.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::asked::is_depth_in_vain;
use crate::measures::extents::first_written_bytes;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_spec::{GroupingSpec, JobSpec, PaceSpec};
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;
use std::fmt::Write;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "effect-of-parallelism",
    title: "The effect of a larger iodepth or numjobs",
    severity: Severity::Note,
    what: "The IOPS and mean latencies of jobs that run one after another and differ only in iodepth (with its batches), or only in \
           numjobs. A change of IOPS by less than 5 % counts as none.",
    why: "More I/Os in flight raise IOPS until something is busy all the time; beyond that each I/O only waits longer. Which of the two \
          options helps, and how far, differs from device to device.",
    example: "--bs=4k --rw=randread --direct=1 --ioengine=libaio --filename=/data/file --size=1g --name=a --iodepth=16 --name=b --stonewall \
              --iodepth=64",
    cure: "Use the smallest iodepth and numjobs beyond which IOPS do not grow.",
    needs: &[EvidenceKind::Options],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

/// A smaller change of IOPS counts as none.
const SMALL: f64 = 0.05;
/// A shorter job is no measure, seconds.
const LEAST_SECONDS: f64 = 0.1;
const LEAST_IOS: u64 = 100;

/// The option in which jobs differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Depth,
    Clones,
}

/// A job with what the rule compares.
struct Point<'a> {
    job: &'a AuditedJob<'a>,
    /// Its specification without the names and the two options.
    rest: JobSpec,
    ios_per_sec: f64,
    mean_latency_ns: f64,
}

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let points: Vec<Point<'_>> = case.jobs.iter().filter_map(point).collect();
    [Axis::Depth, Axis::Clones].into_iter().flat_map(|axis| along(axis, &points)).collect()
}

fn point<'a>(job: &'a AuditedJob<'a>) -> Option<Point<'a>> {
    let pace_is_free = job.spec.pace == PaceSpec::default() && job.spec.latency.target_us == 0;
    if !pace_is_free || first_written_bytes(job).is_some() {
        return None;
    }
    let (mut ios_per_sec, mut n_ios, mut latency_ns, mut seconds) = (0.0, 0_u64, 0.0, 0.0_f64);
    for direction in DataDirection::ALL {
        let Some(figures) = job.figures(direction) else { continue };
        seconds = seconds.max(job.seconds(direction));
        ios_per_sec += figures.n_completed as f64 / job.seconds(direction).max(1e-9);
        n_ios = n_ios.saturating_add(figures.lat.n_samples);
        latency_ns += figures.lat.sum_ns as f64;
    }
    let is_measured = seconds >= LEAST_SECONDS && n_ios >= LEAST_IOS;
    is_measured.then(|| Point { job, rest: rest(job.spec), ios_per_sec, mean_latency_ns: latency_ns / n_ios as f64 })
}

fn rest(spec: &JobSpec) -> JobSpec {
    let nothing = JobSpec::default();
    JobSpec {
        name: String::new(),
        section: String::new(),
        description: None,
        given_options: Vec::new(),
        numjobs: nothing.numjobs,
        queue: nothing.queue,
        grouping: GroupingSpec { wait_for: None, ..nothing.grouping },
        reporting: nothing.reporting,
        ..spec.clone()
    }
}

/// An observation about each set of jobs that differ along an axis.
fn along(axis: Axis, points: &[Point<'_>]) -> Vec<Observation> {
    let mut found = Vec::new();
    let mut is_taken = vec![false; points.len()];
    for (index, first) in points.iter().enumerate() {
        if is_taken[index] {
            continue;
        }
        let mut set: Vec<&Point<'_>> = Vec::new();
        for (other_index, other) in points.iter().enumerate().skip(index) {
            let is_new =
                set.iter().all(|point| axis.value(point) != axis.value(other) && point.job.group != other.job.group);
            if is_new && axis.compares(first, other) {
                is_taken[other_index] = true;
                set.push(other);
            }
        }
        set.sort_by_key(|point| axis.value(point));
        if set.len() > 1 {
            found.push(axis.observation(&set));
        }
    }
    found
}

impl Axis {
    fn value(self, point: &Point<'_>) -> u32 {
        match self {
            Self::Depth => point.job.spec.queue.iodepth,
            Self::Clones => point.job.n_clones,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Depth => "iodepth",
            Self::Clones => "numjobs",
        }
    }

    fn compares(self, first: &Point<'_>, other: &Point<'_>) -> bool {
        let is_alike = match self {
            // Where the depth has no effect at all, another rule says so.
            Self::Depth => {
                let has_effect = !first.job.engine.is_inline() && !is_depth_in_vain(first.job);
                has_effect && first.job.n_clones == other.job.n_clones
            }
            Self::Clones => first.job.spec.queue == other.job.spec.queue,
        };
        is_alike && first.rest == other.rest
    }

    fn observation(self, set: &[&Point<'_>]) -> Observation {
        let mut sentences = String::new();
        for pair in set.windows(2) {
            let [less, more] = pair else { continue };
            if !sentences.is_empty() {
                sentences.push(' ');
            }
            // Cannot fail.
            let _ = write!(sentences, "{}", self.step(less, more));
        }
        let evidence = set.iter().map(|point| {
            Measured::count(&format!("IOPS with {}={}", self.name(), self.value(point)), point.ios_per_sec.round())
        });
        let jobs = set.iter().map(|point| point.job);
        Observation::of_jobs(jobs, evidence.collect(), sentences)
    }

    fn step(self, less: &Point<'_>, more: &Point<'_>) -> String {
        let (name, from, to) = (self.name(), self.value(less), self.value(more));
        let (iops, latency) = (more.ios_per_sec / less.ios_per_sec, more.mean_latency_ns / less.mean_latency_ns);
        let times = |factor: f64| format!("{} times", text::short(factor));
        match iops {
            iops if (iops - 1.0).abs() < SMALL => {
                format!("{name} {to} brings nothing over {from}: the same IOPS, and {} the latency.", times(latency))
            }
            iops if iops > 1.0 => {
                format!("{name} {to} makes {} the IOPS of {from}, and {} the latency.", times(iops), times(latency))
            }
            iops => format!(
                "{name} {to} makes only {} the IOPS of {from}, and {} the latency.",
                times(iops),
                times(latency)
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job, place};
    use ferrio_spec::{DirectionMix, JobSpec};
    use ferrio_stats::LatencyStat;

    /// Jobs one after another: depth, clones, IOPS over 10 s with latencies to match.
    fn scene(jobs: &[(u32, u32, u64)]) -> TestRun {
        let spec = |index: usize, depth: u32, n_clones: u32| {
            let mut job = job(&format!("j{index}"), DirectionMix::Read);
            "libaio".clone_into(&mut job.engine.name);
            (job.queue.iodepth, job.queue.low, job.numjobs) = (depth, depth, n_clones);
            job.target.filenames = vec!["/data/file".to_owned()];
            (job.grouping.stonewall, job.pattern.random) = (true, true);
            job
        };
        let mut all: Vec<JobSpec> =
            jobs.iter().enumerate().map(|(index, (depth, clones, _))| spec(index, *depth, *clones)).collect();
        let mut scene = TestRun::new(all.remove(0));
        for job in all {
            scene.add(job, place("/data/file"));
        }
        for (worker, (depth, n_clones, iops)) in scene.record.workers.iter_mut().zip(jobs) {
            let figures = &mut worker.stats.directions.0[0];
            figures.n_completed = iops * 10;
            let latency_ns = u64::from(depth * n_clones) * 1_000_000_000 / iops;
            for latency in [&mut figures.clat, &mut figures.lat] {
                *latency = LatencyStat::new(true);
                (0..iops * 10).for_each(|_| latency.record(latency_ns));
            }
        }
        scene
    }

    #[test]
    fn what_each_option_has_brought_is_told() {
        let finding = scene(&[(1, 1, 1000), (16, 1, 12_000), (32, 1, 12_300)]).finding("effect-of-parallelism");
        assert_eq!(
            finding.explanation,
            "iodepth 16 makes 12 times the IOPS of 1, and 1.33 times the latency. iodepth 32 brings nothing over 16: the same IOPS, \
             and 1.95 times the latency."
        );
        assert_eq!(finding.jobs, ["j0", "j1", "j2"]);
        let finding = scene(&[(8, 1, 10_000), (8, 4, 10_400)]).finding("effect-of-parallelism");
        assert!(finding.explanation.starts_with("numjobs 4 brings nothing over 1: "), "{}", finding.explanation);
        let finding = scene(&[(8, 1, 10_000), (8, 4, 9000)]).finding("effect-of-parallelism");
        assert!(
            finding.explanation.starts_with("numjobs 4 makes only 0.9 times the IOPS of 1"),
            "{}",
            finding.explanation
        );
    }

    #[test]
    fn jobs_that_differ_otherwise_are_not_compared() {
        let has = |scene: TestRun| scene.found().contains(&"effect-of-parallelism".to_owned());
        assert!(!has(scene(&[(1, 1, 1000), (16, 4, 12_000)])), "both options");
        let mut sizes = scene(&[(1, 1, 1000), (16, 1, 12_000)]);
        sizes.jobs[1].pattern.block_size.0[0].max_bytes = 8192;
        assert!(!has(sizes));
        let mut engine = scene(&[(1, 1, 1000), (16, 1, 12_000)]);
        for job in &mut engine.jobs {
            "psync".clone_into(&mut job.engine.name);
        }
        assert!(!has(engine));
    }
}
