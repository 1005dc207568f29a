//! Repeated runs whose figures changed from one run on and stayed changed: the device did while they went on.
//!
//! The logarithms of the figures are those of their point, plus a step at some run, the same for all points or one for each; the step has to be far above what the runs of a point differ by otherwise
//! (Student's distribution, one false alarm in a thousand over all places of the step). Must not know: how figures are measured. Start reading at [`changes`].

use super::drift::drift;
use crate::rules::FindingRule;
use crate::text;
use ferrio_formats::{IoKind, RunResult};
use ferrio_inference::{mean, two_sided_p};
use ferrio_stats::{Finding, Measured, Metric, Severity};
use ferrio_units::DataDirection;
use ferrio_units::humanize::duration_text;
use std::collections::BTreeMap;

/// The finding, which no rule about a single run can have.
pub const CHANGED: FindingRule = FindingRule::of_several(
    "changed-between-runs",
    "The figures changed from one run on",
    "The figures of repeated runs in the order in which they were made, those of a sweep as multiples of the mean of their point. It is reported where a rate or a mean \
     latency changed by more than a fifth at one place, stayed there for two runs and more, and chance does not explain it (one case in a thousand); and where a \
     search for a limit ends with a value that does not hold any more when it is measured again.",
    "Burst credit was used up, a cache was full or had filled, or something else began to use the device: a mean of all runs describes neither the time before nor \
     the time after it.",
    "--name=a --ioengine=sim --rw=randread --size=1g --repeat=8",
    "Run again when the device has come to rest in one of both states (a longer --rest, or a load before the runs that uses up the credit: --first), and compare the \
     figures of the runs in their order.",
);

/// A change by less is within what devices do.
const LEAST_CHANGE: f64 = 0.2;
/// Fewest runs before and after the change: one odd run is an outlier.
const LEAST_RUNS: usize = 2;
/// False alarms, over all places.
const ALARMS: f64 = 1e-3;
/// Fewest degrees of freedom.
const LEAST_DEGREES: f64 = 2.0;
/// Points that have to agree about a change, if there are so many.
const LEAST_POINTS: usize = 3;
/// Share of the points with runs before and after the change that show it.
const AGREEING: f64 = 0.75;
/// A point shows it whose figure changed by this share at least.
const LEAST_STEP: f64 = 0.1;

/// A figure of a job in several runs, in the order in which they were made.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderedFigure {
    pub job: String,
    pub kind: IoKind,
    pub metric: Metric,
    /// For each run the number of its point, and the figure. Runs of one point are repeats of each other.
    pub values: Vec<(usize, f64)>,
}

/// A step in a row of values.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Step {
    n_before: usize,
    /// How many times as large the values are from then on.
    factor: f64,
}

/// Changes of the figures of runs that are repeats of each other, in their order: at most one for each job and kind of I/O.
pub fn changes(results: &[RunResult]) -> Vec<Finding> {
    let Some(first) = results.first() else { return Vec::new() };
    let mut found: Vec<Finding> = Vec::new();
    for (job_index, job) in first.jobs.iter().enumerate() {
        for kind in IoKind::ALL {
            let of_metric = |metric: Metric| {
                let value = |result: &RunResult| {
                    let figures = result.jobs.get(job_index)?.get(kind)?;
                    metric.of(figures, figures.user_latency().map(|(_, latency)| latency)).map(|value| (0, value))
                };
                let values = results.iter().map(value).collect::<Option<Vec<_>>>()?;
                change(&OrderedFigure { job: job.name.clone(), kind, metric, values })
            };
            found.extend(WATCHED.into_iter().find_map(of_metric));
        }
    }
    found
}

/// Figures that all I/Os of a run make. A rate comes first: latencies follow from it.
pub const WATCHED: [Metric; 2] = [Metric::Iops, Metric::MeanLatency];

/// The change of a figure; `None`: it did not change for certain. Figures that rise or fall from run to run are no step.
pub fn change(figure: &OrderedFigure) -> Option<Finding> {
    drift(figure).or_else(|| stepped(figure))
}

