//! Repeated runs whose figures rise or fall from run to run: the device changes while they go on, and a mean of all runs is that of no time.
//!
//! Must not know: how figures are measured. Start reading at [`drift`].

use super::changed::OrderedFigure;
use crate::rules::FindingRule;
use crate::text;
use ferrio_inference::{mann_kendall, mean, two_sided_p};
use ferrio_stats::{Finding, Measured, Severity};

/// The finding, which no rule about a single run can have.
pub const DRIFTS: FindingRule = FindingRule::of_several(
    "drifts-between-runs",
    "The figures rise or fall from run to run",
    "The figures of repeated runs in the order in which they were made. It is reported where a rate or a mean latency rises or falls from run to run (the test of Mann and Kendall, or Student's of the \
     line through the runs, each false in one of 200 rows; of five runs and more) by more than a twentieth from the first run to the last, and not by one step.",
    "The device is on its way to another state: a cache fills, flash collects garbage, a file becomes fragmented, or something heats up. The mean of all runs is that of \
     no time, and its interval says nothing of the next run.",
    "--name=a --ioengine=sim --rw=randread --size=1g --repeat=10",
    "Go on until the figures stay the same (ferrio precondition, more runs), and use the runs from then on.",
);

/// Fewest runs of which a trend is told.
const FEWEST_RUNS: usize = 5;
/// False alarms of each test, one in 200 rows.
const ALARMS: f64 = 0.005;
/// A smaller drift over all runs is within what devices do.
const LEAST_DRIFT: f64 = 0.05;

/// The drift of a figure whose runs are repeats of each other; `None`: chance explains it, or the runs are of several points.
pub(super) fn drift(figure: &OrderedFigure) -> Option<Finding> {
    let is_one_point = figure.values.iter().all(|(point, _)| *point == figure.values[0].0);
    let logs: Vec<f64> = figure.values.iter().map(|(_, value)| value.ln()).collect();
    if logs.len() < FEWEST_RUNS || !is_one_point || logs.iter().any(|log| !log.is_finite()) {
        return None;
    }
    let slope = slope(&logs);
    // The order alone tells nothing of a few runs, their distances from a line do; in many runs, some of which are far off, it is the other way round.
    let p = mann_kendall(&logs)?.p.min(p_of_line(&logs, slope));
    let over_all = (slope * (logs.len() - 1) as f64).exp() - 1.0;
    if p >= ALARMS || over_all.abs() < LEAST_DRIFT || !is_line(&logs, slope) {
        return None;
    }
    let of = if figure.metric.is_latency() { "mean latency" } else { "rate" };
    let explanation = format!(
        "The {of} of {} {} by about {} % from each run to the next, {} % over all {} runs: their mean is that of no time.",
        figure.kind.name(),
        if slope > 0.0 { "rose" } else { "fell" },
        text::short(100.0 * (slope.exp() - 1.0).abs()),
        text::short(100.0 * over_all.abs()),
        logs.len()
    );
    let evidence = vec![
        Measured::percent(&format!("{} from run to run", figure.metric.name()), 100.0 * (slope.exp() - 1.0)),
        Measured::percent("over all runs", 100.0 * over_all),
    ];
    Some(Finding {
        hosts: Vec::new(),
        id: DRIFTS.id.to_owned(),
        title: DRIFTS.title.to_owned(),
        severity: Severity::Misleading,
        jobs: vec![figure.job.clone()],
        direction: figure.kind.direction(),
        evidence,
        explanation,
        cure: DRIFTS.cure.to_owned(),
        page: DRIFTS.page(),
    })
}

/// The slope of the line of least squares.
fn slope(logs: &[f64]) -> f64 {
    let (center, middle) = (mean(logs), (logs.len() - 1) as f64 / 2.0);
    let places = || (0..logs.len()).map(|index| index as f64 - middle);
    let products: f64 = places().zip(logs).map(|(place, log)| place * (log - center)).sum();
    products / places().map(|place| place * place).sum::<f64>()
}

/// The probability that chance makes a line as steep through values that do not depend on their order, by Student's test.
fn p_of_line(logs: &[f64], slope: f64) -> f64 {
    let (n, center) = (logs.len() as f64, mean(logs));
    let rest: f64 = (0..)
        .zip(logs)
        .map(|(index, log)| log - center - slope * (f64::from(index) - (n - 1.0) / 2.0))
        .map(|one| one * one)
        .sum();
    let squares_of_places = n * (n * n - 1.0) / 12.0;
    let error = (rest / (n - 2.0) / squares_of_places).sqrt();
    if error > 0.0 { two_sided_p((slope / error).abs(), n - 2.0) } else { 0.0 }
}

/// A line fits the row better than two levels do, wherever the step is.
fn is_line(logs: &[f64], slope: f64) -> bool {
    let squares = |part: &[f64]| part.iter().map(|log| (log - mean(part)).powi(2)).sum::<f64>();
    let rest: Vec<f64> = logs.iter().enumerate().map(|(index, log)| log - slope * index as f64).collect();
    let of_steps = (1..logs.len()).map(|at| squares(&logs[..at]) + squares(&logs[at..]));
    squares(&rest) < of_steps.fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_formats::IoKind;
    use ferrio_inference::synthetic::{Noise, autoregressive};
    use ferrio_stats::Metric;

    /// Runs with noise of a share of the figure, and a factor for each.
    fn found(n_runs: usize, deviation: f64, seed: u64, factor: impl Fn(usize) -> f64) -> Option<Finding> {
        let noise = autoregressive(n_runs, 0.0, Noise::Normal, seed);
        let value = |(index, noise): (usize, &f64)| (0, 1_000.0 * (deviation * noise).exp() * factor(index));
        let values = noise.iter().enumerate().map(value).collect();
        drift(&OrderedFigure { job: "a".to_owned(), kind: IoKind::Read, metric: Metric::Iops, values })
    }

    /// 5 % from run to run, in ten runs, with noise of 2 %: named in 95 of 100 rows; also in seven runs, and in five with noise of 1 %.
    #[test]
    fn a_drift_of_5_percent_is_named() {
        for (n_runs, deviation) in [(10, 0.02), (7, 0.02), (5, 0.008)] {
            for factor in [0.95_f64, 1.05] {
                let is_found =
                    |seed: &u64| found(n_runs, deviation, *seed, |index| factor.powi(index as i32)).is_some();
                let n_found = (0..400).filter(is_found).count();
                assert!(n_found >= 380, "{n_runs} {factor}: {n_found} of 400");
            }
        }
        let finding = found(10, 0.002, 1, |index| 0.95_f64.powi(index as i32)).expect("a drift");
        assert!(finding.explanation.starts_with("The rate of read fell by about 5"), "{}", finding.explanation);
    }

    #[test]
    fn noise_and_one_step_are_none() {
        for (n_runs, deviation) in [(5, 0.03), (6, 0.02), (10, 0.02), (10, 0.3), (30, 0.1)] {
            let n_found = (0..2_000).filter(|seed| found(n_runs, deviation, *seed, |_| 1.0).is_some()).count();
            assert!(n_found <= 20, "{n_runs} {deviation}: {n_found} of 2,000");
        }
        for seed in 0..50 {
            assert_eq!(found(10, 0.01, seed, |index| if index < 5 { 1.0 } else { 0.5 }), None, "{seed}");
        }
        assert_eq!(found(4, 0.0, 1, |index| 0.9_f64.powi(index as i32)), None);
    }
}
