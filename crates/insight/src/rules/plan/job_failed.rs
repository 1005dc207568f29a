//! Jobs that failed, were killed, or had errors that they tolerated: their figures are those of a part of their work.

use crate::audit_input::{AuditInput, AuditedJob, sum};
use crate::rules::{FindingRule, MeasuredState, Observation};
use crate::text;
use ferrio_spec::DirectionMix;
use ferrio_stats::note::{IoNote, Note};
use ferrio_stats::{ErrorCause, Failure, Measured, OTHER_DATA, Severity, ThreadStats, WorkerRecord};
use ferrio_units::humanize::thousands;
use ferrio_units::{DataDirection, errno_text};

pub(crate) const RULE: FindingRule = FindingRule {
    id: "job-failed",
    title: "A job failed",
    severity: Severity::Wrong,
    what: "The ends of the jobs and their errors. It is reported where an I/O failed, tolerated or not, where verification found other data \
           than was written, and where a signal killed a job, in runs in which there are figures.",
    why: "The figures end with the failure, or have failed I/Os among them, so they are not those of the work that was asked for. \
          Data that verification does not find was never stored.",
    example: "--name=a --filename=/dev/failing --rw=randread --direct=1",
    cure: "Find the cause in the messages of the run and of the kernel (dmesg), and repeat the run.",
    needs: &[],
    looks_at_reports: true,
    contradicts: &[],
    state: MeasuredState::Lasting,
    yields_to: &[],
    find,
};

fn find(case: &AuditInput<'_>) -> Vec<Observation> {
    // A run in which nothing happened has no figures to be wrong; a signal that tells its cause is worth a word.
    let has_figures = case.record.workers.iter().any(|worker| n_ios(&worker.stats) > 0);
    let tells_cause = |worker: &WorkerRecord| worker.fate.killed_by.and_then(cure_of_signal).is_some();
    if has_figures || case.record.workers.iter().any(tells_cause) {
        case.jobs.iter().flat_map(of_job).collect()
    } else {
        Vec::new()
    }
}

fn of_job(job: &AuditedJob<'_>) -> Vec<Observation> {
    let n_workers = job.workers.len() + job.failed.len();
    let clones = |n_failed: usize| {
        if n_workers == 1 { "The job".to_owned() } else { format!("{n_failed} of {n_workers} clones of the job") }
    };
    let killed: Vec<&WorkerRecord> = job.failed.iter().copied().filter(|worker| was_killed(worker)).collect();
    let failed: Vec<&WorkerRecord> = job.failed.iter().copied().filter(|worker| !was_killed(worker)).collect();
    let evidence = |workers: &[&WorkerRecord]| {
        let n_done = sum(workers.iter().map(|worker| n_ios(&worker.stats)));
        vec![
            Measured::count("clones that failed", workers.len() as f64),
            Measured::count("I/Os until then", n_done as f64),
        ]
    };
    let of_killed = killed.first().map(|first| {
        let signal = first.fate.killed_by.map_or_else(String::new, |signal| format!(" {signal}"));
        let what = format!(
            "{} ended by signal{signal} before it had done its work. Its figures are those until then, as far as they are known.",
            clones(killed.len())
        );
        let cure = first.fate.killed_by.and_then(cure_of_signal).map(str::to_owned);
        Observation { cure, ..Observation::of(job, evidence(&killed), what) }
    });
    let of_failed = failed.first().map(|first| {
        let errno = first.fate.failure.as_ref().map_or(first.stats.errno, |failure| failure.errno);
        let limit = first.fate.failure.as_ref().and_then(missed_limit);
        // What a job has not written itself may never have been written with verify.
        let of_errno = match ErrorCause::of(errno) {
            Some(ErrorCause::OtherData) if job.spec.pattern.mix == DirectionMix::Read => Some(CURE_OF_MARKS),
            _ => cure(errno),
        };
        let (reason, cure) = limit.map_or_else(|| (words(errno), of_errno), |(reason, cure)| (reason, Some(cure)));
        let what = format!("{} ended with an error: {reason}. The figures are those until then.", clones(failed.len()));
        Observation { cure: cure.map(str::to_owned), ..Observation::of(job, evidence(&failed), what) }
    });
    let tolerated = job.total.as_ref().map(|total| total.tolerated).filter(|tolerated| tolerated.n_total > 0);
    let of_tolerated = tolerated.map(|tolerated| {
        let n_errors = match tolerated.n_total {
            1 => "one error".to_owned(),
            n_total => format!("{} errors", thousands(n_total)),
        };
        let what = format!("The job had {n_errors} that it tolerated, the first: {}.", words(tolerated.first_errno));
        let found = Observation::of(job, vec![Measured::count("tolerated errors", tolerated.n_total as f64)], what);
        Observation { cure: cure(tolerated.first_errno).map(str::to_owned), ..found }
    });
    [of_killed, of_failed, of_tolerated].into_iter().flatten().collect()
}

