//! The plan and the outcome of a sweep as text.
//!
//! Must not know: how runs are made. Start reading at [`outcome_text`].

use super::answers::{answer_text, knee_texts, tried};
use super::loops;
use super::scaled::scaling_texts;
use crate::ui::step_bar::time_text;
use ferrio::sweep::limit::LimitSearch;
use ferrio::sweep::outcome::{PointOutcome, SweepFinding, SweepOutcome};
use ferrio::sweep::{OPEN_LOOP_SHARES, SweepPlan};
use ferrio_formats::IoKind;
use ferrio_formats::native::{NOTHING, aligned, findings, text_width, wrap};
use ferrio_insight::repeats::{Outlier, RepeatedFigure};
use ferrio_stats::{Finding, Metric};
use ferrio_units::humanize::thousands;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

/// Points that a plan lists.
const MOST_LISTED: usize = 40;
const MOST_OUTLIERS: usize = 20;
/// Mark of a point whose figures a finding contradicts, or in which a job failed.
const WRONG_MARK: &str = "!";

/// What a sweep is going to do. `longest`: the time of all runs, where the options tell it.
pub(super) fn plan_text(plan: &SweepPlan, longest: Option<Duration>) -> String {
    if let Some(limit) = &plan.limit {
        let limits: Vec<String> = limit.limits.iter().map(ToString::to_string).collect();
        let (first, last) = limit.ends;
        return format!(
            "A search for the largest {} from {first} to {last} with {}: about 15 runs where they differ little, at most {}, {}.\n",
            limit.option,
            limits.join(" and "),
            LimitSearch::MOST_RUNS,
            plan_time(plan, LimitSearch::MOST_RUNS, longest),
        );
    }
    let (n_points, n_runs) = (plan.points.len(), plan.n_runs());
    let time = plan_time(plan, n_runs, longest);
    let order = if plan.order_seed.is_some() { "in a random order" } else { "in the order of the values" };
    let mut text = format!("{} at {}, {order}, {time}.\n", counted(n_runs, "run"), counted(n_points, "point"));
    for point in plan.points.iter().take(MOST_LISTED) {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "  {point}");
    }
    if n_points > MOST_LISTED {
        let _ = writeln!(text, "  and {} more", n_points - MOST_LISTED);
    }
    if plan.has_open_loop {
        let n_open = OPEN_LOOP_SHARES.len() * plan.n_repeats as usize;
        let _ = writeln!(
            text,
            "Then {} in an open loop, at shares of the rate of the fastest point.",
            counted(n_open, "run")
        );
    }
    text
}

/// How long so many runs take.
fn plan_time(plan: &SweepPlan, n_runs: usize, longest: Option<Duration>) -> String {
    let rest = Duration::from_millis(plan.around_runs.rest_ms).saturating_mul(n_runs.saturating_sub(1) as u32);
    match longest {
        Some(longest) => format!("at most {} and the time to lay out files", time_text(longest + rest)),
        None => "for a time that the jobs do not limit (runtime)".to_owned(),
    }
}

fn counted(number: usize, word: &str) -> String {
    format!("{} {word}{}", thousands(number as u64), if number == 1 { "" } else { "s" })
}

/// The table of all points, the findings, and where the results are. The knees stand first where they are the answer.
pub(super) fn outcome_text(outcome: &SweepOutcome, folder: &Path, is_about_knee: bool) -> String {
    let width = text_width(ferrio_sys::terminal::columns(std::io::stdout()));
    let mut text = outcome
        .limit
        .as_ref()
        .map(|answer| wrap(&answer_text(answer), "", width) + "\n" + &tried(answer))
        .unwrap_or_default();
    for scaling in scaling_texts(&outcome.scalings) {
        text.push_str(&wrap(&scaling, "", width));
    }
    if !outcome.scalings.is_empty() {
        text.push('\n');
    }
    let knees: String = knee_texts(outcome).iter().map(|text| wrap(text, "", width)).collect();
    if is_about_knee {
        text.push_str(if knees.is_empty() { "Knee: too few points have figures.\n" } else { &knees });
        text.push('\n');
    }
    text.push_str(&table(outcome));
    text.push('\n');
    for line in legend(outcome) {
        text.push_str(&wrap(&line, "", width));
    }
    if !is_about_knee {
        text.push_str(&knees);
    }
    if let Some(open) = &outcome.open_loop {
        text.push_str(&loops::text(outcome, open, width));
    }
    text.push_str(&findings_text(outcome, width));
    let _ = write!(text, "\n{}", wrap(&format!("Results: {0}, page: {0}/index.html", folder.display()), "", width));
    text
}

