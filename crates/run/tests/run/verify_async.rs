//! `verify_async`: helper threads find the same faults as the job itself, and the job ends with them.
//!
//! Start reading at [`a_fault_ends_the_job_when_its_place_is_needed`].

use crate::builder::{set_depth, simulate};
use crate::verify::{figures, verified};
use ferrio_run::MessageStream;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{ErrorClasses, JobSpec, VerifyMethod};
use ferrio_sys::errno::EILSEQ;

/// Writes 64 blocks, of which some get damaged, and reads them back.
fn damaged(n_threads: u32, iodepth: u32, fault: &str) -> JobSpec {
    let mut job = verified(VerifyMethod::Crc32c);
    job.engine.options.set(&sim::FAULT, &format!("write=flip@{fault}"));
    set_depth(&mut job, iodepth);
    job.verify.as_mut().unwrap().n_threads = n_threads;
    job
}

#[test]
fn a_fault_ends_the_job_when_its_place_is_needed() {
    // A thread has four places: the result of block 20 is taken when block 24 or 28 comes.
    for (n_threads, n_reads) in [(0, 20), (1, 24), (2, 28)] {
        let (outcome, events) = simulate(vec![damaged(n_threads, 1, "20")]);
        assert_eq!((outcome.n_failed, figures(&outcome)), (1, (64, n_reads, EILSEQ)), "{n_threads}");
        assert!(events.text(MessageStream::Error).contains("(requested block: offset=77824, length=4096"));
    }
    // With several in flight it is taken no earlier, and at most as many reads later as are in flight.
    let (outcome, _) = simulate(vec![damaged(2, 8, "20")]);
    let (_, n_reads, errno) = figures(&outcome);
    assert!((28..=28 + 8).contains(&n_reads) && errno == EILSEQ, "{n_reads}");
}

#[test]
fn the_last_blocks_are_checked_too() {
    for (n_threads, iodepth) in [(1, 1), (3, 1), (2, 8)] {
        let (outcome, _) = simulate(vec![damaged(n_threads, iodepth, "64")]);
        assert_eq!((outcome.n_failed, figures(&outcome)), (1, (64, 64, EILSEQ)), "{n_threads} {iodepth}");
    }
}

/// The reports are the same, in the same order.
#[test]
fn all_faults_are_told_where_they_are_tolerated() {
    let run = |n_threads| {
        let mut job = damaged(n_threads, 8, "/8");
        job.errors.continue_on = ErrorClasses { verify: true, ..ErrorClasses::default() };
        let (outcome, events) = simulate(vec![job]);
        assert_eq!(outcome.record.workers[0].stats.tolerated.n_total, 8);
        (figures(&outcome), events.text(MessageStream::Error))
    };
    let inline = run(0);
    assert_eq!(inline.1.matches("requested block").count(), 8);
    for n_threads in [1, 2, 5] {
        assert_eq!(run(n_threads), inline, "{n_threads}");
    }
}

/// Jobs that only read check their reads; here no data was written by verification.
#[test]
fn a_reader_is_checked_by_threads() {
    let mut job = damaged(2, 1, "1");
    job.pattern.mix = ferrio_spec::DirectionMix::Read;
    let verify = job.verify.as_mut().unwrap();
    (verify.reads_back, verify.checks_seed, verify.checks_sequence) = (false, false, false);
    let (outcome, _) = simulate(vec![job]);
    // The very first block is faulty: its result is taken when its place is needed again.
    assert_eq!((outcome.n_failed, figures(&outcome)), (1, (0, 9, EILSEQ)));
}
