//! Buffered reads of files that the page cache can hold, more than once.

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory};
use crate::measures::cures::past_page_cache;
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_spec::{RandomDistribution, SizeSpec};
use ferrio_stats::{Measured, Severity};
use ferrio_units::DataDirection;

pub(crate) const RULE: FindingRule = FindingRule {
    id: "fits-in-memory",
    title: "The page cache can hold what is read again and again",
    severity: Severity::Misleading,
    what: "Before a run: the size of what a job reads through the page cache, where it reads it more than once (time_based, loops, io_size \
           above size), and the memory of the machine or of the control group. It is reported below 80 % of that memory, and only where the \
           cache keeps what was read: with invalidate=0 or pre_read=1, where blocks are drawn again within a pass (norandommap, \
           random_distribution), and where clones read the same files. Otherwise each pass begins with an empty cache (invalidate=1), \
           and reads each block once.",
    why: "The first read of a block comes from the device, and later ones come from memory (with invalidate=0 or pre_read=1 perhaps the \
          first one too). The figures are a mixture of both, and depend on how long the run is.",
    example: "--name=a --rw=randread --norandommap --size=1g --runtime=60 --time_based",
    cure: "Add --direct=1, or read much more than the memory holds.",
    needs: &[],
    looks_at_reports: false,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &["memory-as-expected"],
    find,
};

/// As much of the memory may be page cache.
const SHARE: f64 = 0.8;

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    // After a run the counters of the device say more.
    if !case.is_before() {
        return Vec::new();
    }
    case.jobs.iter().filter_map(|job| of_job(case, job)).collect()
}

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    if !job.is_buffered()
        || !job.does(DataDirection::Read)
        || job.places.iter().any(is_in_memory)
        || job.places.is_empty()
    {
        return None;
    }
    let Some(SizeSpec::Bytes(size_bytes)) = job.spec.extent.size else { return None };
    let io_bytes = job.spec.extent.given_io_bytes().unwrap_or(size_bytes);
    let limits = &job.spec.limits;
    // A job with a number of I/Os may end in its first pass.
    let repeats = limits.time_based && limits.runtime_us > 0 || limits.loops > 1 || io_bytes > size_bytes;
    if !repeats || job.spec.extent.number_ios > 0 || job.spec.replay.is_set() {
        return None;
    }
    let all_bytes = size_bytes.saturating_mul(u64::from(job.n_clones));
    let memory_bytes = case.provenance.limits.memory_bytes.unwrap_or(case.provenance.memory_bytes);
    if all_bytes as f64 >= memory_bytes as f64 * SHARE {
        return None;
    }
    let effect = effect(job)?;
    let explanation = format!(
        "The job reads {} more than once through the page cache, and there are {} of memory: {effect}.",
        text::bytes(all_bytes),
        text::bytes(memory_bytes)
    );
    let evidence = vec![Measured::bytes("data that is read", all_bytes), Measured::bytes("memory", memory_bytes)];
    let cure = past_page_cache(case, &[job], ", or read much more than the memory holds.");
    Some(Observation { cure, ..Observation::of(job, evidence, explanation) }.about(DataDirection::Read))
}

