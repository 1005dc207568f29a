//! Simulated pairs of runs with a known truth, and results as files may hold them.

use super::*;
use ferrio_formats::{Figures, IoKind, LatencyFigures, LatencyHeat, LatencyKind, Quantity, TimeSeries};
use ferrio_inference::synthetic::{Noise, autoregressive};
use ferrio_stats::{Audit, Estimate, ImprecisionReason, JobPrecision, Metric};
use ferrio_units::{DataDirection, PerDirection};

const N_PAIRS: u64 = 1000;
/// Deviation of the values of a series, as a share of their mean.
const NOISE: f64 = 0.02;
const INTERVAL_NS: u64 = 500_000_000;

/// A result with a rate over time, whose values depend on the ones before by `phi`.
fn course(level: f64, n: usize, phi: f64, noise: Noise, seed: u64) -> RunResult {
    let deviation = NOISE * (1.0 - phi * phi).sqrt();
    let rates: Vec<f64> =
        autoregressive(n, phi, noise, seed).iter().map(|value| level * (1.0 + deviation * value)).collect();
    let mut series = TimeSeries::new(Quantity::Iops, DataDirection::Read, INTERVAL_NS);
    for (index, rate) in (0..).zip(&rates) {
        series.add_rate(index * INTERVAL_NS, (index + 1) * INTERVAL_NS, *rate, usize::MAX);
    }
    let mean = rates.iter().sum::<f64>() / n as f64;
    RunResult { jobs: vec![JobResult { series: vec![series], ..job_with(mean) }], ..RunResult::default() }
}

fn job_with(ios_per_sec: f64) -> JobResult {
    let read = Figures { n_ios: 1, ios_per_sec, ..Figures::default() };
    JobResult { name: "a".to_owned(), directions: PerDirection([Some(read), None, None]), ..JobResult::default() }
}

/// A result with a rate alone.
fn rate(ios_per_sec: f64) -> RunResult {
    RunResult { jobs: vec![job_with(ios_per_sec)], ..RunResult::default() }
}

fn verdict(base: &[RunResult], new: &[RunResult], threshold_percent: f64, metric: Metric) -> ComparisonVerdict {
    let comparison = compare(base, new, threshold_percent);
    let figure = comparison.jobs[0].figures.iter().find(|figure| figure.metric == metric);
    figure.map_or(ComparisonVerdict::Unknown, |figure| figure.verdict)
}

/// Number of pairs with each verdict: same, faster, slower, unknown, differs.
fn count(n_pairs: u64, verdict: impl Fn(u64) -> ComparisonVerdict) -> [u64; 5] {
    let mut counts = [0; 5];
    for pair in 1..=n_pairs {
        counts[verdict(pair) as usize] += 1;
    }
    counts
}

/// Verdicts about the rates of two runs, of which the second is faster by a share.
fn verdicts(n: usize, phi: f64, noise: Noise, more: f64, threshold_percent: f64) -> [u64; 5] {
    verdicts_of(0, n, phi, noise, more, threshold_percent)
}

/// The same of other pairs for each `batch`.
fn verdicts_of(batch: u64, n: usize, phi: f64, noise: Noise, more: f64, threshold_percent: f64) -> [u64; 5] {
    count(N_PAIRS, |pair| {
        let pair = batch * N_PAIRS + pair;
        let base = course(10_000.0, n, phi, noise, 2 * pair);
        let new = course(10_000.0 * (1.0 + more), n, phi, noise, 2 * pair + 1);
        verdict(&[base], &[new], threshold_percent, Metric::Iops)
    })
}

/// Without a threshold every certain difference counts, so that this is the hardest case.
#[test]
fn no_difference_is_seldom_taken_for_one() {
    for (n, phi, noise) in [
        (60, 0.0, Noise::Exponential),
        (120, 0.0, Noise::Normal),
        (120, 0.5, Noise::LogNormal),
        (120, 0.7, Noise::Normal),
        (120, 0.9, Noise::Normal),
    ] {
        let [_, faster, slower, _, differs] = verdicts(n, phi, noise, 0.0, 0.0);
        assert_eq!((faster, slower), (0, 0), "one run against one run is neither");
        assert!(differs <= N_PAIRS / 20, "n {n}, phi {phi}, {noise:?}: {differs}");
    }
}

