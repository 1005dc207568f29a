//! Confidence intervals of whole runs: how often they cover the truth, on a simulated device whose truth is known.
//!
//! The runs pass through planner, loops, supervisor and series, on the virtual clock. Start reading at [`covered`].

use ferrio_insight::compare::{ComparisonVerdict, compare};
use ferrio_job::SystemEnvironment;
use ferrio_run::{Run, RunEvent, RunSettings};
use ferrio_stats::{JobPrecision, Metric, RunRecord};
use std::f64::consts::{LN_2, LN_10};
use std::ffi::OsString;
use std::ops::{Range, RangeInclusive};

/// Mean service time, microseconds; the device serves one I/O at a time.
const MEAN_US: f64 = 1000.0;

/// The precision of a run of the simulated device, with this seed and these further options.
fn precision(seed: u64, options: &str) -> JobPrecision {
    ferrio_insight::precision(&record(seed, MEAN_US, options)).remove(0)
}

/// The record of such a run of a device with this mean service time.
fn record(seed: u64, mean_us: f64, options: &str) -> RunRecord {
    let words = format!(
        "ferrio --name=a --ioengine=sim --sim_service=exponential:{mean_us}us --rw=randread --size=1g --bs=4k --thread \
         --time_based --runtime=10 --sim_seed={seed} --randseed={seed} {options}"
    );
    let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
    let invocation = ferrio_job::parse(&words, &SystemEnvironment::new("test")).expect("a job");
    let settings = RunSettings { is_virtual: true, keeps_series: true, ..RunSettings::default() };
    Run::new(invocation.run, settings).and_then(|run| run.go(&mut |_: RunEvent| ())).expect("a run").record
}

/// What is true of the device: the service times are exponential, so with one I/O in flight a latency is exponential,
/// and with four in flight the sum of four service times (an Erlang distribution), which neighbours share three of.
struct Truth {
    options: &'static str,
    /// 50th and 99th percentile of the latency, in means of the service time.
    percentiles: [f64; 2],
}

const ALONE: Truth = Truth { options: "", percentiles: [LN_2, 2.0 * LN_10] };
/// The solutions of 1 - exp(-x) (1 + x + x^2/2 + x^3/6) = 0.5 and 0.99.
const QUEUED: Truth = Truth { options: "--iodepth=4", percentiles: [3.672_061, 10.045_118] };

/// For IOPS and both percentiles: the number of runs with an interval, and of those whose interval covers the truth.
fn covered(seeds: Range<u64>, truth: &Truth) -> [(u32, u32); 3] {
    let [p50, p99] = truth.percentiles;
    let truths = [1e6 / MEAN_US, p50 * MEAN_US * 1e3, p99 * MEAN_US * 1e3];
    let mut counts = [(0, 0); 3];
    for seed in seeds {
        let precision = precision(seed, truth.options);
        let estimates = [&precision.ios_per_sec, &precision.p50_ns, &precision.p99_ns];
        for ((estimate, truth), (n, n_covered)) in estimates.into_iter().zip(truths).zip(&mut counts) {
            if let Some(interval) = estimate.interval() {
                *n += 1;
                *n_covered += u32::from((interval.low..=interval.high).contains(&truth));
            }
        }
    }
    counts
}

/// The shares of runs whose intervals cover the truth lie within these bounds.
fn check(seeds: Range<u64>, bounds: RangeInclusive<f64>) {
    for truth in [ALONE, QUEUED] {
        for (what, (n, n_covered)) in ["IOPS", "p50", "p99"].into_iter().zip(covered(seeds.clone(), &truth)) {
            let share = f64::from(n_covered) / f64::from(n.max(1));
            assert!(n < 20 || bounds.contains(&share), "{what} {:?}: {n_covered} of {n}", truth.options);
        }
    }
}

/// Of 60 intervals that cover the truth with a probability of 0.95, fewer than 50 do so once in 2,000 times; the seeds are fixed.
#[test]
fn intervals_of_runs_cover_the_truth() {
    check(1..61, 50.0 / 60.0..=1.0);
}

#[test]
#[ignore = "takes minutes: 4,000 runs, to see the share more exactly"]
fn intervals_of_runs_cover_the_truth_in_93_to_97_of_100_cases() {
    check(10_001..12_001, 0.93..=0.97);
}

/// Verdicts about pairs of runs, on a device and on one whose mean service time is another: same, faster, slower, unknown, differs.
fn compared(pairs: Range<u64>, mean_us: f64, metric: Metric) -> [u32; 5] {
    let mut counts = [0; 5];
    for pair in pairs {
        let result = |seed, mean_us| ferrio_formats::of_record(&record(seed, mean_us, "--runtime=20"));
        let (base, new) = (result(2 * pair, MEAN_US), result(2 * pair + 1, mean_us));
        let comparison = compare(&[base], &[new], 0.0);
        let figure = comparison.jobs[0].figures.iter().find(|figure| figure.metric == metric);
        counts[figure.map_or(ComparisonVerdict::Unknown, |figure| figure.verdict) as usize] += 1;
    }
    counts
}

/// Whole runs that differ by 10 % in their service time, and whole runs that do not. One run against one is never faster or slower.
#[test]
fn whole_runs_are_compared() {
    for metric in [Metric::Iops, Metric::MeanLatency, Metric::P50] {
        let [_, faster, slower, _, differs] = compared(1..41, MEAN_US, metric);
        assert!(faster + slower == 0 && differs <= 3, "{metric:?}: {faster}, {slower}, {differs}");
    }
    for metric in [Metric::Iops, Metric::MeanLatency] {
        let [_, faster, slower, _, differs] = compared(1..21, 1.1 * MEAN_US, metric);
        assert!(faster + slower == 0 && differs >= 19, "{metric:?}: {faster}, {slower}, {differs}");
    }
}