fn stepped(figure: &OrderedFigure) -> Option<Finding> {
    let step = step(&figure.values)?;
    let (before, after) = figure.values.split_at(step.n_before);
    let is_one_point = figure.values.iter().all(|(point, _)| *point == figure.values[0].0);
    let name = |what: &str| format!("{} {what}", figure.metric.name());
    let evidence = if is_one_point {
        let measured = |what: &str, part: &[(usize, f64)]| {
            let value = mean(&part.iter().map(|(_, value)| *value).collect::<Vec<_>>());
            if figure.metric.is_latency() {
                Measured::seconds(&name(what), value / 1e9)
            } else {
                Measured::count(&name(what), value)
            }
        };
        vec![measured("before", before), measured("after", after)]
    } else {
        vec![Measured::percent(&name("after, of that before"), 100.0 * step.factor)]
    };
    let of = if figure.metric.is_latency() { "mean latency" } else { "rate" };
    let explanation = format!(
        "After run {} of {}, in the order in which they were made, the {of} of {} was {} times what it was before, and stayed so. The mean of all runs describes \
         neither.",
        before.len(),
        figure.values.len(),
        figure.kind.name(),
        text::short(step.factor)
    );
    Some(finding(vec![figure.job.clone()], figure.kind.direction(), evidence, explanation))
}

/// The finding that a value of a parameter held within a limit, and did not when it was measured again at the end of a search. `figures`: of the first and of the last
/// time, latencies in nanoseconds.
pub fn not_again(value: &str, metric: Metric, figures: [f64; 2]) -> Finding {
    let shown = |figure: f64| if metric.is_latency() { duration_text(figure) } else { text::short(figure) };
    let measured = |when: &str, figure: f64| {
        let what = format!("{} {when}", metric.name());
        if metric.is_latency() { Measured::seconds(&what, figure / 1e9) } else { Measured::count(&what, figure) }
    };
    let [first, again] = figures;
    let evidence = vec![measured("at first", first), measured("at the end", again)];
    let explanation = format!(
        "{value} was within the limit ({} {}) when the search tried it, and was not ({}) when it was measured again at the end.",
        metric.name(),
        shown(first),
        shown(again)
    );
    finding(Vec::new(), None, evidence, explanation)
}

fn finding(
    jobs: Vec<String>,
    direction: Option<DataDirection>,
    evidence: Vec<Measured>,
    explanation: String,
) -> Finding {
    Finding {
        hosts: Vec::new(),
        id: CHANGED.id.to_owned(),
        title: CHANGED.title.to_owned(),
        severity: Severity::Misleading,
        jobs,
        direction,
        evidence,
        explanation,
        cure: CHANGED.cure.to_owned(),
        page: CHANGED.page(),
    }
}

/// The step of a row of values, each with its group. One value at the step may be between both levels: the change came in the course of its run.
fn step(values: &[(usize, f64)]) -> Option<Step> {
    if values.iter().any(|(_, value)| !value.is_finite() || *value <= 0.0) {
        return None;
    }
    let logs: Vec<(usize, f64)> = values.iter().map(|(group, value)| (*group, value.ln())).collect();
    let whole = best_step(&logs)?;
    let is_one_group = logs.iter().all(|(group, _)| *group == logs[0].0);
    let omitted = [whole.n_before.checked_sub(1), Some(whole.n_before)].into_iter().flatten().filter(|_| is_one_group);
    let candidates =
        std::iter::once((whole, 0)).chain(omitted.filter_map(|index| Some((best_without(&logs, index)?, 1))));
    let is_told = |(step, n_omitted): &(LogStep, usize)| {
        let n_after = logs.len() - n_omitted - step.n_before;
        let is_large = 1.0 - (-step.delta.abs()).exp() > LEAST_CHANGE;
        // Three rows are looked at, at each of their places, and in two ways.
        let alarms = ALARMS / 6.0 / logs.len() as f64;
        step.n_before.min(n_after) >= LEAST_RUNS && is_large && step.is_shared && step.p < alarms
    };
    let (step, _) = candidates.filter(is_told).min_by(|(one, _), (other, _)| one.p.total_cmp(&other.p))?;
    Some(Step { n_before: step.n_before, factor: step.delta.exp() })
}

/// The best step of a row of one group without a value, if it is where the value was, and the value is between both levels.
fn best_without(logs: &[(usize, f64)], index: usize) -> Option<LogStep> {
    let mut rest = logs.to_vec();
    let (_, omitted) = (index < rest.len()).then(|| rest.remove(index))?;
    let level = |part: &[(usize, f64)]| mean(&part.iter().map(|(_, value)| *value).collect::<Vec<_>>());
    let (before, after) = (level(&rest[..index]), level(&rest[index..]));
    let is_between = (before.min(after)..=before.max(after)).contains(&omitted);
    best_step(&rest).filter(|step| step.n_before == index && is_between)
}

/// A step of logarithms.
#[derive(Debug, Clone, Copy)]
struct LogStep {
    n_before: usize,
    /// Mean of the steps of the groups that have values on both sides.
    delta: f64,
    /// The probability that chance makes it as large, at this place.
    p: f64,
    /// Most of the groups show it.
    is_shared: bool,
}

