//! States of blocks under trims and writes.
//!
//! Start reading at [`trimmed_and_written_again`].

use crate::builder::{first_block, sim_reader, simulate, simulate_one};
use ferrio_spec::engines::options::sim;
use ferrio_spec::{DirectionMix, ErrorClasses, JobSpec};
use ferrio_stats::{BlockState, BlockStates};

fn job(mix: DirectionMix) -> JobSpec {
    let mut job = sim_reader("j", "fixed:10us", 16);
    (job.pattern.mix, job.reporting.block_error_percentiles) = (mix, true);
    job
}

fn counts(states: &BlockStates) -> [u64; 5] {
    BlockState::ALL.map(|state| states.count(state))
}

fn states(job: JobSpec) -> BlockStates {
    simulate_one(job).features.block_states.expect("the job asks for them")
}

#[test]
fn trimmed_and_written_again() {
    assert_eq!(counts(&states(job(DirectionMix::TrimWrite))), [0, 0, 16, 0, 0]);
    let mut part = job(DirectionMix::Trim);
    part.extent.number_ios = 5;
    assert_eq!(counts(&states(part)), [11, 5, 0, 0, 0]);
}

#[test]
fn blocks_that_fail_stay_so_and_have_their_trims() {
    let mut job = job(DirectionMix::TrimWrite);
    job.limits.loops = 3;
    // The 20th write fails: the fourth block in the second pass, after its second trim.
    job.engine.options.set(&sim::FAULT, "write=eio@20");
    job.errors.continue_on = ErrorClasses { read: true, write: true, verify: true };
    let (mut outcome, _) = simulate(vec![job]);
    let states = outcome.record.workers.remove(0).stats.features.block_states.expect("the job asks for them");
    assert_eq!(counts(&states), [0, 0, 15, 0, 1]);
    // Later I/Os to the block do not count.
    assert_eq!(states.percentiles(&[50.0]), [(50.0, 2)]);
}

#[test]
fn members_of_a_group_are_summed_and_others_have_none() {
    let mut group = job(DirectionMix::TrimWrite);
    (group.numjobs, group.grouping.group_reporting) = (2, true);
    let (outcome, _) = simulate(vec![group]);
    let states = first_block(&outcome).features.block_states.expect("the job asks for them");
    assert_eq!(counts(&states), [0, 0, 32, 0, 0]);
    assert_eq!(counts(&self::states(job(DirectionMix::Write))), [0; 5], "without trims there is nothing to tell");
    assert_eq!(simulate_one(sim_reader("j", "fixed:10us", 16)).features.block_states, None);
}
