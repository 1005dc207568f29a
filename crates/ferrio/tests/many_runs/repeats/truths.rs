//! Repeats of a device whose speed differs by chance from run to run, or falls: whether their intervals have the truth, and what is said where no interval can.
//!
//! Must not know: sweeps over a parameter. Start reading at [`figures`].

use super::super::sweep::common::{Device, Swept, made};
use ferrio::sweep::outcome::SweepOutcome;
use ferrio_formats::{IoKind, RunResult, of_record};
use ferrio_insight::compare::{ComparisonVerdict, compare};
use ferrio_insight::repeats::{DRIFTS, RepeatedFigure};
use ferrio_spec::JobSpec;
use ferrio_spec::engines::options::sim::{SEED, SERVICE};
use ferrio_stats::Metric;
use ferrio_units::random::Taus258;

/// One I/O at a time. The device sets how long it takes.
const JOB: &str = "--name=a --ioengine=sim --rw=randread --size=1g --bs=4k --number_ios=1000";
/// The mean of an I/O.
const MEAN_NS: f64 = 300_000.0;

/// Random numbers of a run, which its seed tells.
fn random(job: &JobSpec) -> Taus258 {
    let seed = job.engine.options.get(&SEED).unwrap_or_default();
    Taus258::new((seed as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5EED)
}

/// A number of the normal distribution, nearly: its mean is 0, its deviation 1.
fn normal(random: &mut Taus258) -> f64 {
    (0..12).map(|_| random.fraction()).sum::<f64>() - 6.0
}

/// A device whose I/Os take so many times the mean.
fn serve(job: &mut JobSpec, factor: f64) {
    job.engine.options.set(&SERVICE, &format!("exponential:{}ns", (MEAN_NS * factor).round()));
}

/// The runs differ by 5 %.
fn noisy(job: &mut JobSpec, _: i64) {
    let noise = normal(&mut random(job));
    serve(job, (0.05 * noise).exp());
}

/// One run in ten is three times slower than the others, which differ by 3 %.
fn slow_in_a_tenth(job: &mut JobSpec, _: i64) {
    let mut random = random(job);
    let noise = normal(&mut random);
    let times = if random.fraction() < 0.1 { 3.0 } else { 1.0 };
    serve(job, times * (0.03 * noise).exp());
}

/// The rate falls by 5 % from run to run, beside noise of 2 %.
fn falling(job: &mut JobSpec, n_made: i64) {
    let noise = normal(&mut random(job));
    serve(job, (0.02 * noise).exp() / 0.95_f64.powi(n_made as i32));
}

/// The outcomes of so many sets of repeats.
fn outcomes(swept: &Swept<'_>, n_sets: i64) -> Vec<SweepOutcome> {
    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let of_set = |seed: i64| {
        let (open, _folder) = made(swept, seed);
        SweepOutcome::read(&open.folder).expect("an outcome")
    };
    std::thread::scope(|scope| {
        let of_thread = |first: usize| {
            let seeds = (1..=n_sets).skip(first).step_by(n_threads);
            scope.spawn(move || seeds.map(of_set).collect::<Vec<_>>())
        };
        let threads: Vec<_> = (0..n_threads).map(of_thread).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("outcomes")).collect()
    })
}

fn repeats(name: &str, n_repeats: u32, device: Device) -> Swept<'_> {
    Swept { over: None, n_repeats, device, ..Swept::new(name, JOB, "") }
}

fn figure(outcome: &SweepOutcome, metric: Metric) -> &RepeatedFigure {
    outcome.points[0].figure(0, IoKind::Read, metric).expect("a figure")
}

/// The share of the outcomes in which the interval of a figure has the truth, or its runs are said to be of two kinds, in percent.
fn covered(outcomes: &[SweepOutcome], metric: Metric, truth: f64) -> f64 {
    let is_right = |outcome: &&SweepOutcome| {
        let figure = figure(outcome, metric);
        figure.kinds.is_some() || figure.interval.is_some_and(|[low, high]| low <= truth && truth <= high)
    };
    100.0 * outcomes.iter().filter(is_right).count() as f64 / outcomes.len() as f64
}

/// Rates have an arithmetic mean, in which a deviation of 5 % of the logarithms is 0.125 %, and mean latencies a geometric one.
fn check_coverage(n_sets: i64, least: f64) {
    let rate = 1e9 / MEAN_NS * (0.05_f64.powi(2) / 2.0).exp();
    for n_runs in [5, 10] {
        let outcomes = outcomes(&repeats(&format!("covered-{n_runs}"), n_runs, noisy), n_sets);
        let (of_rates, of_latencies) =
            (covered(&outcomes, Metric::Iops, rate), covered(&outcomes, Metric::MeanLatency, MEAN_NS));
        assert!(
            of_rates >= least && of_latencies >= least,
            "{n_runs} runs: {of_rates} % of rates, {of_latencies} % of latencies"
        );
    }
    let until = Swept { until: Some("read.iops ± 4 %"), ..repeats("until", 60, noisy) };
    let outcomes = outcomes(&until, n_sets);
    let of_until = covered(&outcomes, Metric::Iops, rate);
    assert!(of_until >= least, "{of_until} %");
}

