//! A queue of POSIX AIO on fewer files than its depth.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::unexamined::EvidenceKind;
use ferrio_spec::engines::Sharing;
use ferrio_stats::{Measured, Severity};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "posixaio-one-file",
    title: "POSIX AIO does the I/Os of one file one after another",
    severity: Severity::Misleading,
    what: "The engine, iodepth and the number of files of each clone. It is reported where an engine that uses the C library's I/O threads has \
           fewer files than iodepth.",
    why: "The C library (glibc) has one queue and one thread for each open file: I/Os on the same file wait for each other in memory, and \
          the device gets one at a time. The latencies contain the wait, so they grow with iodepth while the rate stays.",
    example: "--name=a --ioengine=posixaio --iodepth=16 --rw=randread --direct=1 --size=1g",
    cure: "Use --ioengine=io_uring or libaio with --direct=1, or at least as many files as iodepth (--nrfiles).",
    needs: &[EvidenceKind::Targets],
    looks_at_reports: false,
    contradicts: &["iodepth"],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find: |case| case.jobs.iter().filter_map(|job| of_job(case, job)).collect(),
};

fn of_job(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Observation> {
    let uses_library = job.engine.sharing == Sharing::LibraryThreads;
    let has_run = job.total.as_ref().is_some_and(|total| total.n_issued() > 0);
    if !uses_library || !job.has_files() || job.has_more_files || !(case.is_before() || has_run) {
        return None;
    }
    let n_all = sum(job.places.iter().map(|place| place.n_files));
    // Clones that name their files share them, each with descriptors of its own.
    let n_sharing = if job.spec.target.filenames.is_empty() { u64::from(job.n_clones.max(1)) } else { 1 };
    let n_files = n_all.div_ceil(n_sharing);
    let iodepth = job.spec.queue.iodepth;
    if n_files == 0 || n_files >= u64::from(iodepth) {
        return None;
    }
    let files = if n_files == 1 { "1 file".to_owned() } else { format!("{n_files} files") };
    let explanation = format!(
        "The job keeps {iodepth} I/Os in flight on {files}, and the C library hands at most one I/O of each file to the kernel: no more \
         than {n_files} of {iodepth} reach the device at a time."
    );
    let evidence =
        vec![Measured::count("iodepth", f64::from(iodepth)), Measured::count("files of a clone", n_files as f64)];
    Some(Observation::of(job, evidence, explanation))
}

#[cfg(test)]
mod tests {
    use crate::rules::testing::{TestRun, job};
    use ferrio_spec::DirectionMix;

    fn is_told(engine: &str, iodepth: u32, n_files: u64) -> bool {
        let mut job = job("a", DirectionMix::Read);
        engine.clone_into(&mut job.engine.name);
        (job.queue.iodepth, job.queue.low) = (iodepth, iodepth);
        let mut scene = TestRun::new(job);
        scene.places[0].n_files = n_files;
        let after = scene.found().contains(&"posixaio-one-file".to_owned());
        assert_eq!(after, scene.before().found().contains(&"posixaio-one-file".to_owned()));
        after
    }

    #[test]
    fn fewer_files_than_the_depth_are_told() {
        assert!(is_told("posixaio", 4, 1) && is_told("posixaio", 4, 3));
        assert!(!is_told("posixaio", 4, 4) && !is_told("posixaio", 1, 1) && !is_told("libaio", 4, 1));
    }
}
