//! Rates and pauses: numbers of I/Os in a time, their directions and latencies, and the end of jobs that are too slow.
//!
//! Start reading at [`a_rate_is_kept`].

use crate::builder::{BLOCK, MS, US, job, reads, run, set_depth, sim_reader, simulate, simulate_one, writes};
use ferrio_run::MessageStream;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{BlockRange, DirectionMix, DrawnTime, JobSpec, PaceSpec, RateLatency, RateProcess, SizeSpec};
use ferrio_stats::ThreadStats;

/// Runs a job for one second, with a change, on a device that needs 100 us for an I/O.
fn second(change: impl FnOnce(&mut JobSpec)) -> ThreadStats {
    let mut job = sim_reader("j", "fixed:100us", 100_000);
    (job.limits.time_based, job.limits.runtime_us) = (true, 1_000_000);
    change(&mut job);
    simulate_one(job)
}

fn with_iops(ios_per_sec: [u32; 3]) -> impl Fn(&mut JobSpec) {
    move |job| job.pace.ios_per_sec.0 = ios_per_sec
}

fn counts(stats: &ThreadStats) -> (u64, u64) {
    (reads(stats).n_completed, writes(stats).n_completed)
}

#[test]
fn a_rate_is_kept() {
    for rate in [1, 7, 1_000, 5_000, 9_999] {
        let stats = second(with_iops([rate; 3]));
        // The first I/O is due at the start; the next one at the end would begin too late.
        assert_eq!(reads(&stats).n_completed, u64::from(rate), "{rate}");
        assert_eq!(reads(&stats).runtime_ns, 1_000 * MS, "{rate}");
    }
    // The device can do no more.
    assert_eq!(reads(&second(with_iops([20_000; 3]))).n_completed, 10_000);
    let by_bytes = |rate: u64| reads(&second(|job| job.pace.bytes_per_sec.0 = [rate; 3])).n_completed;
    assert_eq!((by_bytes(1_000 * BLOCK), by_bytes(BLOCK / 2), by_bytes(u64::MAX)), (1_000, 1, 10_000));
}

#[test]
fn a_wait_is_no_latency() {
    let read = second(with_iops([1_000; 3]));
    let read = reads(&read);
    assert_eq!((read.clat.min_ns, read.clat.max_ns), (100 * US, 100 * US));
    assert_eq!((read.lat.min_ns, read.lat.max_ns), (100 * US, 100 * US));
}

#[test]
fn a_job_ends_with_its_size_at_its_rate() {
    let mut job = sim_reader("j", "fixed:100us", 500);
    job.pace.ios_per_sec.0 = [1_000; 3];
    let stats = simulate_one(job);
    // The last begins 499 ms after the first, and takes 100 us.
    assert_eq!((reads(&stats).n_completed, reads(&stats).runtime_ns), (500, 499 * MS + 100 * US));
}

#[test]
fn who_was_held_up_catches_up() {
    let stats = second(|job| {
        // The device stalls from 0.9 s to 1.2 s: 1500 I/Os are late, and done by 1.5 s.
        job.engine.options.set(&sim::STALL, "900ms/300ms");
        job.pace.ios_per_sec.0 = [5_000; 3];
        job.limits.runtime_us = 1_700_000;
    });
    assert_eq!((reads(&stats).n_completed, reads(&stats).clat.max_ns), (8_500, 300 * MS + 100 * US));
}

#[test]
fn directions_have_rates_of_their_own() {
    let mix = |ios_per_sec: [u32; 3]| {
        counts(&second(|job| {
            (job.pattern.mix, job.pattern.random, job.pattern.rw_postfix) = (DirectionMix::ReadWrite, true, 1);
            with_iops(ios_per_sec)(job);
        }))
    };
    assert_eq!(mix([1_000, 500, 0]), (1_000, 500));
    assert_eq!(mix([500; 3]), (500, 500));
    // A direction without a rate takes the rest of the device's time.
    let (n_reads, n_writes) = mix([1_000, 0, 0]);
    assert_eq!((n_reads, n_reads + n_writes), (1_000, 10_000));
    let pairs = second(|job| {
        job.pattern.mix = DirectionMix::TrimWrite;
        with_iops([0, 500, 1_000])(job);
    });
    assert_eq!(counts(&pairs), (0, 500));
}

#[test]
fn what_counts_for_a_rate_are_bytes() {
    let mixed_sizes = |process: RateProcess| {
        let stats = second(|job| {
            (job.pattern.random, job.pattern.rw_postfix, job.pattern.norandommap) = (true, 1, true);
            job.pattern.block_size.0[0] = BlockRange { min_bytes: BLOCK, max_bytes: 3 * BLOCK };
            (job.pace.ios_per_sec.0, job.pace.process) = ([1_000; 3], process);
        });
        (reads(&stats).n_completed, reads(&stats).bytes)
    };
    // 1000 smallest blocks a second: the bytes fit the rate, up to the size of one I/O.
    let (_, bytes) = mixed_sizes(RateProcess::Linear);
    assert!((1_000 * BLOCK..1_003 * BLOCK).contains(&bytes), "{bytes}");
    // In a Poisson process, arrivals do not depend on the block sizes.
    let (n_ios, _) = mixed_sizes(RateProcess::Poisson);
    assert!((900..1_100).contains(&n_ios), "{n_ios}");
}