/// Sets of runs of which some are slow: the mean of the logarithms is 0.1 * ln 3 above that of the others. What no run of a set shows, nobody can tell.
fn check_kinds(n_sets: i64, least: f64) {
    for n_runs in [10, 30] {
        let all = outcomes(&repeats(&format!("kinds-{n_runs}"), n_runs, slow_in_a_tenth), n_sets);
        let is_shown = |outcome: &SweepOutcome| {
            let values = &figure(outcome, Metric::MeanLatency).values;
            values.iter().any(|value| *value > 2.0 * MEAN_NS)
        };
        let n_all = all.len();
        let shown: Vec<SweepOutcome> = all.into_iter().filter(is_shown).collect();
        let share = covered(&shown, Metric::MeanLatency, MEAN_NS * 3_f64.powf(0.1));
        assert!(share >= least, "{n_runs} runs: {share} % of {} sets that show it, of {n_all}", shown.len());
    }
}

fn check_drifts(n_sets: i64) {
    let is_named = |outcome: &&SweepOutcome| outcome.findings.iter().any(|one| one.finding.id == DRIFTS.id);
    for n_runs in [5, 6, 8, 10] {
        let named = |name: &str, device| {
            let outcomes = outcomes(&repeats(&format!("{name}-{n_runs}"), n_runs, device), n_sets);
            outcomes.iter().filter(is_named).count() as i64
        };
        let (n_falling, n_noisy) = (named("falling", falling), named("steady", noisy));
        assert!(n_runs < 8 || 100 * n_falling >= 95 * n_sets, "{n_runs} runs: {n_falling} of {n_sets} drifts");
        assert!(20 * n_noisy <= n_sets.max(20), "{n_runs} runs: {n_noisy} of {n_sets} without a drift");
    }
}

/// Results of so many runs of a device whose I/Os take so many times as long.
fn results(name: &str, n_runs: u32, device: Device, seed: i64) -> Vec<RunResult> {
    let (open, _folder) = made(&repeats(name, n_runs, device), seed);
    open.folder.records(0).map(|record| of_record(&record.expect("a record"))).collect()
}

/// The number of comparisons of five runs with five that say that the rate differs.
fn n_different(name: &str, device: Device, n_pairs: i64) -> usize {
    let differs = |seed: &i64| {
        let base = results(&format!("{name}-base"), 5, noisy, 2 * seed);
        let new = results(&format!("{name}-new"), 5, device, 2 * seed + 1);
        let comparison = compare(&base, &new, 1.0);
        let figure = comparison.jobs[0].figures.iter().find(|one| one.metric == Metric::Iops).expect("a rate");
        !matches!(figure.verdict, ComparisonVerdict::Same | ComparisonVerdict::Unknown)
    };
    (1..=n_pairs).filter(differs).count()
}

/// Student's test of five beside five with noise of 6 % (5 % and that of 1,000 I/Os) finds about one in five changes of 5 %, every other one of 10 %, and all of 30 %.
fn check_comparisons(n_pairs: i64) {
    let devices: [(u32, Device); 4] = [
        (0, noisy),
        (5, |job, _| slow_by(job, 1.05)),
        (10, |job, _| slow_by(job, 1.1)),
        (30, |job, _| slow_by(job, 1.3)),
    ];
    let found = devices.map(|(percent, device)| (percent, n_different(&format!("pair-{percent}"), device, n_pairs)));
    assert!(20 * found[0].1 as i64 <= n_pairs.max(20), "{found:?}");
    assert_eq!(found[3].1 as i64, n_pairs, "{found:?}");
}

fn slow_by(job: &mut JobSpec, times: f64) {
    let noise = normal(&mut random(job));
    serve(job, times * (0.05 * noise).exp());
}

#[test]
#[ignore = "thousands of runs take minutes: run by .ci/nightly"]
fn intervals_of_200_sets_have_the_truth() {
    check_coverage(200, 92.0);
}

#[test]
#[ignore = "thousands of runs take minutes: run by .ci/nightly"]
fn slow_runs_of_100_sets_are_named() {
    check_kinds(100, 93.0);
}

#[test]
#[ignore = "thousands of runs take minutes: run by .ci/nightly"]
fn drifts_of_100_sets_are_named() {
    check_drifts(100);
}

#[test]
#[ignore = "thousands of runs take minutes: run by .ci/nightly"]
fn changes_of_100_pairs_are_found_where_noise_allows() {
    check_comparisons(100);
}