/// The values of a group, those of each side of a step.
#[derive(Debug, Default, Clone, Copy)]
struct Group {
    /// Number of values before the step, and from it on.
    n: [f64; 2],
    sum: [f64; 2],
}

impl Group {
    fn is_on_both_sides(&self) -> bool {
        self.n[0] > 0.0 && self.n[1] > 0.0
    }

    /// Mean after the step above that before it.
    fn delta(&self) -> f64 {
        self.sum[1] / self.n[1] - self.sum[0] / self.n[0]
    }

    /// Squares that the means of both sides explain.
    fn explained(&self) -> f64 {
        (0..2).filter(|side| self.n[*side] > 0.0).map(|side| self.sum[side] * self.sum[side] / self.n[side]).sum()
    }

    /// Weight of its step: the inverse of its variance, for values of variance 1; 0: it has none.
    fn weight(&self) -> f64 {
        self.n[0] * self.n[1] / (self.n[0] + self.n[1])
    }
}

/// A place, and how well a step there explains the values.
#[derive(Debug, Clone, Copy)]
struct StepPlace {
    n_before: usize,
    /// Squares that are not explained, by degree of freedom.
    variance: f64,
    n_degrees: f64,
}

/// The place at which a step explains most, by least squares with a level for each group: the same step for all groups, or one for each, whichever is less by chance.
fn best_step(logs: &[(usize, f64)]) -> Option<LogStep> {
    let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
    for (name, value) in logs {
        let group = groups.entry(*name).or_default();
        group.n[0] += 1.0;
        group.sum[0] += value;
    }
    let center = |name: usize, groups: &BTreeMap<usize, Group>| groups[&name].sum[0] / groups[&name].n[0];
    let centred: Vec<(usize, f64)> = logs.iter().map(|(name, value)| (*name, value - center(*name, &groups))).collect();
    for group in groups.values_mut() {
        group.sum[0] = 0.0;
    }
    let (same, own) = best_places(&centred, groups.clone());
    let steps = same.map(|place| (place, true)).into_iter().chain(own.map(|place| (place, false)));
    let steps = steps.filter_map(|(place, is_same)| step_at(&centred, groups.clone(), place, is_same));
    steps.min_by(|one, other| one.p.total_cmp(&other.p))
}

/// The best places of the same step for all groups, and of one for each.
fn best_places(centred: &[(usize, f64)], mut groups: BTreeMap<usize, Group>) -> (Option<StepPlace>, Option<StepPlace>) {
    let (n, n_groups) = (centred.len() as f64, groups.len() as f64);
    let squares: f64 = centred.iter().map(|(_, value)| value * value).sum();
    let (mut weight, mut sum_after, mut explained, mut n_both) = (0.0, 0.0, 0.0, 0.0);
    let mut best: [Option<StepPlace>; 2] = [None, None];
    for (n_before, (name, value)) in centred.iter().enumerate().rev() {
        let Some(group) = groups.get_mut(name) else { continue };
        weight -= group.weight();
        explained -= group.explained();
        n_both -= f64::from(u8::from(group.is_on_both_sides()));
        group.n = [group.n[0] - 1.0, group.n[1] + 1.0];
        group.sum = [group.sum[0] - value, group.sum[1] + value];
        sum_after += value;
        weight += group.weight();
        explained += group.explained();
        n_both += f64::from(u8::from(group.is_on_both_sides()));
        if weight < 1e-9 {
            continue;
        }
        let models = [(sum_after * sum_after / weight, n - n_groups - 1.0), (explained, n - n_groups - n_both)];
        for (best, (explained, n_degrees)) in best.iter_mut().zip(models) {
            let variance = (squares - explained).max(0.0) / n_degrees.max(1.0);
            if n_degrees >= LEAST_DEGREES && best.is_none_or(|best| variance < best.variance) {
                *best = Some(StepPlace { n_before, variance, n_degrees });
            }
        }
    }
    let [same, own] = best;
    (same, own)
}

