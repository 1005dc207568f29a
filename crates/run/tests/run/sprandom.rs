//! Passes of `sprandom` as whole runs: their length, their ends, and the verification of their writes.
//!
//! Must not know: which blocks are overwritten (see `workload`). Start reading at [`a_pass_writes_the_physical_space`].

use crate::builder::{BLOCK, set_depth, sim_reader, simulate, simulate_one, writes};
use crate::verify::{EILSEQ, N_BLOCKS, figures, verified};
use ferrio_run::MessageStream;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{DirectionMix, JobSpec, SizeSpec, SpRandomSpec, VerifyBacklogSpec, VerifyMethod};

fn precondition(job: &mut JobSpec, over_provisioning: f64) {
    job.pattern.mix = DirectionMix::Write;
    (job.pattern.random, job.pattern.rw_postfix) = (true, 1);
    job.pattern.sprandom = Some(SpRandomSpec { n_regions: 100, over_provisioning, cache_bytes: 0 });
}

/// Number of writes of a job of 1000 blocks, with a change.
fn n_writes(change: impl Fn(&mut JobSpec)) -> u64 {
    let run = |iodepth: u32| {
        let mut job = sim_reader("j", "fixed:10us", 1000);
        precondition(&mut job, 0.15);
        set_depth(&mut job, iodepth);
        change(&mut job);
        let stats = simulate_one(job);
        assert_eq!(writes(&stats).bytes, writes(&stats).n_completed * BLOCK);
        writes(&stats).n_completed
    };
    let (one, eight) = (run(1), run(8));
    assert_eq!(one, eight, "whatever the depth");
    one
}

#[test]
fn a_pass_writes_the_physical_space() {
    assert_eq!(n_writes(|_| ()), 1150);
    assert_eq!(n_writes(|job| precondition(job, 1.0)), 2000);
    // A partial block at the end is left out.
    assert_eq!(n_writes(|job| job.extent.size = Some(SizeSpec::Bytes(1000 * BLOCK + 4095))), 1150);
}

#[test]
fn a_pass_may_end_sooner_or_be_repeated() {
    assert_eq!(n_writes(|job| job.extent.io_size = Some(SizeSpec::Bytes(400 * BLOCK))), 400);
    assert_eq!(n_writes(|job| job.extent.io_size = Some(SizeSpec::Percent(50))), 500);
    assert_eq!(n_writes(|job| job.extent.io_size = Some(SizeSpec::Bytes(1600 * BLOCK))), 1600);
    assert_eq!(n_writes(|job| job.extent.number_ios = 1_100), 1_100);
    assert_eq!(n_writes(|job| job.limits.loops = 3), 3 * 1150);
    let timed = |job: &mut JobSpec| (job.limits.time_based, job.limits.runtime_us) = (true, 30_000);
    let mut job = sim_reader("j", "fixed:10us", 1000);
    precondition(&mut job, 0.15);
    timed(&mut job);
    assert_eq!(writes(&simulate_one(job)).n_completed, 3_000);
    let mut job = sim_reader("j", "fixed:10us", 1000);
    precondition(&mut job, 0.15);
    job.limits.runtime_us = 5_000;
    assert_eq!(writes(&simulate_one(job)).n_completed, 500);
}

/// The rate covers all writes.
#[test]
fn a_rate_is_kept() {
    let mut job = sim_reader("j", "fixed:10us", 100);
    precondition(&mut job, 0.15);
    job.pace.ios_per_sec.0 = [1_000; 3];
    let stats = simulate_one(job);
    assert_eq!(writes(&stats).n_completed, 115);
    // The first starts at once, and each later one a millisecond after the one before.
    assert_eq!(writes(&stats).runtime_ns, 114_000_000 + 10_000);
}

#[test]
fn jobs_have_orders_of_their_own() {
    let job = |name| {
        let mut job = sim_reader(name, "fixed:10us", 100);
        precondition(&mut job, 0.5);
        job
    };
    let (outcome, events) = simulate(vec![job("a"), job("b")]);
    assert_eq!((outcome.n_failed, events.text(MessageStream::Error)), (0, String::new()));
    assert!(outcome.record.workers.iter().all(|job| writes(&job.stats).n_completed == 150));
}

#[test]
fn a_cache_that_is_too_large_is_told() {
    let mut job = sim_reader("j", "fixed:10us", 100);
    precondition(&mut job, 0.15);
    job.pattern.sprandom.as_mut().unwrap().cache_bytes = 26 * BLOCK;
    for (n_regions, line) in [
        (1, "sprandom: spr_cs=106496 is more than a quarter of its 100 blocks"),
        // The pass has 115 blocks.
        (5, "sprandom: spr_cs [106496] must be smaller than region_sz [94208] which means [4] regions allowed"),
    ] {
        let mut job = job.clone();
        job.pattern.sprandom.as_mut().unwrap().n_regions = n_regions;
        let (outcome, events) = simulate(vec![job]);
        assert_eq!(outcome.n_failed, 1);
        let text = events.text(MessageStream::Error);
        assert!(text.contains(line), "{text}");
    }
}

/// There are as many overwrites as blocks: the newest write of each is read back, and none is reported as damage.
#[test]
fn the_newest_of_each_block_is_verified() {
    let flows: [fn(&mut JobSpec); 4] = [
        |_| (),
        |job| job.verify.as_mut().unwrap().backlog = Some(VerifyBacklogSpec { blocks: 5, batch: 3 }),
        |job| job.limits.loops = 2,
        |job| {
            set_depth(job, 16);
            job.submission.serialize_overlap = true;
        },
    ];
    for (at, change) in flows.into_iter().enumerate() {
        let job = || {
            let mut job = verified(VerifyMethod::Crc32c);
            precondition(&mut job, 1.0);
            change(&mut job);
            job
        };
        let (outcome, events) = simulate(vec![job()]);
        let (n_writes, n_reads, errno) = figures(&outcome);
        assert_eq!((errno, events.text(MessageStream::Error)), (0, String::new()), "{at}");
        let n_passes = if at == 2 { 2 } else { 1 };
        assert_eq!(n_writes, n_passes * 2 * N_BLOCKS, "{at}");
        assert!(n_reads >= n_passes * N_BLOCKS, "{at}: {n_reads}");
        // The last write is not overwritten.
        let mut damaged = job();
        damaged.engine.options.set(&sim::FAULT, &format!("write=flip@{n_writes}"));
        assert_eq!(figures(&simulate(vec![damaged]).0).2, EILSEQ, "{at}");
    }
}