#[test]
fn a_difference_of_5_percent_is_found() {
    for (n, phi) in [(60, 0.0), (60, 0.5), (120, 0.7), (300, 0.9)] {
        let [_, faster, slower, _, differs] = verdicts(n, phi, Noise::Normal, 0.05, 1.0);
        assert_eq!((faster, slower), (0, 0), "one run against one run is neither");
        assert!(differs >= N_PAIRS * 95 / 100, "n {n}, phi {phi}: {differs}");
    }
}

#[test]
#[ignore = "takes minutes without optimisation"]
fn verdicts_of_many_kinds_of_series() {
    for noise in [Noise::Normal, Noise::Exponential, Noise::LogNormal] {
        for (n, phi) in [
            (30, 0.0),
            (60, 0.0),
            (60, 0.5),
            (60, 0.7),
            (60, 0.9),
            (120, 0.5),
            (120, 0.9),
            (300, 0.5),
            (300, 0.9),
            (600, 0.9),
        ] {
            let more = verdicts(n, phi, noise, 0.05, 1.0);
            let none = [0, 1, 2].map(|batch| verdicts_of(batch, n, phi, noise, 0.0, 0.0));
            eprintln!("{noise:?} n {n} phi {phi}: no difference {none:?}, 5 % {more:?}");
            assert!(none.iter().all(|counts| counts[1] + counts[2] == 0 && counts[4] <= N_PAIRS / 20));
        }
    }
}

fn repeats(n: usize, level: f64, seed: u64) -> Vec<RunResult> {
    autoregressive(n, 0.0, Noise::Normal, seed).iter().map(|value| rate(level * (1.0 + NOISE * value))).collect()
}

#[test]
fn repeats_are_compared_by_their_spread() {
    for (n_base, n_new) in [(3, 3), (5, 5), (4, 8), (6, 1)] {
        let [_, faster, slower, _, _] = count(N_PAIRS, |pair| {
            let (base, new) = (repeats(n_base, 10_000.0, 2 * pair), repeats(n_new, 10_000.0, 2 * pair + 1));
            verdict(&base, &new, 0.0, Metric::Iops)
        });
        assert!(faster + slower <= N_PAIRS / 20, "{n_base} {n_new}: {faster} and {slower}");
    }
    let [_, faster, slower, _, _] = count(N_PAIRS, |pair| {
        let (base, new) = (repeats(8, 10_000.0, 2 * pair), repeats(8, 9_500.0, 2 * pair + 1));
        verdict(&base, &new, 1.0, Metric::Iops)
    });
    assert!(slower >= N_PAIRS * 95 / 100 && faster == 0, "{faster} and {slower}");
}

/// A result with distributions over time: lognormal latencies around a level that wanders.
fn latencies(level_ns: f64, seed: u64) -> RunResult {
    const N_COLUMNS: usize = 60;
    const N_IOS: usize = 60;
    let levels = autoregressive(N_COLUMNS, 0.5, Noise::Normal, seed);
    let ios = autoregressive(N_COLUMNS * N_IOS, 0.0, Noise::Normal, seed ^ 0xABCD_0000);
    let mut series = TimeSeries::new(Quantity::Latency(LatencyKind::Completion), DataDirection::Read, INTERVAL_NS);
    let mut heat = LatencyHeat::new(INTERVAL_NS);
    for (index, io) in ios.iter().enumerate() {
        let column = index / N_IOS;
        let latency_ns = (level_ns * (NOISE * levels[column] + 0.1 * io).exp()) as u64;
        let time_ns = column as u64 * INTERVAL_NS;
        series.add(time_ns, latency_ns as f64, 4096);
        heat.add(time_ns, latency_ns, 1, 512);
    }
    let bins = heat.total();
    let n_ios = ios.len() as f64;
    let mean_ns = series.filled().map(|(_, bin)| bin.sum).sum::<f64>() / n_ios;
    series.heat = Some(heat);
    let clat = LatencyFigures { mean_ns, max_ns: u64::MAX, bins, ..LatencyFigures::default() };
    let mut job = job_with(1000.0);
    job.directions.0[0] = Some(Figures { clat: Some(clat), ..Figures::default() });
    job.series.push(series);
    RunResult { jobs: vec![job], ..RunResult::default() }
}

#[test]
fn latencies_are_compared_by_their_course() {
    for metric in [Metric::MeanLatency, Metric::P50] {
        let of_level = |level_ns: f64| {
            count(200, |pair| {
                let (base, new) = (latencies(100_000.0, 2 * pair), latencies(level_ns, 2 * pair + 1));
                verdict(&[base], &[new], 0.0, metric)
            })
        };
        let [_, faster, slower, _, differs] = of_level(100_000.0);
        assert!(faster + slower == 0 && differs <= 10, "{metric:?}: {differs}");
        let [_, faster, slower, _, differs] = of_level(107_000.0);
        assert!(faster + slower == 0 && differs >= 190, "{metric:?}: {differs}");
    }
}