/// The limit of the job that ended it, and the cure; `None`: it was none.
fn missed_limit(failure: &Failure) -> Option<(String, &'static str)> {
    match failure.note.as_deref()? {
        Note::Io(IoNote::TooSlow { .. }) => {
            Some(("it did less than its rate_min or rate_iops_min".to_owned(), CURE_OF_MINIMUM))
        }
        Note::Io(IoNote::TooLate { latency_ns, limit_ns, .. }) => {
            let us = |ns: u64| text::short(ns as f64 / 1e3);
            let reason = format!("an I/O took {} us, and max_latency allows {} us", us(*latency_ns), us(*limit_ns));
            Some((reason, CURE_OF_LATENCY))
        }
        _ => None,
    }
}

const CURE_OF_MARKS: &str = "Blocks that no job has written with the same verify= have no marks: write them first, with the same verify=, bs and size. If they were \
                             written so, write them anew and verify them again, with nobody else on the target: other data a second time means that \
                             the storage loses it. The messages of the run name the first block.";

const CURE_OF_LATENCY: &str = "Raise max_latency, which is in microseconds without a unit (max_latency=10ms), or leave it out: the longest latency is in the \
                               figures.";

const CURE_OF_MINIMUM: &str = "Lower rate_min or rate_iops_min, or let the job do more: a larger --iodepth with an asynchronous engine, more jobs, \
                               a device that carries the rate. What it did is in the figures.";

/// The cure of an error that tells its cause; `None`: that of the rule.
fn cure(errno: i32) -> Option<&'static str> {
    match ErrorCause::of(errno)? {
        ErrorCause::OtherData => Some(
            "Write the blocks anew and verify them again, with nobody else on the target: other data a second time means that the storage loses it. \
             The messages of the run name the first block.",
        ),
        ErrorCause::NoSpace => {
            Some("Make room on the file system, or use less of it: a smaller --size, --filesize or --nrfiles.")
        }
        ErrorCause::FileTooLong => Some(
            "Use smaller files, or raise the limit (ulimit -f unlimited); `df -T` shows the file system, which has one too.",
        ),
        ErrorCause::NotTaken => Some(
            "Look for what the target does not take: direct I/O in blocks, offsets or buffers that are no multiple of its logical block size \
             (`lsblk -o NAME,LOG-SEC`), or direct=1 itself.",
        ),
        ErrorCause::TooManyOpen => {
            Some("Keep fewer files open at a time (openfiles=N), or raise the limit of open files (ulimit -n).")
        }
        ErrorCause::NoRights => {
            Some("Give rights to the target, or name another one; a file system may be mounted for reading only.")
        }
    }
}

/// The cure of a signal that tells its cause, by its number on Linux; `None`: that of the rule.
fn cure_of_signal(signal: i32) -> Option<&'static str> {
    match signal {
        SIGKILL => Some(
            "Find out what killed it: `kill -9`, a time limit (timeout -s KILL), or the kernel for want of memory, of which it writes in its log \
             (dmesg); and repeat the run.",
        ),
        SIGXCPU => Some("Raise the limit of CPU time (ulimit -t unlimited), and repeat the run."),
        SIGXFSZ => Some(
            "A file would have become longer than the process may make it: raise that limit (ulimit -f unlimited), or use smaller files.",
        ),
        _ => None,
    }
}

const SIGKILL: i32 = 9;
const SIGXCPU: i32 = 24;
const SIGXFSZ: i32 = 25;

fn was_killed(worker: &WorkerRecord) -> bool {
    worker.fate.killed_by.is_some() || worker.fate.is_cut_short
}

fn n_ios(stats: &ThreadStats) -> u64 {
    sum(DataDirection::ALL.into_iter().map(|direction| stats.directions[direction].n_completed))
}