#[test]
fn poisson_hits_its_rate() {
    let n_in_100_s = |rate: u32| {
        let stats = second(|job| {
            (job.pace.ios_per_sec.0, job.pace.process) = ([rate; 3], RateProcess::Poisson);
            job.limits.runtime_us = 100_000_000;
        });
        reads(&stats).n_completed
    };
    for rate in [1_000, 5_000] {
        let ratio = n_in_100_s(rate) as f64 / (100.0 * f64::from(rate));
        assert!((ratio - 1.0).abs() < 0.01, "{rate}: {ratio}");
    }
}

#[test]
fn a_queue_is_reaped_while_its_job_waits() {
    let stats = second(|job| {
        set_depth(job, 32);
        job.engine.options.set(&sim::CHANNELS, 32);
        job.pace.ios_per_sec.0 = [1_000; 3];
    });
    let read = reads(&stats);
    assert_eq!((read.n_completed, read.clat.max_ns, read.lat.max_ns), (1_000, 100 * US, 100 * US));
    assert_eq!(stats.depth.0[0], 1_000, "never more than one in flight");
}

#[test]
fn what_is_due_does_not_wait_for_what_is_in_flight() {
    let stats = second(|job| {
        set_depth(job, 16);
        job.engine.options.set(&sim::CHANNELS, 16);
        // Ten are in flight at the same time. The last one begins at 999 ms, and the job ends when it is done.
        job.engine.options.set(&sim::SERVICE, "fixed:10ms");
        (job.pace.ios_per_sec.0, job.pace.latency) = ([1_000; 3], RateLatency::Response);
    });
    let read = reads(&stats);
    assert_eq!((read.n_completed, read.response.min_ns, read.response.max_ns), (1_000, 10 * MS, 10 * MS));
}

#[test]
fn what_is_behind_when_the_ramp_ends_is_not_made_up_for() {
    let stats = second(|job| {
        job.pace.ios_per_sec.0 = [1_000; 3];
        // The device stalls until shortly before the end of the ramp: 790 I/Os are late then.
        job.engine.options.set(&sim::STALL, "1s/890ms");
        (job.limits.ramp_time_us, job.limits.runtime_us) = (1_900_000, 90_000);
    });
    assert_eq!(reads(&stats).n_completed, 90);
}

#[test]
fn pauses_lie_between_ios() {
    let paused = |change: fn(&mut JobSpec)| {
        let stats = second(|job| {
            job.pace.pauses.pause_us = 900;
            change(job);
        });
        reads(&stats).n_completed
    };
    // 100 us of I/O and 900 us of pause; then 4 I/Os a pause.
    assert_eq!(paused(|_| ()), 1_000);
    assert_eq!(paused(|job| job.pace.pauses.spin_us = 400), 1_000);
    assert_eq!(paused(|job| job.pace.pauses.n_ios = Some(1)), 1_000);
    assert_eq!(paused(|job| (job.pace.pauses.n_ios, job.pace.pauses.pause_us) = (Some(4), 600)), 4_000);
    // 5 ms of I/O and 5 ms of pause.
    assert_eq!(paused(|job| (job.pace.pauses.io_time_us, job.pace.pauses.pause_us) = (5_000, 5_000)), 5_000);
    // A pause ends with the job.
    assert_eq!(paused(|job| job.pace.pauses.pause_us = u64::MAX), 1);
    assert_eq!(paused(|job| (job.pace.pauses.pause_us, job.pace.pauses.n_spins) = (0, 10)), 10_000);
}

// 900 us in the mean: the sum of 1,000 pauses has a deviation of 900 us times the root of 1,000, or 28 ms.
#[test]
fn pauses_of_random_lengths_lie_between_ios_and_repeat() {
    let runtime_ns = |seed: u64| {
        let mut job = sim_reader("j", "fixed:100us", 1_000);
        job.pattern.randseed = Some(seed);
        job.pace.pauses.pause_us = 900;
        job.pace.pauses.drawn = Some(DrawnTime::Exponential { mean_us: 900 });
        reads(&simulate_one(job)).runtime_ns
    };
    assert!(runtime_ns(1).abs_diff(1_000 * MS) < 4 * 28 * MS, "{}", runtime_ns(1));
    assert_eq!(runtime_ns(1), runtime_ns(1));
    assert_ne!(runtime_ns(1), runtime_ns(2));
}

