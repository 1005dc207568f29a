//! Both answers of each function: in a run of fio's options, and in a native one.
//!
//! Start reading at [`both`]. Expected values: the comments of the functions, and arithmetic.

use super::*;
use crate::plan::{RunPlan, WorkerPlan};
use ferrio_spec::{Compatibility, DirectionMix, JobSpec, RunSpec};

/// A change to a job with the defaults of the option table.
type Change = fn(&mut JobSpec);

/// A job as it is.
const PLAIN: Change = |_| ();
const MIX: Change = |job| job.pattern.mix = DirectionMix::ReadWrite;
const PAIRS: Change = |job| job.pattern.mix = DirectionMix::TrimWrite;

fn worker(compatibility: Compatibility, change: impl FnOnce(&mut JobSpec)) -> WorkerPlan {
    let mut job = JobSpec::default();
    change(&mut job);
    RunPlan::new(RunSpec { global_options: Vec::new(), jobs: vec![job], compatibility }).unwrap().workers.remove(0)
}

/// The answers for a job of fio and for the same native job.
fn both<T>(change: impl Fn(&mut JobSpec), answer: impl Fn(&WorkerPlan) -> T) -> [T; 2] {
    [Compatibility::Fio, Compatibility::Native].map(|compatibility| answer(&worker(compatibility, &change)))
}

#[test]
fn locks_and_schedulers_are_left_by_fio_only() {
    assert_eq!(both(PLAIN, unlocks_before_done), [true, false]);
    assert_eq!(both(PLAIN, leaves_scheduler), [true, false]);
}

#[test]
fn figures_of_nothing_are_those_of_fio() {
    assert_eq!(both(PLAIN, counts_unrepeated), [true, false]);
    assert_eq!(both(PLAIN, lacks_disks_of_trace), [true, false]);
}

// A pass of 10 bytes in a job of 30.
#[test]
fn pairs_count_twice_or_together() {
    let pass_bytes = |worker: &WorkerPlan| pass_bytes_of_pairs(worker, 10, 30);
    assert_eq!((both(PAIRS, pass_bytes), both(PAIRS, ios_counted_as_one)), ([40, 20], [2, 1]));
    assert_eq!((both(MIX, pass_bytes), both(MIX, ios_counted_as_one)), ([10, 10], [1, 1]));
    let without_limit = |worker: &WorkerPlan| pass_bytes_of_pairs(worker, 10, u64::MAX);
    assert_eq!(both(PAIRS, without_limit), [u64::MAX, 20]);
}