#[test]
fn single_results_without_a_course_say_nothing() {
    let comparison = compare(&[rate(1000.0)], &[rate(2000.0)], 1.0);
    assert_eq!(comparison.jobs[0].figures[0].p, None);
    let figure = &comparison.jobs[0].figures[0];
    assert_eq!(figure.verdict, ComparisonVerdict::Unknown);
    assert!(figure.reason.contains("without figures over time"), "{}", figure.reason);
    let change = figure.change.expect("a change");
    assert_eq!((change.percent, change.absolute, change.interval_percent), (100.0, 1000.0, None));
}

/// A percentile that a result does not tell the precision of keeps the reason that its own course gives.
#[test]
fn a_percentile_without_told_precision_has_the_reason_of_its_course() {
    let told = |result: RunResult| {
        let unknown = Estimate::Unknown(ImprecisionReason::NotMeasured);
        let precision = JobPrecision {
            job_index: 0,
            job: "a".to_owned(),
            direction: "read".to_owned(),
            confidence_percent: 95.0,
            interval_ns: INTERVAL_NS,
            n_intervals: 60,
            autocorrelation: None,
            n_effective: None,
            ios_per_sec: unknown,
            bytes_per_sec: unknown,
            p50_ns: unknown,
            p99_ns: unknown,
            p999_ns: unknown,
            mean_ns: unknown,
        };
        RunResult { precision: vec![precision], ..result }
    };
    let (base, new) = (told(latencies(100_000.0, 1)), told(latencies(100_000.0, 2)));
    let comparison = compare(&[base], &[new], 1.0);
    let figure = comparison.jobs[0].figures.iter().find(|figure| figure.metric == Metric::P9999);
    // Of 3,600 I/Os not one is expected beyond it.
    let reason = &figure.expect("a figure").reason;
    assert!(reason.contains("too few I/Os"), "{reason}");
}

/// Expected: 36,060 and 2,000 IOPS, a rate that was set, are 18 times apart.
#[test]
fn a_change_that_no_noise_explains_is_told() {
    let comparison = compare(&[rate(36_060.0)], &[rate(2_000.0)], 1.0);
    let figure = &comparison.jobs[0].figures[0];
    assert_eq!((figure.verdict, figure.basis), (ComparisonVerdict::Differs, ComparisonBasis::Size));
    let change = figure.change.expect("a change");
    let [low, high] = change.bounds_percent.expect("bounds");
    assert!(low > -99.0 && high < -80.0 && change.interval_percent.is_none(), "{low} {high}");
    // The longest latency is that of one I/O, and p99.9 of 100 is too.
    let with = |n_samples: u64, latency_ns: u64| {
        let percentiles = vec![(50.0, latency_ns), (99.9, latency_ns)];
        let clat = LatencyFigures { n_samples, max_ns: latency_ns, percentiles, ..LatencyFigures::default() };
        let mut result = rate(1000.0);
        result.jobs[0].directions.0[0].as_mut().expect("reads").clat = Some(clat);
        result
    };
    let of = |n_samples: u64, metric| verdict(&[with(n_samples, 1_000)], &[with(n_samples, 50_000)], 1.0, metric);
    assert_eq!(of(100, Metric::P50), ComparisonVerdict::Differs);
    assert_eq!(of(100, Metric::P999), ComparisonVerdict::Unknown);
    assert_eq!(of(100_000, Metric::P999), ComparisonVerdict::Differs);
    assert_eq!(of(100_000, Metric::Max), ComparisonVerdict::Unknown);
}

#[test]
fn number_of_results_and_probability_stand_beside_a_verdict() {
    let comparison = compare(&[rate(99.0), rate(100.0), rate(101.0)], &[rate(119.0), rate(120.0), rate(121.0)], 1.0);
    let figure = &comparison.jobs[0].figures[0];
    assert_eq!((figure.n, figure.basis, figure.verdict), ([3, 3], ComparisonBasis::Repeats, ComparisonVerdict::Faster));
    assert!(figure.p.is_some_and(|p| p > 0.0 && p < 0.001), "{:?}", figure.p);
    let one =
        compare(&[course(1_000.0, 60, 0.0, Noise::Normal, 1)], &[course(1_100.0, 70, 0.0, Noise::Normal, 2)], 1.0);
    let figure = &one.jobs[0].figures[0];
    assert_eq!((figure.n, figure.n_intervals, figure.basis), ([1, 1], Some([60, 70]), ComparisonBasis::Course));
    assert!(figure.p.is_some_and(|p| p < 0.001), "{:?}", figure.p);
}

