//! Samples of bandwidth and I/O rate by windows of time.
//!
//! Start reading at [`full_windows`]; time after the last full window gives no sample, unless that window is complete
//! except for a few milliseconds.

use crate::builder::{BLOCK, Events, MS, reads, set_depth, sim_reader, simulate_one, spec, virtual_settings, writes};
use crate::verify::verified;
use ferrio_run::Run;
use ferrio_spec::engines::options::sim;
use ferrio_spec::{Compatibility, DirectionMix, JobSpec, RunSpec, VerifyBacklogSpec, VerifyMethod};
use ferrio_stats::{SampleStat, ThreadStats};

/// 10000 reads a second, for this runtime.
fn timed(runtime_ms: u64) -> JobSpec {
    let mut job = sim_reader("j", "fixed:100us", 1_000);
    job.limits.time_based = true;
    job.limits.runtime_us = runtime_ms * 1_000;
    job
}

fn assert_samples(stat: &SampleStat, values: &[u64]) {
    assert_eq!(stat.n_samples, values.len() as u64);
    assert_eq!((Some(&stat.min), Some(&stat.max)), (values.iter().min(), values.iter().max()));
    let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (*value as f64 - mean).powi(2)).sum();
    assert!((stat.mean - mean).abs() < 1e-6, "{} {mean}", stat.mean);
    assert!((stat.sum_squared_deviations - squares).abs() < squares.max(1.0) * 1e-9);
}

/// KiB/s of 4 KiB blocks.
const KIB: u64 = BLOCK / 1_024;

#[test]
fn full_windows() {
    let stats = simulate_one(timed(2_250));
    assert_samples(&reads(&stats).iops, &[10_000; 4]);
    assert_samples(&reads(&stats).bw, &[10_000 * KIB; 4]);
    assert_eq!(reads(&stats).n_completed, 22_500);
}

#[test]
fn runs_shorter_than_a_window_have_no_sample() {
    let stats = simulate_one(timed(490));
    assert_eq!((reads(&stats).iops.n_samples, reads(&stats).bw.n_samples), (0, 0));
}

/// As in fio 3.41: a run of 2 s has 4 samples of 500 ms, even if its last I/O ends a little earlier.
#[test]
fn the_last_window_ends_with_the_job() {
    assert_samples(&reads(&simulate_one(timed(2_000))).bw, &[10_000 * KIB; 4]);
    for (n_blocks, last) in [(20_000, Some(5_000)), (19_960, Some(4_960)), (19_900, None), (20_040, Some(5_000))] {
        let stats = simulate_one(sim_reader("j", "fixed:100us", n_blocks));
        let mut counts = vec![5_000; 3];
        counts.extend(last);
        let of_windows = |value: fn(u64) -> u64| counts.iter().map(|count| value(*count)).collect::<Vec<u64>>();
        // The window counts with its full length, whatever it lacks.
        assert_samples(&reads(&stats).iops, &of_windows(|count| count * 2));
        assert_samples(&reads(&stats).bw, &of_windows(|count| count * 2 * KIB));
    }
}

/// If the device stalls at the end of a job, its last window is longer, and nothing is counted twice.
#[test]
fn a_stall_at_the_end_is_part_of_the_last_window() {
    let mut job = timed(1_000);
    // I/O 9000 starts at 899.9 ms and takes 200.1 ms.
    job.engine.options.set(&sim::FAULT, "read=stall:200ms@9000");
    let stats = simulate_one(job);
    assert_samples(&reads(&stats).iops, &[10_000, 8_000]);
}

#[test]
fn a_late_window_is_divided_by_its_true_length() {
    let mut job = timed(2_300);
    // I/O 7500 starts at 749.9 ms and takes 500.1 ms: the second window ends at 1250 ms with 2500 I/Os.
    job.engine.options.set(&sim::FAULT, "read=stall:500ms@7500");
    let stats = simulate_one(job);
    let slow = 2_500 * 1_000 / 750;
    assert_samples(&reads(&stats).iops, &[10_000, slow, 10_000, 10_000]);
    let slow_kib = 2_500 * BLOCK * 1_000 / 750 / 1_024;
    assert_samples(&reads(&stats).bw, &[10_000 * KIB, slow_kib, 10_000 * KIB, 10_000 * KIB]);
}

#[test]
fn a_window_that_a_stall_holds_beyond_the_runtime_has_its_sample() {
    let mut job = timed(1_000);
    // I/O 4000 starts at 399.9 ms and takes 700.1 ms: nothing ends between 399.9 and 1100 ms.
    job.engine.options.set(&sim::FAULT, "read=stall:700ms@4000");
    let stats = simulate_one(job);
    assert_eq!(reads(&stats).n_completed, 4_000);
    assert_samples(&reads(&stats).iops, &[4_000 * 1_000 / 1_100]);
    assert_samples(&reads(&stats).bw, &[4_000 * BLOCK * 1_000 / 1_100 / 1_024]);
}

/// Each window ends with the first I/O that ends after its time, at most 30 ms later; these delays do not add up.
#[test]
fn late_windows_do_not_drift() {
    let mut job = sim_reader("j", "fixed:30ms", 1_000);
    job.limits.time_based = true;
    job.limits.runtime_us = 5_020_000;
    let stats = simulate_one(job);
    // Windows end at 510, 1020, 1500, 2010, 2520, 3000, 3510, 4020, 4500 and 5010 ms; with drift there would be 9.
    let ends = [510u64, 1_020, 1_500, 2_010, 2_520, 3_000, 3_510, 4_020, 4_500, 5_010];
    let begins = [0].into_iter().chain(ends);
    let rates: Vec<u64> = begins.zip(ends).map(|(begin, end)| (end - begin) / 30 * 1_000 / (end - begin)).collect();
    assert_samples(&reads(&stats).iops, &rates);
}