fn step_at(
    centred: &[(usize, f64)],
    mut groups: BTreeMap<usize, Group>,
    place: StepPlace,
    is_same: bool,
) -> Option<LogStep> {
    let StepPlace { n_before, variance, n_degrees } = place;
    for (index, (name, value)) in centred.iter().enumerate() {
        let group = groups.get_mut(name)?;
        if index < n_before {
            group.sum[0] += value;
        } else {
            group.n = [group.n[0] - 1.0, group.n[1] + 1.0];
            group.sum[1] += value;
        }
    }
    let both: Vec<&Group> = groups.values().filter(|group| group.is_on_both_sides()).collect();
    let delta = mean(&both.iter().map(|group| group.delta()).collect::<Vec<_>>());
    // The steps of the groups weighted alike in standard errors, or as those of one step.
    let t = if is_same {
        let weight: f64 = both.iter().map(|group| group.weight()).sum();
        both.iter().map(|group| group.weight() * group.delta()).sum::<f64>() / (variance * weight).sqrt()
    } else {
        let steps = both.iter().map(|group| group.delta() * group.weight().sqrt());
        steps.sum::<f64>() / (variance * both.len() as f64).sqrt()
    };
    let agrees = |group: &&&Group| group.delta() * delta.signum() > LEAST_STEP;
    let n_agreeing = both.iter().filter(agrees).count();
    let is_shared = both.len() >= groups.len().min(LEAST_POINTS) && n_agreeing as f64 >= AGREEING * both.len() as f64;
    Some(LogStep { n_before, delta, p: two_sided_p(t, n_degrees), is_shared })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_inference::synthetic::{Noise, autoregressive};

    /// Rounds of so many points, with noise of 2 %; of one point with noise of 0.5 %, as runs of tens of thousands of I/Os have it.
    fn rounds(n_points: usize, n_rounds: usize, seed: u64, factor: impl Fn(usize) -> f64) -> Vec<(usize, f64)> {
        let noise = autoregressive(n_points * n_rounds, 0.0, Noise::Normal, seed);
        let deviation = if n_points == 1 { 0.005 } else { 0.02 };
        let value = |(index, noise): (usize, &f64)| {
            let point = index % n_points;
            (point, 1_000.0 * (point + 1) as f64 * (deviation * noise).exp() * factor(index))
        };
        noise.iter().enumerate().map(value).collect()
    }

    #[test]
    fn no_change_is_seldom_found() {
        for (n_points, n_rounds) in [(1, 4), (1, 8), (1, 30), (7, 3), (20, 2)] {
            let noisy = |seed| {
                // Runs that differ so much that a fifth is no change.
                let values = rounds(n_points, n_rounds, seed, |_| 1.0);
                let wide = values.iter().map(|(point, value)| (*point, (value / 1_000.0).powi(15)));
                step(&wide.collect::<Vec<_>>()).is_some() || step(&values).is_some()
            };
            let n_found = (0..2_000).filter(|seed| noisy(*seed)).count();
            assert!(n_found <= 4, "{n_points} {n_rounds}: {n_found}");
        }
    }

    #[test]
    fn a_change_is_found_at_its_place() {
        for (n_points, n_rounds, at) in [(1, 4, 2), (1, 8, 2), (1, 8, 6), (7, 3, 10), (20, 2, 20)] {
            let halved = |seed| rounds(n_points, n_rounds, seed, |index| if index < at { 1.0 } else { 0.25 });
            let is_it =
                |seed| step(&halved(seed)).is_some_and(|step| step.n_before == at && (step.factor - 0.25).abs() < 0.05);
            let n_found = (0..200).filter(|seed| is_it(*seed)).count();
            assert!(n_found >= 150, "{n_points} {n_rounds} {at}: {n_found}");
        }
    }

    #[test]
    fn a_run_in_whose_course_it_changed_is_between_both() {
        let mixed = |index| match index {
            0 | 1 => 1.0,
            2 => 0.6,
            _ => 0.25,
        };
        assert_eq!(step(&rounds(1, 8, 1, mixed)).map(|step| step.n_before), Some(2));
    }

    /// A limit that some points do not reach, and others many times.
    #[test]
    fn a_change_may_be_larger_at_some_points() {
        let values = rounds(7, 3, 1, |index| if index < 10 { 1.0 } else { 0.5_f64.powi((index % 7) as i32) });
        assert_eq!(step(&values).map(|step| step.n_before), Some(10));
    }

    #[test]
    fn an_odd_run_an_odd_point_and_small_changes_are_none() {
        for odd in 0..8 {
            assert_eq!(step(&rounds(1, 8, 1, |index| if index == odd { 0.25 } else { 1.0 })), None, "{odd}");
        }
        assert_eq!(step(&rounds(1, 8, 1, |index| if index < 4 { 1.0 } else { 0.85 })), None);
        let of_one = |index: usize| if index % 7 == 3 && index >= 14 { 0.25 } else { 1.0 };
        assert_eq!(step(&rounds(7, 3, 1, of_one)), None);
        assert_eq!(step(&[(0, 0.0); 8]), None);
        assert_eq!(step(&[(0, 5.0); 8]), None);
        assert_eq!(step(&[]), None);
    }
}