/// The findings, each once with its points, and the runs that are far from their repeats.
pub(super) fn findings_text(outcome: &SweepOutcome, width: usize) -> String {
    let has_colour = crate::ui::console::has_colour();
    let mut text = String::new();
    let closed = outcome.findings.iter().map(|one| (place(one, outcome), &one.finding));
    for (place, finding) in closed.chain(loops::findings(outcome)) {
        let _ = write!(text, "\n{}", wrap(&place, "", width));
        text.push_str(&findings(std::slice::from_ref::<Finding>(finding), width, has_colour));
    }
    for outlier in outlier_texts(outcome) {
        let _ = write!(text, "\n{}", wrap(&outlier, "", width));
    }
    text
}

/// The runs that are far from their repeats, a sentence each.
pub(super) fn outlier_texts(outcome: &SweepOutcome) -> Vec<String> {
    let all = || outcome.points.iter().flat_map(|point| point.outliers.iter().map(move |one| (point, one)));
    let n_left_out = all().count().saturating_sub(MOST_OUTLIERS);
    let told = all().take(MOST_OUTLIERS).map(|(point, outlier)| outlier_text(point, outlier));
    let more = (n_left_out > 0)
        .then(|| format!("{} more outliers: the outcome as JSON has all of them.", thousands(n_left_out as u64)));
    told.chain(more).collect()
}

/// The figures that are shown; JSON has all of them.
pub(super) const SHOWN: [Metric; 6] =
    [Metric::Bandwidth, Metric::Iops, Metric::MeanLatency, Metric::P50, Metric::P99, Metric::P999];

/// The points as rows, one for each job and kind of I/O.
fn table(outcome: &SweepOutcome) -> String {
    let jobs = outcome.jobs();
    let has_names = jobs.iter().any(|(index, ..)| *index != jobs[0].0);
    let mut heads: Vec<String> = vec!["#".to_owned()];
    heads.extend(outcome.axes.iter().flat_map(|axis| axis.options.iter().map(ToString::to_string)));
    let n_left = heads.len() + 1 + usize::from(has_names);
    heads.extend(has_names.then(|| "job".to_owned()));
    heads.push(String::new());
    heads.extend(headings());
    let mut rows = vec![heads];
    for point in &outcome.points {
        let of_point = |(index, ..): &&(usize, String, IoKind)| point.figures.iter().any(|one| one.job_index == *index);
        for (job_index, job, kind) in jobs.iter().filter(of_point) {
            if point.figure(*job_index, *kind, Metric::Iops).is_none() {
                continue;
            }
            let mut row = vec![format!("{}{}", point.number, mark(point))];
            row.extend(point.point.settings.iter().map(|(_, value)| value.clone()));
            row.extend(has_names.then(|| job.clone()));
            row.push(kind.name().to_owned());
            row.extend(cells(point, *job_index, *kind));
            rows.push(row);
        }
        if point.figures.is_empty() {
            let mut row = vec![format!("{}{WRONG_MARK}", point.number)];
            row.extend(point.point.settings.iter().map(|(_, value)| value.clone()));
            row.push("no I/O".to_owned());
            rows.push(row);
        }
    }
    aligned(&rows, n_left)
}

/// The headings of [`cells`].
pub(super) fn headings() -> impl Iterator<Item = String> {
    let precision = |metric: &Metric| (*metric == Metric::Iops).then(|| "±".to_owned());
    SHOWN.iter().flat_map(move |metric| std::iter::once(metric.heading().to_owned()).chain(precision(metric)))
}

/// The figures of a point, and behind its rate the precision of that.
pub(super) fn cells(point: &PointOutcome, job_index: usize, kind: IoKind) -> impl Iterator<Item = String> {
    let cells = move |metric: &Metric| {
        let figure = point.figure(job_index, kind, *metric);
        let half = figure.and_then(RepeatedFigure::half_width_percent);
        let precision = half.map_or("?".to_owned(), |half| format!("{half:.1} %"));
        let cell = metric.cell_or(figure.map(|figure| figure.mean), NOTHING);
        std::iter::once(cell).chain((*metric == Metric::Iops).then_some(precision))
    };
    SHOWN.iter().flat_map(cells)
}

pub(super) fn mark(point: &PointOutcome) -> &'static str {
    if point.is_believable() { "" } else { WRONG_MARK }
}

