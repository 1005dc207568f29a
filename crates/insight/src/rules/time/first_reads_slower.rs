//! First reads of blocks that took longer than those after them.

use crate::audit_input::{AuditInput, AuditedJob};
use crate::measures::kept::FreeCourse;
use crate::measures::ranges::range_bytes;
use crate::measures::rates::{PacedCourse, free_courses, paced_courses};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use crate::unexamined::EvidenceKind;
use ferrio_inference::Change;
use ferrio_spec::{RandomDistribution, ZoneSpec};
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::duration_text;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "first-reads-slower",
    title: "The rate of reads rose once and stayed higher",
    severity: Severity::Misleading,
    what: "The I/Os of a job in each interval of its run, and the size of the range that it reads. It is reported of jobs that only read, past the \
           page cache, each block once in a pass, where the rate rose by more than a quarter before the first pass over the range was over or \
           when it was, and was steady before and after it; of a job with a rate, where a read took less than half as long from there on.",
    why: "Volumes that were made from a snapshot or an image load each block when it is read for the first time, and caches below the \
          device keep what was read. The mean of the run is neither the rate of new blocks nor that of known ones.",
    example: "--name=a --filename=/dev/xvdf --rw=randread --size=10g --direct=1 --runtime=600 --time_based",
    cure: "Read the whole range once before the run (--rw=read --bs=1m --direct=1) for the rate of known blocks; for that of new ones, leave \
           out time_based.",
    needs: &[EvidenceKind::Course],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Transient,
    yields_to: &["rate-changed-with-another-job"],
    find,
};

/// The change may be this far behind the end of the first pass, as a share of the range: intervals are coarse.
const NEAR: f64 = 0.15;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    let free = free_courses(case).iter().filter_map(|course| of_course(case, course));
    free.chain(paced_courses(case).iter().filter_map(|course| of_paced(case, course))).collect()
}

/// The job reads each block of its range once in a pass, past the page cache: the bytes of the range and of a block.
fn range_of(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<(f64, f64)> {
    let pattern = &job.spec.pattern;
    let is_once_each = !pattern.random || (!pattern.norandommap && pattern.distribution == RandomDistribution::Uniform);
    let only_reads = job.does(DataDirection::Read) && !job.does(DataDirection::Write) && !job.does(DataDirection::Trim);
    if !is_once_each || !only_reads || job.is_buffered() || job.spec.zones != ZoneSpec::None {
        return None;
    }
    let figures = job.figures(DataDirection::Read)?;
    Some((range_bytes(case, job)? as f64, figures.bytes as f64 / figures.n_completed.max(1) as f64))
}

/// A job with a rate does as many I/Os before as after, but they take less time.
fn of_paced(case: &AuditInput<'_>, course: &PacedCourse) -> Option<Observation> {
    let job = &case.jobs[course.job_index];
    let (range_bytes, block_bytes) = range_of(case, job)?;
    let Change { index, before, after, .. } = course.sped_up()?;
    let read_bytes = course.ios[..index].iter().sum::<f64>() * block_bytes;
    if read_bytes > range_bytes * (1.0 + NEAR) {
        return None;
    }
    let explanation = format!(
        "Until the job had read {} of the {}, a read took {} on average, and {} from then on: blocks that are loaded when they are first read, or a cache below the device that \
         filled.",
        text::bytes(read_bytes as u64),
        text::bytes(range_bytes as u64),
        duration_text(before),
        duration_text(after)
    );
    let evidence = vec![
        Measured::seconds("latency before", before / 1e9),
        Measured::seconds("after", after / 1e9),
        Measured::bytes("range", range_bytes as u64),
    ];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Read))
}

fn of_course(case: &AuditInput<'_>, course: &FreeCourse) -> Option<Observation> {
    let (job, seconds, ios) = (&case.jobs[course.job_index], course.interval_secs, &course.ios);
    let (range_bytes, block_bytes) = range_of(case, job)?;
    let Change { index, before, after, .. } = course.rise()?;
    let read_bytes = ios[..index].iter().sum::<f64>() * block_bytes;
    // Blocks may be loaded together with their neighbours, so that all are known before each was asked for.
    if read_bytes > range_bytes * (1.0 + NEAR) {
        return None;
    }
    let explanation = format!(
        "Until the job had read {} of the {}, it did {} a second, and {} from then on: blocks that are loaded when they are first \
         read, or a cache below the device that filled.",
        text::bytes(read_bytes as u64),
        text::bytes(range_bytes as u64),
        text::ios(before / seconds),
        text::short(after / seconds)
    );
    let evidence = vec![
        Measured::count("I/Os a second before", before / seconds),
        Measured::count("after", after / seconds),
        Measured::bytes("range", range_bytes as u64),
    ];
    Some(Observation::of(job, evidence, explanation).about(DataDirection::Read))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::{DirectionMix, SizeSpec};
    use ferrio_stats::JobSeries;
    use ferrio_units::DataDirection;

    /// A job of 100 MiB in blocks of 4 KiB, whose rate goes from 1,000 I/Os in an interval to `after` when it has read so much.
    fn scene(after: u64, changes_at_bytes: u64) -> bool {
        made(after, changes_at_bytes).found().contains(&"first-reads-slower".to_owned())
    }

    fn made(after: u64, changes_at_bytes: u64) -> TestRun {
        let mut job = job("a", DirectionMix::Read);
        job.pattern.random = true;
        job.extent.size = Some(SizeSpec::Bytes(100 * MIB));
        let mut scene = TestRun::new(job);
        let n_slow = (changes_at_bytes / 4096 / 1000) as usize;
        let mut series = JobSeries { clone_ns: vec![100_000_000; 60], ..JobSeries::new(0, 100_000_000) };
        let noise = (0..60_u64).map(|index| (index * index * 31 + index * 7) % 13);
        let level = |index: usize| if index < n_slow { 1000 } else { after };
        let ios: Vec<u64> = noise.enumerate().map(|(index, noise)| level(index) + noise).collect();
        let figures = &mut scene.stats().directions[DataDirection::Read];
        figures.n_completed = ios.iter().sum();
        figures.bytes = figures.n_completed * 4096;
        scene.disk_bytes[0] = figures.n_completed * 4096;
        series.directions[DataDirection::Read].ios = ios;
        scene.record.series.push(series);
        scene
    }

    #[test]
    fn a_rise_when_another_job_ends_is_its_effect() {
        let beside = |end: u64| {
            let mut scene = made(4000, 100 * MIB);
            scene.add(job("b", DirectionMix::Read), crate::rules::testing::place("/data/b"));
            let mut series = JobSeries::new(1, 100_000_000);
            series.clone_ns = vec![100_000_000; end as usize];
            series.directions[DataDirection::Read].ios = vec![100; end as usize];
            scene.record.series.push(series);
            scene.found().contains(&"first-reads-slower".to_owned())
        };
        // The rate rises after 25 intervals.
        assert!(!beside(25) && !beside(27) && beside(50));
    }

    #[test]
    fn a_rise_in_the_first_pass_or_after_it_is_told() {
        assert!(scene(4000, 100 * MIB) && scene(1300, 100 * MIB) && scene(4000, 60 * MIB));
        assert!(!scene(1200, 100 * MIB), "less than a quarter");
        assert!(!scene(4000, 150 * MIB), "in the second pass");
    }
}