/// What the cache does to the reads; `None`: it is emptied before each pass, and no pass reads a block twice.
fn effect(job: &AuditedJob<'_>) -> Option<&'static str> {
    let (layout, pattern) = (&job.spec.layout, &job.spec.pattern);
    let is_drawn_again = pattern.random && (pattern.norandommap || pattern.distribution != RandomDistribution::Uniform);
    if !layout.invalidate || layout.pre_read {
        Some("the device may be asked for nothing")
    } else if is_drawn_again {
        Some("only the first read of a block comes from the device, and blocks are drawn again and again")
    } else if job.n_clones > 1 && !job.spec.target.filenames.is_empty() {
        Some("what one of its clones has read comes from memory for the others")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{MIB, TestRun, job};
    use ferrio_spec::{DirectionMix, JobSpec, RandomDistribution, SizeSpec};

    /// Reads 100 MiB without a map of blocks for a minute, or once.
    fn scene(direct: bool, time_based: bool) -> TestRun {
        let mut job = job("a", DirectionMix::Read);
        job.durability.direct = direct;
        (job.pattern.random, job.pattern.norandommap) = (true, true);
        (job.limits.runtime_us, job.limits.time_based) = (60_000_000, time_based);
        TestRun::new(job).before()
    }

    #[test]
    fn three_things_must_come_together() {
        assert_eq!(scene(false, true).found(), ["fits-in-memory"]);
        assert_eq!(scene(true, true).found(), Vec::<String>::new());
        assert_eq!(scene(false, false).found(), Vec::<String>::new());
        let mut large = scene(false, true);
        // The machine has 16 GiB.
        large.jobs[0].extent.size = Some(SizeSpec::Bytes(14 << 30));
        assert_eq!(large.found(), Vec::<String>::new());
        let mut group = scene(false, true);
        group.limits.memory_bytes = Some(125 * MIB);
        assert_eq!(group.found(), Vec::<String>::new());
        group.limits.memory_bytes = Some(126 * MIB);
        assert_eq!(group.found(), ["fits-in-memory"]);
    }

    #[test]
    fn every_way_to_read_again_counts() {
        let mut loops = scene(false, false);
        loops.jobs[0].limits.loops = 2;
        assert_eq!(loops.found(), ["fits-in-memory"]);
        let mut io_size = scene(false, false);
        io_size.jobs[0].extent.io_size = Some(SizeSpec::Bytes(100 * MIB));
        assert_eq!(io_size.found(), Vec::<String>::new());
        io_size.jobs[0].extent.io_size = Some(SizeSpec::Percent(100));
        assert_eq!(io_size.found(), Vec::<String>::new());
        io_size.jobs[0].extent.io_size = Some(SizeSpec::Percent(101));
        assert_eq!(io_size.found(), ["fits-in-memory"]);
        io_size.jobs[0].extent.io_size = Some(SizeSpec::Bytes(100 * MIB + 1));
        let finding = io_size.finding("fits-in-memory");
        assert!(finding.explanation.contains("only the first read of a block comes from the device"), "{finding:?}");
        io_size.jobs[0].layout.invalidate = false;
        let finding = io_size.finding("fits-in-memory");
        assert!(finding.explanation.ends_with("the device may be asked for nothing."), "{finding:?}");
    }

    /// Measured with fio 3.41 and with ferrio, 16 MiB for a second or four times: the device reads all that the job reads with a map of
    /// blocks or in order, 16 MiB in all without a map or by a distribution, half for two clones on one file.
    #[test]
    fn a_cache_that_is_emptied_before_each_pass_answers_nothing() {
        let with = |change: &dyn Fn(&mut JobSpec)| {
            let mut run = scene(false, true);
            run.jobs[0].pattern.norandommap = false;
            change(&mut run.jobs[0]);
            run.found()
        };
        assert_eq!(with(&|_| ()), Vec::<String>::new());
        assert_eq!(with(&|job| job.pattern.random = false), Vec::<String>::new());
        assert_eq!(with(&|job| job.numjobs = 2), Vec::<String>::new());
        let changes: [&dyn Fn(&mut JobSpec); 5] = [
            &|job| job.layout.invalidate = false,
            &|job| job.layout.pre_read = true,
            &|job| job.pattern.norandommap = true,
            &|job| job.pattern.distribution = RandomDistribution::Zipf { theta: 1.2, center: None },
            &|job| (job.numjobs, job.target.filenames) = (2, vec!["f".to_owned()]),
        ];
        for (index, change) in changes.into_iter().enumerate() {
            assert!(with(change).contains(&"fits-in-memory".to_owned()), "{index}");
        }
    }
}