fn legend(outcome: &SweepOutcome) -> Vec<String> {
    let ground = if outcome.limit.is_some() {
        "from the differences between the runs".to_owned()
    } else if outcome.n_repeats > 1 {
        format!("from the differences between {} runs", outcome.n_repeats)
    } else {
        "from the course of each run; --repeat tells how much runs differ from each other".to_owned()
    };
    let mut lines = vec![format!(
        "MB/s: millions of bytes a second. ±: half of the interval that has the true IOPS with a probability of 95 %, {ground}; ?: not known. Latencies are \
         from submission to completion, and those of users (rate_latency=response) from the time at which they came; of several runs, the geometric mean."
    )];
    if outcome.points.iter().any(|point| !point.is_believable()) {
        lines.push(format!("{WRONG_MARK}: a finding contradicts figures of this point, or a job failed."));
    }
    lines.extend(unknown(outcome));
    lines.extend(missing(outcome));
    lines
}

/// At which points the runs were not enough for the figure of `--until`.
pub(super) fn unknown(outcome: &SweepOutcome) -> Option<String> {
    let until = outcome.until.as_ref()?;
    let unknown = outcome.points.iter().filter(|point| point.is_known == Some(false));
    let (absent, wide): (Vec<&PointOutcome>, _) = unknown.partition(|point| !until.is_about_one_of(&point.figures));
    let told = |points: &[&PointOutcome], text: String| {
        let numbers: Vec<usize> = points.iter().map(|point| point.number).collect();
        match &numbers[..] {
            [] => None,
            [_] if outcome.points.len() == 1 => Some(format!("The {text}")),
            numbers => Some(format!("{} the {text}", at_points(numbers, outcome))),
        }
    };
    let texts = [
        told(&absent, format!("jobs have no figure that is meant by {until}.")),
        told(&wide, format!("runs are not enough for {until}.")),
    ];
    let texts: Vec<String> = texts.into_iter().flatten().collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}

/// How many runs are missing, if any are.
pub(super) fn missing(outcome: &SweepOutcome) -> Option<String> {
    match outcome.n_missing {
        0 => None,
        1 => Some("1 run was not made yet.".to_owned()),
        n_missing => Some(format!("{} runs were not made yet.", thousands(n_missing as u64))),
    }
}

pub(super) fn place(finding: &SweepFinding, outcome: &SweepOutcome) -> String {
    let n_points = outcome.points.len();
    if finding.is_of_all {
        return match (n_points, outcome.points.first().map_or(0, |point| point.n_runs)) {
            (1, n_runs) if n_runs == finding.n_runs => "In all runs:".to_owned(),
            (1, n_runs) => format!("In {} of {n_runs} runs:", finding.n_runs),
            _ => format!("At all {n_points} points:"),
        };
    }
    format!("{}:", at_points(&finding.points, outcome))
}

/// `At 2 of 9 points (#3, 4)`.
fn at_points(points: &[usize], outcome: &SweepOutcome) -> String {
    let numbers: Vec<String> = points.iter().take(MOST_LISTED).map(ToString::to_string).collect();
    let more = if points.len() > MOST_LISTED { ", ..." } else { "" };
    format!("At {} of {} points (#{}{more})", points.len(), outcome.points.len(), numbers.join(", "))
}

fn outlier_text(point: &PointOutcome, outlier: &Outlier) -> String {
    let side = if outlier.percent < 0.0 { "below" } else { "above" };
    let mut different = outlier.findings.clone();
    different.extend(outlier.facts.iter().cloned());
    let different = if different.is_empty() {
        "nothing that was recorded tells why".to_owned()
    } else {
        format!("this run alone has: {}", different.join("; "))
    };
    let (job, kind, metric) = (&outlier.job, outlier.kind.name(), outlier.metric.name());
    let of_point = if point.point.settings.is_empty() {
        String::new()
    } else {
        format!(" of point #{} ({})", point.number, point.point)
    };
    format!(
        "Outlier: {}{of_point}. {metric} of {kind} of {job} is {:.0} % {side} the median of the runs; {different}.",
        outlier.run,
        outlier.percent.abs()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_two_units() {
        let of = |seconds| time_text(Duration::from_secs(seconds));
        assert_eq!([of(7), of(90), of(3_599), of(7_260)], ["7 s", "1 min 30 s", "59 min 59 s", "2 h 1 min"]);
    }
}
