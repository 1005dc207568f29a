//! `rate_process=poisson`: the times between I/Os are exponential, with the mean of the rate.

use super::chi_square::assert_uniform;
use super::jobs::random_reads;
use ferrio_spec::JobSpec;
use ferrio_spec::RateProcess;
use ferrio_units::random::{DEFAULT_RAND_SEED, SeedTable};
use ferrio_workload::{Next, Workload};

const N_IOS: usize = 200_000;
const N_BINS: usize = 50;

/// The intended start times of a job's I/Os, on a clock that the test moves.
fn intended_ns(ios_per_sec: u32, thread_number: u64) -> Vec<u64> {
    let mut pace = JobSpec::default().pace;
    (pace.ios_per_sec.0[0], pace.process) = (ios_per_sec, RateProcess::Poisson);
    let mut plan = random_reads(1 << 20);
    plan.seeds = SeedTable::new(DEFAULT_RAND_SEED, thread_number);
    let mut workload = Workload::paced(plan, &pace).unwrap();
    workload.pace().expect("a pace").start(0);
    let (mut now_ns, mut intended) = (0, Vec::new());
    while intended.len() < N_IOS {
        match workload.next() {
            Next::Wait => now_ns = workload.pace().and_then(|pace| pace.turn(now_ns)).unwrap_or(now_ns),
            Next::Io(_) => intended.push(workload.pace().unwrap().intended_ns().unwrap()),
            other => panic!("{other:?}"),
        }
    }
    intended
}

#[test]
fn poisson() {
    for ios_per_sec in [100, 10_000, 150_000, 300_000, 700_000] {
        for thread_number in 1..3 {
            let mean_ns = 1e9 / f64::from(ios_per_sec);
            let intended = intended_ns(ios_per_sec, thread_number);
            // Times are whole nanoseconds, rounded down, which on average removes half a nanosecond.
            let shares: Vec<f64> =
                intended.windows(2).map(|pair| 1.0 - (-((pair[1] - pair[0]) as f64 + 0.5) / mean_ns).exp()).collect();
            let bin = |share: &f64, n: usize| ((share * n as f64) as usize).min(n - 1);
            let what = format!("{ios_per_sec} a second");
            // The distribution function turns the times into uniform values, so all bins are equally likely.
            assert_uniform(&what, N_BINS, shares.iter().map(|share| bin(share, N_BINS)));
            let pairs = shares.chunks_exact(2).map(|pair| bin(&pair[0], 7) * 7 + bin(&pair[1], 7));
            assert_uniform(&format!("{what}, one after another"), 49, pairs);
            // The mean of n exponential times has the deviation mean / sqrt(n); one seed in a thousand is beyond 3.29
            // deviations.
            let n = (N_IOS - 1) as f64;
            let measured_ns = intended[N_IOS - 1] as f64 / n;
            assert!((measured_ns / mean_ns - 1.0).abs() < 3.29 / n.sqrt(), "{what}: {measured_ns} for {mean_ns}");
        }
    }
}
