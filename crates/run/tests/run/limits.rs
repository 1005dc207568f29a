//! The end of a job: sizes, numbers, times, passes, the ramp.
//!
//! Start reading at [`a_pass_ends_with_its_size`].

use crate::builder::{BLOCK, MS, US, reads, set_depth, sim_reader, simulate, simulate_one};
use ferrio_spec::engines::options::sim;
use ferrio_spec::{DirectionMix, JobSpec, SizeSpec};
use ferrio_stats::ThreadStats;
use ferrio_units::DataDirection;

/// Runs 100 blocks of 100 us, with a change to the job.
fn with(change: impl FnOnce(&mut JobSpec)) -> ThreadStats {
    let mut job = sim_reader("j", "fixed:100us", 100);
    change(&mut job);
    simulate_one(job)
}

/// Checks I/Os, bytes and runtime of a job without a ramp.
fn assert_ios(stats: &ThreadStats, n_ios: u64) {
    let read = reads(stats);
    assert_eq!((read.n_issued, read.n_completed, read.bytes), (n_ios, n_ios, n_ios * BLOCK));
    assert_eq!(read.runtime_ns, n_ios * 100 * US);
}

#[test]
fn a_pass_ends_with_its_size() {
    assert_ios(&with(|_| ()), 100);
    // A partial block at the end of a file is left out.
    assert_ios(&with(|job| job.extent.size = Some(SizeSpec::Bytes(100 * BLOCK + 4_095))), 100);
}

#[test]
fn io_size_may_be_less_or_more_than_the_size() {
    assert_ios(&with(|job| job.extent.io_size = Some(SizeSpec::Bytes(40 * BLOCK))), 40);
    assert_ios(&with(|job| job.extent.io_size = Some(SizeSpec::Percent(50))), 50);
    // 100 blocks two and a half times.
    for io_size in [SizeSpec::Bytes(250 * BLOCK), SizeSpec::Percent(250)] {
        assert_ios(&with(|job| job.extent.io_size = Some(io_size)), 250);
        let random = with(|job| {
            job.extent.io_size = Some(io_size);
            job.pattern.random = true;
            job.pattern.rw_postfix = 1;
        });
        assert_ios(&random, 250);
    }
}

#[test]
fn loops_are_passes() {
    assert_ios(&with(|job| job.limits.loops = 3), 300);
    let several = with(|job| {
        job.limits.loops = 3;
        job.extent.io_size = Some(SizeSpec::Bytes(30 * BLOCK));
    });
    // io_size times loops is the limit; each pass continues to the end of the file.
    assert_ios(&several, 90);
}

#[test]
fn number_ios_counts_reads_and_writes() {
    assert_ios(&with(|job| job.extent.number_ios = 10), 10);
    assert_ios(&with(|job| job.extent.number_ios = 1_000), 100);
    let mixed = with(|job| {
        job.extent.number_ios = 10;
        job.pattern.mix = DirectionMix::ReadWrite;
    });
    assert_eq!(mixed.n_issued(), 10);
    // A trim and its write count as one.
    let pairs = with(|job| {
        job.extent.number_ios = 10;
        job.pattern.mix = DirectionMix::TrimWrite;
    });
    let n = |direction: DataDirection| pairs.directions[direction].n_completed;
    assert_eq!((n(DataDirection::Trim), n(DataDirection::Write)), (10, 10));
}

#[test]
fn runtime_is_an_upper_bound() {
    assert_ios(&with(|job| job.limits.runtime_us = 5_000), 50);
    assert_ios(&with(|job| job.limits.runtime_us = 50_000), 100);
}

#[test]
fn time_based_starts_over() {
    let timed = |random: bool| {
        with(|job| {
            job.limits.time_based = true;
            job.limits.runtime_us = 35_000;
            (job.pattern.random, job.pattern.rw_postfix) = (random, i64::from(random));
        })
    };
    assert_ios(&timed(false), 350);
    assert_ios(&timed(true), 350);
}

#[test]
fn a_runtime_holds_without_stamps_on_a_slow_device() {
    let mut job = sim_reader("j", "fixed:100ms", 1_000);
    job.limits.runtime_us = 2_000_000;
    job.reporting.gtod_reduce = true;
    let stats = simulate_one(job);
    // The clock is read less often, but often enough that the job overruns by only a few I/Os.
    assert!((20..=21).contains(&reads(&stats).n_completed), "{}", reads(&stats).n_completed);
}

#[test]
fn the_ramp_is_not_counted() {
    let stats = with(|job| {
        job.limits.time_based = true;
        job.limits.ramp_time_us = 10_000;
        job.limits.runtime_us = 20_000;
    });
    // 10 ms of ramp, then 20 ms of counted I/O.
    assert_ios(&stats, 200);
    assert_eq!(stats.depth.0[0], 200);
    assert_eq!(stats.total_runtime_ns, 20 * MS);
}

#[test]
fn a_job_that_ends_in_its_ramp_has_counted_nothing() {
    let stats = with(|job| job.limits.ramp_time_us = 1_000_000);
    assert_eq!((reads(&stats).n_issued, reads(&stats).bytes, reads(&stats).runtime_ns), (0, 0, 0));
}

#[test]
fn the_ramp_ends_with_ios_in_flight() {
    let stats = with(|job| {
        job.engine.options.set(&sim::CHANNELS, 4);
        set_depth(job, 4);
        job.limits.time_based = true;
        job.limits.ramp_time_us = 10_000;
        job.limits.runtime_us = 20_000;
    });
    // 200 rounds of 4 are issued. Of the 4 that complete when the ramp ends, one is handled before its end.
    let read = reads(&stats);
    assert_eq!((read.n_issued, read.n_completed), (800, 803));
    assert_eq!((read.clat.n_samples, read.slat.n_samples), (803, 800));
    assert_eq!((read.clat.min_ns, read.clat.max_ns), (100 * US, 100 * US));
}

#[test]
fn several_files_share_the_size() {
    let stats = with(|job| job.target.nrfiles = 4);
    assert_ios(&stats, 100);
    let deep = with(|job| {
        job.target.nrfiles = 4;
        job.limits.loops = 2;
        set_depth(job, 3);
    });
    assert_eq!((reads(&deep).n_completed, reads(&deep).bytes), (200, 200 * BLOCK));
}

#[test]
fn the_files_of_a_job_lie_apart_on_the_device() {
    let mut job = sim_reader("j", "fixed:100us", 32);
    job.pattern.mix = DirectionMix::Write;
    job.target.nrfiles = 2;
    // There is room for the first file and half of the second; then the device is full.
    job.engine.options.set(&sim::CAPACITY, (24 * BLOCK) as i64);
    let (outcome, _) = simulate(vec![job]);
    assert_eq!((outcome.n_failed, outcome.record.workers[0].stats.errno), (1, 28));
}
