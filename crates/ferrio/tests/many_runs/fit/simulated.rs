//! Verdicts on simulated devices whose figures are known: a device that is better than a limit by 10 % never fails it, and one that is worse by 10 % never passes.
//!
//! The runs are on virtual time, so that they take only their computing time. Start reading at [`verdicts`].

use super::common::{OnVirtualTime, recipe};
use ferrio::fit::{FitVerdict, Fitting};
use ferrio_job::SystemEnvironment;

/// Natural logarithm of 100: the 99th percentile of an exponential distribution, as a multiple of its mean.
const P99_OF_MEAN: f64 = 4.605_170;

/// A figure of a device whose truth is known.
struct KnownFigure {
    name: &'static str,
    jobs: &'static str,
    /// Nanoseconds, or I/Os a second.
    truth: f64,
    /// A latency: the limit is the largest one that is good enough.
    is_latency: bool,
}

/// One I/O at a time, whose service takes 250 us on average; and writes of 1 us, each with a sync of 1 ms on average.
const FIGURES: [KnownFigure; 4] = [
    KnownFigure { name: "read.iops", jobs: READS, truth: 4_000.0, is_latency: false },
    KnownFigure { name: "read.mean", jobs: READS, truth: 250e3, is_latency: true },
    KnownFigure { name: "read.p99", jobs: READS, truth: 250e3 * P99_OF_MEAN, is_latency: true },
    KnownFigure { name: "sync.p99", jobs: SYNCS, truth: 1e6 * P99_OF_MEAN, is_latency: true },
];
const READS: &str = "[a]\\nioengine=sim\\nsim_service=exponential:250us\\nrw=randread\\nbs=4k\\nsize=1g\\n";
const SYNCS: &str =
    "[a]\\nioengine=sim\\nsim_service=fixed:1us,sync=exponential:1ms\\nrw=write\\nbs=4k\\nsize=1g\\nfdatasync=1\\n";

/// The verdicts on so many devices that are better than the limit by 10 %, or worse by 10 %.
fn verdicts(figure: &KnownFigure, is_better: bool, n_devices: i64) -> Vec<FitVerdict> {
    let factor = if is_better == figure.is_latency { 1.1 } else { 1.0 / 1.1 };
    let recipe = recipe(figure.jobs, figure.name, figure.truth * factor, figure.is_latency);
    let environment = SystemEnvironment::new("ferrio");
    let directory = std::env::temp_dir();
    let verdict = |device: i64| {
        let fitting = Fitting::new(&recipe, &directory, &environment).expect("a load");
        let outcome = fitting.run(false, &mut OnVirtualTime::new(device * 1_000, |_, _| ())).expect("runs");
        outcome.verdict.expect("a verdict")
    };
    (0..n_devices).map(verdict).collect()
}

fn check(n_devices: i64) {
    for figure in &FIGURES {
        for (is_better, wrong) in [(true, FitVerdict::DoesNotFit), (false, FitVerdict::Fits)] {
            let verdicts = verdicts(figure, is_better, n_devices);
            let n = |verdict: FitVerdict| verdicts.iter().filter(|one| **one == verdict).count();
            let name = figure.name;
            assert_eq!(n(wrong), 0, "{name}, better: {is_better}: {verdicts:?}");
            assert!(5 * n(FitVerdict::CantTell) <= verdicts.len(), "{name}, better: {is_better}: {verdicts:?}");
        }
    }
}

#[test]
fn ten_percent_beside_a_limit_is_told() {
    check(2);
}

#[test]
#[ignore = "800 fits take minutes: run by .ci/nightly"]
fn ten_percent_beside_a_limit_is_told_of_100_devices() {
    check(100);
}
