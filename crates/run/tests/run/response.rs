//! Latencies from the intended start of I/Os, on a device that stalls.
//!
//! Start reading at [`a_stall_shows_in_the_response`].

use crate::builder::{MS, US, reads, set_depth, sim_reader, simulate_one};
use ferrio_spec::engines::options::sim;
use ferrio_spec::{CatchUp, JobSpec, RateLatency};
use ferrio_stats::{LatencyStat, ThreadStats, full_percentiles};

/// Ten seconds at 1000 I/Os a second, 100 us each, on a device that stalls from 5 s to 6 s.
fn stalled(change: impl FnOnce(&mut JobSpec)) -> ThreadStats {
    let mut job = sim_reader("j", "fixed:100us", 100_000);
    (job.limits.time_based, job.limits.runtime_us) = (true, 9_999_500);
    job.engine.options.set(&sim::STALL, "5s/1s");
    job.pace.ios_per_sec.0 = [1_000; 3];
    (job.pace.latency, job.pace.catch_up) = (RateLatency::Response, CatchUp::Paced);
    change(&mut job);
    simulate_one(job)
}

fn percentile_ns(stat: &LatencyStat, percentile: f64) -> u64 {
    full_percentiles(stat.histogram.as_ref().unwrap(), &[percentile])[0].1
}

/// A bucket is no wider than a 64th of its value.
fn assert_near(value_ns: u64, expected_ns: u64) {
    assert!(value_ns.abs_diff(expected_ns) <= expected_ns / 64 + 1, "{value_ns} {expected_ns}");
}

/// The `rank`th longest response if `n` late I/Os follow each other every `gap_ns`, the first one at 6 s. Those before
/// and after take 100 us.
fn longest_ns(rank: u64, gap_ns: u64) -> u64 {
    // The first takes 1000.1 ms; each later one was due 1 ms later and starts a gap later.
    1_000 * MS + 100 * US - rank * (MS - gap_ns)
}

#[test]
fn a_stall_shows_in_the_response() {
    let stats = stalled(|_| {});
    let read = reads(&stats);
    assert_eq!((read.n_completed, read.response.n_samples), (10_000, 10_000));
    // fio sees only one slow I/O.
    assert_eq!((read.lat.max_ns, percentile_ns(&read.lat, 99.0)), (1_000 * MS + 100 * US, read_bucket(100 * US)));
    assert_eq!((read.response.min_ns, read.response.max_ns), (100 * US, 1_000 * MS + 100 * US));
    // The I/O due at 5 s ends at 6.0001 s; the next, due at 5.001 s, starts then, and later ones follow every half
    // millisecond.
    let second_ns = 1_000 * MS + 100 * US + 100 * US - MS;
    let p99_ns = second_ns - 99 * MS / 2;
    assert_near(percentile_ns(&read.response, 99.0), p99_ns);
    // 100 us more than the wait, which falls by half a millisecond from I/O to I/O.
    let n_late = (second_ns - 100 * US).div_ceil(MS / 2);
    let waits_ns: u64 = (0..n_late).map(|index| second_ns - 100 * US - index * (MS / 2)).sum();
    assert_eq!(read.response.sum_ns, u128::from(10_000 * 100 * US + 1_000 * MS + waits_ns));
}

/// The value that stands for the bucket of a value.
fn read_bucket(value_ns: u64) -> u64 {
    let mut stat = LatencyStat::new(true);
    stat.record(value_ns);
    percentile_ns(&stat, 100.0)
}

#[test]
fn a_burst_is_asked_for() {
    let stats = stalled(|job| job.pace.catch_up = CatchUp::Burst);
    let read = reads(&stats);
    assert_eq!(read.response.n_samples, 10_000);
    // One I/O directly after another, 100 us each.
    assert_near(percentile_ns(&read.response, 99.0), longest_ns(99, 100 * US));
    // They wait 1000.1 - n * 0.9 ms: 1111 of them are late.
    let waits_ns: u64 = (0..=1_111).map(|index| 1_000 * MS - index * 900 * US).sum();
    assert_eq!(read.response.sum_ns, u128::from(10_000 * 100 * US + waits_ns));
}

#[test]
fn slots_have_their_own_intended_start() {
    let stats = stalled(|job| {
        set_depth(job, 8);
        job.engine.options.set(&sim::CHANNELS, 8);
        job.pace.catch_up = CatchUp::Burst;
    });
    let read = reads(&stats);
    // Eight are issued on time and wait in the device, the others wait in the job; these start eight at a time.
    assert_eq!((read.n_completed, read.response.max_ns), (10_000, 1_000 * MS + 100 * US));
    let p99_ns = 1_000 * MS - 100 * MS;
    assert!(percentile_ns(&read.response, 99.0).abs_diff(p99_ns) < 20 * MS);
    assert_near(percentile_ns(&read.lat, 99.0), 100 * US);
}

#[test]
fn who_catches_up_in_its_time_does_no_more_than_twice_its_rate() {
    let by_6_2_s = |catch_up: CatchUp| {
        let stats = stalled(|job| (job.pace.catch_up, job.limits.runtime_us) = (catch_up, 6_200_000));
        reads(&stats).n_completed
    };
    // 5001 by 6.0001 s; then 10 a millisecond, or 2.
    assert_eq!((by_6_2_s(CatchUp::Burst), by_6_2_s(CatchUp::Paced)), (6_200, 5_001 + 400));
}

#[test]
fn without_the_option_there_is_no_response() {
    let stats = stalled(|job| job.pace.latency = RateLatency::Issue);
    assert_eq!(reads(&stats).response, LatencyStat::default());
}

#[test]
fn a_direction_without_a_rate_starts_when_it_does() {
    let stats = stalled(|job| {
        job.pace.ios_per_sec.0 = [0, 1_000, 0];
        job.limits.runtime_us = 1_000_000;
    });
    let read = reads(&stats);
    assert_eq!((read.response.n_samples, read.response.max_ns), (10_000, 100 * US));
}