/// If a window ends late by most of a window, the next one is skipped, so that no sample covers only a moment.
#[test]
fn no_window_is_short() {
    let mut job = timed(2_300);
    // I/O 7500 starts at 749.9 ms and takes 700.1 ms: the second window ends at 1450 ms, the third at 2000 ms.
    job.engine.options.set(&sim::FAULT, "read=stall:700ms@7500");
    let stats = simulate_one(job);
    assert_samples(&reads(&stats).iops, &[10_000, (2_500 * 1_000 + 475) / 950, 10_000]);
}

/// A window ends with the first I/O after its time, here 0.1 to 0.2 ms late: its rate is that of its true length.
#[test]
fn rates_of_short_windows_are_not_too_high() {
    let mut job = timed(600);
    job.engine.options.set(&sim::SERVICE, "fixed:300us");
    (job.reporting.bw_window_ms, job.reporting.iops_window_ms) = (2, 2);
    let stats = simulate_one(job);
    // One I/O in 300 us: 3,333 a second.
    let (bw, iops) = (reads(&stats).bw.mean / KIB as f64, reads(&stats).iops.mean);
    assert!((3_300.0..3_366.0).contains(&iops) && (3_300.0..3_366.0).contains(&bw), "{iops} {bw}");
}

#[test]
fn windows_of_other_lengths() {
    let mut job = timed(1_050);
    (job.reporting.bw_window_ms, job.reporting.iops_window_ms) = (100, 250);
    let stats = simulate_one(job);
    assert_samples(&reads(&stats).bw, &[10_000 * KIB; 10]);
    assert_samples(&reads(&stats).iops, &[10_000; 4]);
}

/// As in fio 3.41: `disable_bw_measurement` omits only the rows of a log for each I/O.
#[test]
fn windows_are_sampled_whatever_is_disabled() {
    for (disable_bw, gtod_reduce) in [(true, false), (false, true), (true, true)] {
        let mut job = timed(1_100);
        (job.reporting.disable_bw, job.reporting.gtod_reduce) = (disable_bw, gtod_reduce);
        let stats = simulate_one(job);
        assert_samples(&reads(&stats).bw, &[10_000 * KIB; 2]);
        assert_samples(&reads(&stats).iops, &[10_000; 2]);
    }
}

#[test]
fn directions_without_io_give_no_sample() {
    let mut job = timed(1_100);
    job.pattern.mix = DirectionMix::Write;
    let stats = simulate_one(job);
    assert_eq!((reads(&stats).iops.n_samples, writes(&stats).iops.n_samples), (0, 2));
}

/// As in fio 3.41: what a job reads back to verify its writes is in no window, also between writes (`verify_backlog`) and in a job
/// that reads, too. Native runs sample it.
#[test]
fn windows_do_not_contain_what_is_read_back() {
    let verified_slowly = |mix, backlog: Option<VerifyBacklogSpec>| {
        let mut job = verified(VerifyMethod::Md5);
        // 64 I/Os of 20 ms are 25 in 500 ms.
        job.engine.options.set(&sim::SERVICE, "fixed:20ms");
        job.pattern.mix = mix;
        job.verify.as_mut().expect("it verifies").backlog = backlog;
        job
    };
    let n_samples = |stats: &ThreadStats| (reads(stats).iops.n_samples, reads(stats).bw.n_samples);
    let writer = verified_slowly(DirectionMix::Write, None);
    let stats = simulate_one(writer.clone());
    assert_eq!((reads(&stats).n_completed, n_samples(&stats)), (64, (0, 0)));
    assert_samples(&writes(&stats).iops, &[50, 50, 28]);
    let every_8 = VerifyBacklogSpec { blocks: 8, batch: 8 };
    let stats = simulate_one(verified_slowly(DirectionMix::Write, Some(every_8)));
    assert_eq!((reads(&stats).n_completed, n_samples(&stats)), (64, (0, 0)));
    let stats = simulate_one(verified_slowly(DirectionMix::ReadWrite, None));
    let ios_in_windows =
        (reads(&stats).iops.mean + writes(&stats).iops.mean) * reads(&stats).iops.n_samples as f64 / 2.0;
    assert!((ios_in_windows - 64.0).abs() < 0.1, "{ios_in_windows} of 64 that are not read back");

    let native = RunSpec { compatibility: Compatibility::Native, ..spec(vec![writer]) };
    let outcome = Run::new(native, virtual_settings()).unwrap().go(&mut Events::default()).unwrap();
    assert!(reads(&outcome.record.workers[0].stats).iops.n_samples >= 2);
}

#[test]
fn the_ramp_gives_no_sample() {
    let mut job = timed(1_200);
    job.limits.ramp_time_us = 700_000;
    let stats = simulate_one(job);
    // Windows start with the end of the ramp.
    assert_samples(&reads(&stats).iops, &[10_000; 2]);
    assert_eq!(reads(&stats).runtime_ns, 1_200 * MS);
}

#[test]
fn several_in_flight_are_sampled_by_completion() {
    let mut job = timed(1_100);
    job.engine.options.set(&sim::CHANNELS, 4);
    set_depth(&mut job, 4);
    let stats = simulate_one(job);
    // 40000 a second. The window ends with the first of the 4 I/Os that complete at its end; the next has the other 3
    // and ends with one.
    assert_samples(&reads(&stats).iops, &[(20_000 - 3) * 2, 40_000]);
}