/// The words are those of `ferrio compare --json` (docs/compare.md), on which programs rely.
#[test]
fn what_a_verdict_rests_on_has_its_word() {
    use ComparisonBasis::{Course, Nothing, Repeats, SameResult, Size};
    let words = [Repeats, Course, Size, SameResult, Nothing].map(|basis| serde_json::to_value(basis).expect("a word"));
    assert_eq!(words, ["repeats", "course", "size", "same_result", "nothing"]);
}

#[test]
fn syncs_are_compared() {
    let with_syncs = |latency_ns: u64| {
        let lat = LatencyFigures {
            n_samples: 5_000,
            max_ns: latency_ns,
            mean_ns: latency_ns as f64,
            percentiles: vec![(99.0, latency_ns)],
            ..LatencyFigures::default()
        };
        let mut result = rate(1000.0);
        result.jobs[0].syncs = Some(Figures { n_ios: 5_000, ios_per_sec: 500.0, lat: Some(lat), ..Figures::default() });
        result
    };
    let base: Vec<RunResult> = [100_000, 101_000, 102_000].map(with_syncs).to_vec();
    let new: Vec<RunResult> = [200_000, 201_000, 202_000].map(with_syncs).to_vec();
    let comparison = compare(&base, &new, 1.0);
    let syncs = comparison.jobs[0].figures.iter().filter(|figure| figure.direction == IoKind::Sync.name());
    let told: Vec<_> = syncs.map(|figure| (figure.metric.name(), figure.verdict)).collect();
    let (same, slower) = (ComparisonVerdict::Same, ComparisonVerdict::Slower);
    assert_eq!(told, [("iops", same), ("mean", slower), ("p99", slower), ("max", slower)]);
}

/// What users wait for has become twice as long, while the device answers as before: a queue has formed before it.
#[test]
fn repeated_runs_are_compared_by_the_latencies_of_users() {
    let with_latencies = |response_ns: u64| {
        let latency = |mean_ns: f64, p99_ns: u64| {
            Some(LatencyFigures {
                mean_ns,
                max_ns: p99_ns,
                percentiles: vec![(99.0, p99_ns)],
                ..LatencyFigures::default()
            })
        };
        let mut result = rate(1000.0);
        let read = result.jobs[0].directions.0[0].as_mut().expect("reads");
        read.clat = latency(90_000.0, 100_000 + response_ns / 1000);
        read.response = latency(response_ns as f64, 2 * response_ns);
        result
    };
    let base = [400_000, 401_000, 402_000].map(with_latencies);
    let new = [800_000, 801_000, 802_000].map(with_latencies);
    let p99 = |comparison: &Comparison| {
        let found = comparison.jobs[0].figures.iter().find(|figure| figure.metric == Metric::P99);
        // The geometric means of values that are so near to each other are the arithmetic ones, nearly: those of 800, 802 and 804 us, 1,600, 1,602 and 1,604 us.
        let rounded = |value: Option<f64>| value.map(|value| (value / 100.0).round() * 100.0);
        found.map(|figure| (rounded(figure.base), rounded(figure.new), figure.latency, figure.verdict))
    };
    let repeated = compare(&base, &new, 1.0);
    let slower = ComparisonVerdict::Slower;
    assert_eq!(p99(&repeated), Some((Some(802_000.0), Some(1_602_000.0), Some("response latency"), slower)));
    assert!(repeated.remarks[0].starts_with("Latencies of a are response latencies"), "{:?}", repeated.remarks);
    // One run each does not tell how much they vary.
    let single = compare(&base[..1], &new[..1], 1.0);
    assert_eq!(p99(&single).map(|told| (told.0, told.2)), Some((Some(100_400.0), Some("completion latency"))));
    assert!(single.remarks[0].starts_with("Latencies of a are completion latencies."), "{:?}", single.remarks);
    // A run without them has only the others.
    let old = [500.0, 501.0, 502.0].map(|level| {
        let mut result = with_latencies(400_000);
        let read = result.jobs[0].directions.0[0].as_mut().expect("reads");
        (read.response, read.ios_per_sec) = (None, level);
        result
    });
    let mixed = compare(&old, &new, 1.0);
    assert_eq!((p99(&mixed).and_then(|told| told.2), mixed.remarks.len()), (Some("completion latency"), 0));
}

