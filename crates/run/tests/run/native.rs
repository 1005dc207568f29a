//! A native run has none of fio's oddities; the same jobs as jobs of fio have them.
//!
//! Start reading at [`with`]. The end-to-end tests compare the other runs with fio.

use crate::builder::{BLOCK, Events, MS, sim_reader, spec, virtual_settings};
use ferrio_run::{Run, RunOutcome};
use ferrio_spec::{Compatibility, DirectionMix, JobSpec, RunSpec, SizeSpec, VerifiedWrites, VerifyMethod, VerifySpec};
use ferrio_units::DataDirection;

/// Runs 100 blocks of 100 us each, after a change to the job.
fn with(compatibility: Compatibility, change: impl FnOnce(&mut JobSpec)) -> RunOutcome {
    let mut job = sim_reader("j", "fixed:100us", 100);
    change(&mut job);
    let spec = RunSpec { compatibility, ..spec(vec![job]) };
    Run::new(spec, virtual_settings()).unwrap().go(&mut Events::default()).unwrap()
}

/// Number of I/Os of the same job, first as fio's and then as a native one.
fn ios(change: impl Fn(&mut JobSpec)) -> [u64; 2] {
    [Compatibility::Fio, Compatibility::Native].map(|compatibility| {
        let outcome = with(compatibility, &change);
        assert_eq!(outcome.n_failed, 0);
        outcome.record.workers.iter().map(|worker| worker.stats.directions[DataDirection::Read].n_completed).sum()
    })
}

// 10 ms of 100 us each are 100 I/Os.
#[test]
fn a_number_of_ios_ends_a_native_job_with_time() {
    let timed = |job: &mut JobSpec| {
        (job.limits.time_based, job.limits.runtime_us, job.extent.number_ios) = (true, 10 * MS / 1_000, 7);
    };
    assert_eq!(ios(timed), [100, 7]);
}

// A share of 1 % is less than a block of 4 KiB: fio refuses it, and a native job has one I/O.
#[test]
fn a_native_job_does_a_share_that_is_less_than_a_block() {
    let share = |job: &mut JobSpec| {
        (job.extent.size, job.extent.io_size) = (Some(SizeSpec::Bytes(50 * BLOCK)), Some(SizeSpec::Percent(1)));
    };
    assert_eq!(with(Compatibility::Fio, share).n_failed, 1);
    let native = with(Compatibility::Native, share);
    assert_eq!((native.n_failed, native.record.workers[0].stats.directions[DataDirection::Read].n_completed), (0, 1));
}

// 120 % of 50 blocks of 4 KiB, in every kind of run.
#[test]
fn more_than_the_whole_is_that_multiple_of_the_size() {
    let many = |job: &mut JobSpec| {
        (job.extent.size, job.extent.io_size) = (Some(SizeSpec::Bytes(50 * BLOCK)), Some(SizeSpec::Percent(120)));
    };
    assert_eq!(ios(many), [60, 60]);
}

#[test]
fn native_clones_have_the_name_of_the_job() {
    let names = |compatibility| {
        let outcome = with(compatibility, |job| {
            (job.name, job.section, job.numjobs) = ("given".to_owned(), "section".to_owned(), 2);
        });
        outcome.record.workers.iter().map(|worker| worker.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(Compatibility::Fio), ["given", "section"]);
    assert_eq!(names(Compatibility::Native), ["given", "given"]);
}

/// I/Os of each direction of the same job, first as fio's and then as a native one.
fn directions(change: impl Fn(&mut JobSpec)) -> [[u64; 3]; 2] {
    [Compatibility::Fio, Compatibility::Native].map(|compatibility| {
        let outcome = with(compatibility, &change);
        assert_eq!(outcome.n_failed, 0);
        outcome.record.workers[0].stats.directions.0.each_ref().map(|figures| figures.n_completed)
    })
}

// fio counts a trim and its write as one: 7 of each. Of 7 native I/Os, the last one is a trim. Both end after 2 passes of
// 100 blocks.
#[test]
fn each_io_of_a_native_pair_counts() {
    let pairs = |number_ios, loops| {
        directions(move |job| {
            job.pattern.mix = DirectionMix::TrimWrite;
            (job.extent.number_ios, job.limits.loops) = (number_ios, loops);
        })
    };
    assert_eq!(pairs(7, 1), [[0, 7, 7], [0, 3, 4]]);
    assert_eq!(pairs(0, 2), [[0, 200, 200], [0, 200, 200]]);
}

// An earlier run wrote 100 blocks; they are read back, and fio counts the writes too.
#[test]
fn a_native_job_counts_no_write_that_it_does_not_repeat() {
    let earlier = |job: &mut JobSpec| {
        job.pattern.mix = DirectionMix::Write;
        job.verify = Some(VerifySpec {
            reads: VerifiedWrites::OfEarlierRun,
            saves_state: false,
            ..VerifySpec::of(VerifyMethod::Null)
        });
    };
    assert_eq!(directions(earlier), [[100, 100, 0], [100, 0, 0]]);
}