#[test]
fn the_pause_after_the_last_io_is_part_of_the_job() {
    let mut job = sim_reader("j", "fixed:100us", 20);
    (job.pace.pauses.pause_us, job.pace.pauses.n_ios) = (100_000, Some(10));
    let stats = simulate_one(job);
    // As in fio 3.41: 201 ms for two pauses of 100 ms.
    assert_eq!((reads(&stats).n_completed, reads(&stats).runtime_ns), (20, 202 * MS));
}

#[test]
fn what_a_pause_costs_is_made_up_for_unless_it_is_ignored() {
    let paused = |ignores: bool| {
        let stats = second(|job| {
            job.pace.ios_per_sec.0 = [1_000; 3];
            (job.pace.pauses.pause_us, job.pace.pauses.n_ios) = (100_000, Some(100));
            (job.pace.ignores_pauses, job.limits.runtime_us) = (ignores, 2_000_000);
        });
        reads(&stats).n_completed
    };
    // The first 100 take 99.1 ms, then comes a pause. Late I/Os take 10 ms for a hundred, plus a pause: 16 times, and
    // 100 more. Without catching up, each hundred takes 199.1 ms: ten of them, and 9 of the next. (fio 3.41, on an engine that takes no
    // time: 1900 and 1011.)
    assert_eq!((paused(false), paused(true)), (1_800, 1_009));
}

#[test]
fn an_io_that_waits_for_its_time_is_not_issued() {
    let paused = |counts_issued: bool| {
        let stats = second(|job| {
            job.pace.ios_per_sec.0 = [20; 3];
            let pauses = &mut job.pace.pauses;
            (pauses.pause_us, pauses.n_ios, pauses.counts_issued) = (300_000, Some(4), counts_issued);
            job.limits.runtime_us = 390_000;
        });
        reads(&stats).n_completed
    };
    // I/Os at 0, 50, 100 and 150 ms, then a pause. fio 3.41 has the same times.
    assert_eq!((paused(false), paused(true)), (4, 4));
}

#[test]
fn a_queue_is_empty_while_its_job_pauses() {
    let stats = second(|job| {
        set_depth(job, 8);
        job.engine.options.set(&sim::CHANNELS, 8);
        (job.pace.pauses.pause_us, job.pace.pauses.n_ios) = (9_900, Some(16));
    });
    // No I/O is in flight during a pause, so none takes longer.
    assert_eq!(reads(&stats).clat.max_ns, 100 * US);
    // 23 I/Os, then 16 for each pause and 100 to 300 us of I/O.
    assert!((1_500..=1_650).contains(&reads(&stats).n_completed), "{}", reads(&stats).n_completed);
}

fn too_slow(change: impl FnOnce(&mut PaceSpec)) -> (String, i32, u64) {
    let mut job = sim_reader("j", "fixed:100us", 1_000_000);
    change(&mut job.pace);
    let (outcome, events) = simulate(vec![job]);
    let stats = &outcome.record.workers[0].stats;
    (events.text(MessageStream::Error), stats.errno, stats.total_runtime_ns)
}

#[test]
fn a_job_below_its_least_rate_fails() {
    // 10000 I/Os a second; checked from the third second on.
    let (line, errno, runtime_ns) = too_slow(|pace| pace.min_ios_per_sec.0[0] = 10_001);
    assert_eq!((line.as_str(), errno), ("j: rate_iops_min=10001 not met, got 10000 IOPS", 5));
    assert_eq!(runtime_ns, 3_000 * MS);
    let (line, _, runtime_ns) = too_slow(|pace| (pace.min_bytes_per_sec.0[0], pace.cycle_ms) = (40_960_001, 100));
    assert_eq!(line, "j: rate_min=40960001B/s not met, got 40960000B/s");
    assert_eq!(runtime_ns, 2_100 * MS);
    // A direction without I/O is not checked, and 10000 is enough.
    let (line, errno, runtime_ns) = too_slow(|pace| (pace.min_ios_per_sec.0) = [10_000, 1, 1]);
    assert_eq!((line.as_str(), errno, runtime_ns), ("", 0, 100_000 * MS));
}

#[test]
fn real_clocks_keep_rates_too() {
    let mut jobs = Vec::new();
    for (name, process, thread) in [("a", RateProcess::Linear, false), ("b", RateProcess::Poisson, true)] {
        let mut job = job(name);
        "null".clone_into(&mut job.engine.name);
        job.extent.size = Some(SizeSpec::Bytes(500 * BLOCK));
        (job.pace.ios_per_sec.0, job.pace.process, job.worker.thread) = ([2_000; 3], process, thread);
        jobs.push(job);
    }
    let (outcome, _) = run(jobs);
    for job in &outcome.record.workers {
        // The machine may be slow but not too fast: 500 I/Os take about 250 ms.
        assert_eq!(reads(&job.stats).n_completed, 500);
        assert!(reads(&job.stats).runtime_ns > 200 * MS, "{}", reads(&job.stats).runtime_ns);
    }
}