#[test]
fn the_same_result_twice_is_the_same_and_no_repeat() {
    let one = rate(1000.0);
    let comparison = compare(std::slice::from_ref(&one), std::slice::from_ref(&one), 1.0);
    assert_eq!(comparison.jobs[0].figures[0].verdict, ComparisonVerdict::Same);
    assert!(comparison.remarks[0].contains("compares nothing"), "{:?}", comparison.remarks);
    let comparison = compare(&[one.clone(), one.clone()], &[rate(1100.0), rate(1101.0)], 1.0);
    assert!(comparison.remarks[0].contains("counts once"), "{:?}", comparison.remarks);
    assert_eq!(comparison.jobs[0].figures[0].verdict, ComparisonVerdict::Unknown);
}

#[test]
fn figures_at_the_edges_are_no_verdicts() {
    for (base, new) in [(0.0, 1000.0), (1000.0, 0.0), (f64::MIN_POSITIVE, f64::MAX), (0.0, 0.5)] {
        let (first, second) = ([rate(base), rate(base / 2.0 + 1.0)], [rate(new), rate(new / 2.0 + 1.0)]);
        for comparison in [compare(&first[..1], &second[..1], 1.0), compare(&first, &second, 1.0)] {
            for figure in comparison.jobs.iter().flat_map(|job| &job.figures) {
                let change = figure.change.map_or(0.0, |change| change.percent);
                assert!(change.is_finite(), "{base} {new}: {change}");
            }
        }
        let single = verdict(&first[..1], &second[..1], 1.0, Metric::Iops);
        assert_eq!(single, ComparisonVerdict::Unknown, "{base} {new}");
    }
    assert_eq!(compare(&[], &[], 1.0).jobs, []);
}

#[test]
fn findings_that_a_figure_is_wrong_are_told_with_it() {
    let finding = Finding {
        hosts: Vec::new(),
        id: "device-did-less".to_owned(),
        title: String::new(),
        severity: Severity::Wrong,
        jobs: vec!["a".to_owned()],
        direction: None,
        evidence: Vec::new(),
        explanation: String::new(),
        cure: String::new(),
        page: String::new(),
    };
    let note = Finding { severity: Severity::Note, ..finding.clone() };
    let audited =
        RunResult { audit: Some(Audit { findings: vec![finding, note], ..Audit::default() }), ..rate(1000.0) };
    let comparison = compare(&[rate(990.0)], &[audited], 1.0);
    assert_eq!((comparison.base.is_audited, comparison.new.is_audited), (false, true));
    let [found] = &comparison.findings[..] else { panic!("{:?}", comparison.findings) };
    assert!(found.in_new && !found.in_base);
    assert_eq!(comparison.jobs[0].figures[0].contradicted_by, ["device-did-less"]);
}

#[test]
fn a_finding_about_reads_does_not_contradict_writes() {
    let finding = Finding {
        hosts: Vec::new(),
        id: "device-did-less".to_owned(),
        title: String::new(),
        severity: Severity::Wrong,
        jobs: vec!["a".to_owned()],
        direction: Some(DataDirection::Read),
        evidence: Vec::new(),
        explanation: String::new(),
        cure: String::new(),
        page: String::new(),
    };
    let mixed = || {
        let mut result = rate(1000.0);
        let job = &mut result.jobs[0];
        job.directions.0[1] = job.directions.0[0].clone();
        result
    };
    let audited = RunResult { audit: Some(Audit { findings: vec![finding], ..Audit::default() }), ..mixed() };
    let comparison = compare(&[mixed()], &[audited], 1.0);
    for figure in &comparison.jobs[0].figures {
        assert_eq!(figure.contradicted_by.is_empty(), figure.direction != "read", "{figure:?}");
    }
    assert!(comparison.jobs[0].figures.iter().any(|figure| figure.direction == "write"));
}

#[test]
fn directions_and_jobs_of_one_side_are_told() {
    let mut base = rate(1000.0);
    base.jobs.push(JobResult { name: "gone".to_owned(), ..JobResult::default() });
    let mut new = rate(1000.0);
    new.jobs[0].directions.0.swap(0, 1);
    let comparison = compare(&[base], &[new], 1.0);
    let job = &comparison.jobs[0];
    assert_eq!((&job.only_in_base[..], &job.only_in_new[..]), (&["read"][..], &["write"][..]));
    assert_eq!((job.figures.len(), &comparison.only_in_base[..]), (0, &["gone".to_owned()][..]));
}
