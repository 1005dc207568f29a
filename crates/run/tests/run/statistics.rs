//! Latencies, rates and depths compared with arithmetic, for a device with known service times.
//!
//! Start reading at [`one_at_a_time`].

use crate::builder::{BLOCK, MS, US, reads, set_depth, sim_reader, simulate_one, writes};
use ferrio_spec::engines::options::sim;
use ferrio_spec::{DirectionMix, JobSpec};
use ferrio_stats::{LatencyStat, percentiles};
use ferrio_units::DataDirection;

/// The middle of the bucket of 100 us: between 97 * 2^10 and 98 * 2^10.
const BUCKET_100_US: u64 = 97 * 1024 + 512;
/// The middle of the bucket of 200 us: between 97 * 2^11 and 98 * 2^11.
const BUCKET_200_US: u64 = 97 * 2048 + 1024;

/// Checks samples, given as (value in ns, number).
fn assert_samples(stat: &LatencyStat, samples: &[(u64, u64)]) {
    let n: u64 = samples.iter().map(|(_, count)| count).sum();
    assert_eq!(stat.n_samples, n);
    assert_eq!(Some(stat.min_ns), samples.iter().map(|(value, _)| *value).min());
    assert_eq!(Some(stat.max_ns), samples.iter().map(|(value, _)| *value).max());
    let mean = samples.iter().map(|(value, count)| value * count).sum::<u64>() as f64 / n as f64;
    assert!((stat.mean_ns() - mean).abs() < 1e-6, "{} {mean}", stat.mean_ns());
    let squares: f64 = samples.iter().map(|(value, count)| *count as f64 * (*value as f64 - mean).powi(2)).sum();
    let deviation = (squares / (n - 1) as f64).sqrt();
    assert!((stat.standard_deviation_ns() - deviation).abs() < 1e-6, "{} {deviation}", stat.standard_deviation_ns());
}

fn percentile_ns(stat: &LatencyStat, percentile: f64) -> u64 {
    percentiles(stat.histogram.as_ref().unwrap(), &[percentile])[0].1
}

#[test]
fn one_at_a_time() {
    let stats = simulate_one(sim_reader("j", "fixed:100us", 1_000));
    let read = reads(&stats);
    assert_samples(&read.clat, &[(100 * US, 1_000)]);
    assert_samples(&read.lat, &[(100 * US, 1_000)]);
    // The virtual clock stands still while the job prepares and submits.
    assert_samples(&read.slat, &[(0, 1_000)]);
    assert_eq!((read.n_issued, read.n_completed, read.bytes), (1_000, 1_000, 1_000 * BLOCK));
    // 1000 times 100 us are 100 ms: 10000 a second.
    assert_eq!(read.runtime_ns, 100 * MS);
    assert_eq!((read.whole_ios_per_sec(), read.bw_bytes_per_sec()), (10_000, 10_000 * BLOCK));
    assert_eq!(stats.total_runtime_ns, 100 * MS);
    assert_eq!(percentile_ns(&read.clat, 1.0), BUCKET_100_US);
    assert_eq!(percentile_ns(&read.clat, 99.99), BUCKET_100_US);
    assert_eq!(stats.depth.0, [1_000, 0, 0, 0, 0, 0, 0]);
    assert_eq!(stats.submit.0, [0, 1_000, 0, 0, 0, 0, 0]);
    assert_eq!(stats.complete.0, [0, 1_000, 0, 0, 0, 0, 0]);
    // 100 us counts below the label 250.
    assert_eq!(stats.latency_buckets.us, [0, 0, 0, 0, 0, 0, 1_000, 0, 0, 0]);
    assert_eq!((stats.latency_search.depth, stats.errno), (1, 0));
    assert!(stats.job_start_ms > 0);
}

#[test]
fn two_latencies_have_a_deviation() {
    let mut job = sim_reader("j", "fixed:100us", 1_000);
    // Every second read takes 100 us longer.
    job.engine.options.set(&sim::FAULT, "read=stall:100us@/2");
    let stats = simulate_one(job);
    let read = reads(&stats);
    assert_samples(&read.clat, &[(100 * US, 500), (200 * US, 500)]);
    assert_eq!(read.runtime_ns, 150 * MS);
    // Of 1000 samples the 500th is the last of the lower half.
    assert_eq!(percentile_ns(&read.clat, 50.0), BUCKET_100_US);
    assert_eq!(percentile_ns(&read.clat, 50.1), BUCKET_200_US);
    assert_eq!(stats.latency_buckets.us[6], 1_000, "100 to 249 us");
}

#[test]
fn directions_are_apart() {
    let mut job = sim_reader("j", "trim=fixed:50us,write=fixed:150us", 100);
    job.pattern.mix = DirectionMix::TrimWrite;
    let stats = simulate_one(job);
    let trim = &stats.directions[DataDirection::Trim];
    assert_samples(&trim.clat, &[(50 * US, 100)]);
    assert_samples(&writes(&stats).clat, &[(150 * US, 100)]);
    // Both ran during the whole time: 100 pairs of 200 us.
    assert_eq!((trim.runtime_ns, writes(&stats).runtime_ns), (20 * MS, 20 * MS));
    assert_eq!((trim.bytes, writes(&stats).bytes), (100 * BLOCK, 100 * BLOCK));
    assert_eq!(reads(&stats).n_issued + reads(&stats).runtime_ns, 0);
}