fn words(errno: i32) -> String {
    if errno == OTHER_DATA { "verification found other data than was written".to_owned() } else { errno_text(errno) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::testing::{TestRun, job};
    use ferrio_stats::ErrorCounts;

    fn told(change: fn(&mut WorkerRecord)) -> Option<String> {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        change(&mut scene.record.workers[0]);
        scene.found().contains(&RULE.id.to_owned()).then(|| scene.finding(RULE.id).explanation)
    }

    #[test]
    fn a_failure_of_any_kind_is_told() {
        assert_eq!(told(|_| ()), None);
        let eio = told(|worker| worker.fate.failure = Some(Failure::new(5, "x.rs:1", "io_u error"))).expect("told");
        assert_eq!(eio, "The job ended with an error: Input/output error. The figures are those until then.");
        let data = told(|worker| worker.fate.failure = Some(Failure::new(84, "x.rs:1", "verify"))).expect("told");
        assert!(data.contains("verification found other data than was written"), "{data}");
        let killed = told(|worker| (worker.fate.killed_by, worker.fate.is_cut_short) = (Some(9), true)).expect("told");
        assert!(killed.starts_with("The job ended by signal 9 before it had done its work"), "{killed}");
        let tolerated = told(|worker| {
            worker.stats.tolerated = ErrorCounts { n_total: 1200, first_errno: 5, ..ErrorCounts::default() }
        })
        .expect("told");
        assert_eq!(tolerated, "The job had 1,200 errors that it tolerated, the first: Input/output error.");
    }

    /// What helps depends on the error: a full file system is nothing of which the kernel writes in its log.
    #[test]
    fn the_cure_is_that_of_the_error() {
        let cure = |failure: Failure| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            scene.record.workers[0].fate.failure = Some(failure);
            scene.finding(RULE.id)
        };
        let of = |errno: i32| cure(Failure::new(errno, "x.rs:1", "io_u error")).cure;
        assert!(of(28).contains("room") && !of(28).contains("dmesg"));
        assert!(of(22).contains("logical block size") && of(84).contains("verify"));
        assert!(of(5).contains("dmesg"));
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.record.workers[0].fate.failure = Some(Failure::new(84, "x.rs:1", "verify"));
        assert!(scene.finding(RULE.id).cure.starts_with("Blocks that no job has written"));
        assert!(of(24).contains("ulimit -n") && !of(24).contains("dmesg"));
        let note = IoNote::TooSlow { job: "a".to_owned(), misses: Vec::new() };
        let slow = cure(Failure { note: Some(Box::new(note.into())), ..Failure::new(5, "x.rs:1", "check_min_rate") });
        assert!(slow.explanation.contains("rate_min") && !slow.explanation.contains("Input/output"), "{slow:?}");
        assert!(slow.cure.contains("Lower rate_min") && !slow.cure.contains("dmesg"), "{slow:?}");
        let note = IoNote::TooLate {
            latency_ns: 5_337_623,
            limit_ns: 10_000,
            file: "f".to_owned(),
            action: "read".into(),
            offset: 0,
            length: 4096,
        };
        let late = cure(Failure { note: Some(Box::new(note.into())), ..Failure::new(110, "x.rs:1", "max latency") });
        assert!(late.explanation.contains("took 5,338 us, and max_latency allows 10 us"), "{late:?}");
        assert!(late.cure.contains("max_latency=10ms"), "{late:?}");
    }

    #[test]
    fn a_signal_that_tells_its_cause_has_a_cure_of_its_own() {
        let cure = |signal: i32| {
            let mut scene = TestRun::new(job("a", DirectionMix::Write));
            let fate = &mut scene.record.workers[0].fate;
            (fate.killed_by, fate.is_cut_short) = (Some(signal), true);
            scene.finding(RULE.id).cure
        };
        assert!(cure(25).contains("ulimit -f") && cure(24).contains("ulimit -t") && cure(9).contains("want of memory"));
        assert_eq!(cure(11), RULE.cure);
    }

    #[test]
    fn one_of_several_clones_is_told_too() {
        let mut scene = TestRun::new(job("a", DirectionMix::Read));
        scene.jobs[0].numjobs = 2;
        let mut clone = scene.record.workers[0].clone();
        clone.fate.failure = Some(Failure::new(5, "x.rs:1", "io_u error"));
        scene.record.workers.push(clone);
        assert!(scene.finding(RULE.id).explanation.starts_with("1 of 2 clones of the job ended with an error"));
    }

    #[test]
    fn a_run_that_was_stopped_or_did_nothing_has_no_such_finding() {
        assert_eq!(told(|worker| worker.fate.failure = Some(Failure::stopped())), None);
        let nothing = told(|worker| {
            worker.fate.failure = Some(Failure::new(2, "x.rs:1", "open"));
            *worker.stats = ThreadStats::default();
        });
        assert_eq!(nothing, None);
    }
}
