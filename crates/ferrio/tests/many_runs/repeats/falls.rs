//! Devices whose figures change while a job with a rate runs: credit that is used up, a cache that is full or warms up, and stalls. Each has its name, and a device that
//! stays the same has none.
//!
//! Must not know: repeats. Start reading at [`n_named`].

use super::super::sweep::common::{Swept, made};
use ferrio::sweep::outcome::SweepOutcome;

/// The number of devices of which a finding speaks: so many, each of other seeds and of other options.
fn n_named(name: &str, ids: &[&str], n_devices: i64, jobs: impl Fn(i64) -> String) -> i64 {
    let mut n_named = 0;
    for seed in 1..=n_devices {
        let jobs = jobs(seed);
        let (open, _folder) = made(&Swept { over: None, n_repeats: 1, ..Swept::new(name, &jobs, "") }, seed);
        let outcome = SweepOutcome::read(&open.folder).expect("an outcome");
        let told: Vec<&str> = outcome.findings.iter().map(|one| one.finding.id.as_str()).collect();
        n_named += i64::from(told.iter().any(|id| ids.contains(id)));
    }
    n_named
}

const RATED: &str = "--name=a --ioengine=sim --size=1g --bs=4k --iodepth=256 --rate_process=poisson --rate_latency=response --time_based --runtime=10";

#[test]
#[ignore = "hundreds of runs take minutes: run by .ci/nightly"]
fn what_20_devices_hide_under_a_rate_is_named() {
    let n = 20;
    let burst = n_named("burst", &["rate-fell"], n, |seed| {
        let credit = 2_000 + 300 * seed;
        format!(
            "{RATED} --rw=randread --rate_iops=1500 --sim_service=exponential:300us --sim_channels=8 --sim_burst=iops:500/3000/{credit}"
        )
    });
    let full = n_named("full-cache", &["rate-fell"], n, |seed| {
        let size_kib = 8_192 + 512 * seed;
        format!(
            "{RATED} --rw=randwrite --rate_iops=1500 --sim_service=exponential:4ms --sim_channels=2 --sim_write_cache={size_kib}k/100us/2m/s"
        )
    });
    let warm = n_named("warm-cache", &["first-reads-slower"], n, |seed| {
        let (size_kib, rate) = (8_192 + 512 * seed, 1_000 + 20 * seed);
        format!(
            "{RATED} --rw=randread --size={size_kib}k --rate_iops={rate} --sim_service=exponential:4ms --sim_channels=8 --sim_read_cache=64m/100us"
        )
    });
    let stalls = n_named("stall", &["stalls"], n, |seed| {
        let every_ms = 4_000 + 100 * seed;
        format!(
            "{RATED} --runtime=30 --rw=randread --rate_iops=300 --sim_service=exponential:300us --sim_channels=4 --sim_stall={every_ms}ms/100ms"
        )
    });
    let plain = n_named("plain", &["stalls", "rate-fell", "first-reads-slower", "rate-drifts"], n, |seed| {
        let rate = 200 + 50 * seed;
        format!("{RATED} --rw=randread --rate_iops={rate} --sim_service=exponential:1ms --sim_channels=4")
    });
    let found = [burst, full, warm, stalls];
    assert!(found.into_iter().all(|found| 10 * found >= 9 * n), "{found:?}");
    assert_eq!(plain, 0);
}