#[test]
fn a_mix_is_counted_by_direction() {
    let mut job = sim_reader("j", "read=fixed:50us,write=fixed:150us", 1_000);
    job.pattern.mix = DirectionMix::ReadWrite;
    job.pattern.rwmix_read = 70;
    let stats = simulate_one(job);
    let (n_reads, n_writes) = (reads(&stats).n_completed, writes(&stats).n_completed);
    assert_eq!(n_reads + n_writes, 1_000);
    assert_samples(&reads(&stats).clat, &[(50 * US, n_reads)]);
    assert_samples(&writes(&stats).clat, &[(150 * US, n_writes)]);
    assert_eq!(stats.total_runtime_ns, (n_reads * 50 + n_writes * 150) * US);
}

fn deep_job(n_channels: u32) -> JobSpec {
    let mut job = sim_reader("j", "fixed:100us", 1_000);
    job.engine.options.set(&sim::CHANNELS, n_channels.into());
    set_depth(&mut job, 8);
    job
}

#[test]
fn depth_8_on_8_channels() {
    let stats = simulate_one(deep_job(8));
    let read = reads(&stats);
    assert_samples(&read.lat, &[(100 * US, 1_000)]);
    // 125 rounds of 8.
    assert_eq!(read.runtime_ns, 125 * 100 * US);
    // 12.5 ms are shown as 13, and the bandwidth is computed with 13.
    assert_eq!(read.bw_bytes_per_sec(), 1_000 * BLOCK * 1_000 / 13);
    // The depth grows to 8 once, and stays at 8.
    assert_eq!(stats.depth.0, [1, 2, 4, 993, 0, 0, 0]);
    assert_eq!(stats.submit.0, [0, 1_000, 0, 0, 0, 0, 0]);
    // One at a time; the last 7 are waited for together.
    assert_eq!(stats.complete.0, [0, 993, 1, 0, 0, 0, 0]);
    assert_eq!(stats.latency_search.depth, 8);
}

#[test]
fn depth_8_on_2_channels() {
    let stats = simulate_one(deep_job(2));
    // The first 8 come in pairs after 100, 200, 300 and 400 us; then each waits for the 6 before it on 2 channels.
    let expected = [(100 * US, 2), (200 * US, 2), (300 * US, 2), (400 * US, 994)];
    assert_samples(&reads(&stats).clat, &expected);
    assert_samples(&reads(&stats).lat, &expected);
    // 500 rounds of 2; depth = rate * latency: 8 = 20000 / s * 400 us.
    assert_eq!(reads(&stats).runtime_ns, 500 * 100 * US);
    assert_eq!(reads(&stats).whole_ios_per_sec(), 20_000);
}

#[test]
fn latencies_can_be_left_out() {
    let full = simulate_one(sim_reader("j", "fixed:100us", 10));
    for name in ["slat", "clat", "lat"] {
        let mut job = sim_reader("j", "fixed:100us", 10);
        job.reporting.clat_percentiles = false;
        job.reporting.disable_slat = name == "slat";
        job.reporting.disable_clat = name == "clat";
        job.reporting.disable_lat = name == "lat";
        let stats = simulate_one(job);
        let read = reads(&stats);
        let left = [("slat", &read.slat), ("clat", &read.clat), ("lat", &read.lat)];
        for (kind, stat) in left {
            assert_eq!(stat.n_samples, if kind == name { 0 } else { 10 }, "{kind} without {name}");
        }
        assert_eq!((read.n_issued, read.runtime_ns), (10, reads(&full).runtime_ns));
        let n_in_buckets: u64 = stats.latency_buckets.us.iter().sum();
        assert_eq!(n_in_buckets, if name == "clat" { 0 } else { 10 }, "buckets are of clat");
    }
}

#[test]
fn gtod_reduce_takes_no_latencies() {
    let mut job = sim_reader("j", "fixed:100us", 20_000);
    job.reporting.gtod_reduce = true;
    let stats = simulate_one(job);
    let read = reads(&stats);
    assert_eq!([read.slat.n_samples, read.clat.n_samples, read.lat.n_samples], [0; 3]);
    // 2 s have 4 windows. The clock is not read for each I/O, so a window may have some I/Os of the next.
    assert_eq!(read.bw.n_samples, 4);
    assert!(read.bw.min >= 39_600 && read.bw.max <= 40_400, "{:?}", read.bw);
    assert_eq!((read.n_completed, read.runtime_ns, read.whole_ios_per_sec()), (20_000, 2_000 * MS, 10_000));
    assert_eq!(stats.depth.0[0], 20_000);
}

#[test]
fn percentiles_are_kept_for_the_latencies_that_want_them() {
    let mut job = sim_reader("j", "fixed:100us", 10);
    job.reporting.slat_percentiles = true;
    job.reporting.lat_percentiles = true;
    job.reporting.clat_percentiles = false;
    let stats = simulate_one(job);
    let read = reads(&stats);
    assert_eq!(percentile_ns(&read.lat, 50.0), BUCKET_100_US);
    assert_eq!(percentile_ns(&read.slat, 50.0), 0);
    assert_eq!(read.clat.histogram, None);
}
