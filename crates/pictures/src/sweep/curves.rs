//! Curves of a sweep: rate and latency over the parameter with the most values, and latency against throughput.
//!
//! The values of the other parameters make the lines. Must not know: pages. Start reading at [`curves`].

use super::ReadOutcome;
use crate::chart::{AxisUnit, ChartAxis, ChartLine, PointMark};
use crate::draw::{lines_in_page, sample_in_page};
use crate::outcome::{ShownParameter, ShownPoint, ShownSubject};
use crate::panel::LinePanel;
use crate::scale::AxisScale;
use ferrio_stats::Metric;
use maud::{Markup, html};

/// Lines of a picture that a reader tells apart.
const MOST_LINES: usize = 8;

/// Points that differ in one parameter alone.
pub(super) struct CurveLine<'a> {
    pub(super) name: String,
    /// The points, each with its words.
    pub(super) points: Vec<(String, &'a dyn ShownPoint)>,
}

/// All curves of a job's I/O.
pub(super) fn curves(view: &ReadOutcome<'_>, subject: ShownSubject<'_>) -> Markup {
    let along = longest_axis(view);
    let Some(along) = along else { return html! {} };
    let lines = lines(view, along);
    let n_left_out = lines.len().saturating_sub(MOST_LINES);
    let lines = &lines[..lines.len().min(MOST_LINES)];
    html! {
        div class="pictures" {
            @for metric in [Metric::Iops, Metric::Bandwidth, Metric::P99] {
                (over_parameter(view, subject, along, lines, metric))
            }
            (against_throughput(subject, lines, Metric::P99, &|point| view.is_knee(point, subject)))
        }
        @if lines.len() > 1 { (key(lines)) }
        @if n_left_out > 0 { p class="hint" { (n_left_out) " more lines are in the table alone." } }
    }
}

/// The parameter with the most values; `None`: none has two.
fn longest_axis(view: &ReadOutcome<'_>) -> Option<usize> {
    let longest = view.parameters.iter().enumerate().rev().max_by_key(|(_, parameter)| parameter.values.len());
    longest.filter(|(_, parameter)| parameter.values.len() > 1).map(|(index, _)| index)
}

fn lines<'a>(view: &ReadOutcome<'a>, along: usize) -> Vec<CurveLine<'a>> {
    let mut lines: Vec<(Vec<usize>, CurveLine<'a>)> = Vec::new();
    for point in view.points.iter().copied() {
        let others = point.places().iter().enumerate().filter(|(axis, _)| *axis != along).map(|(_, place)| *place);
        let others: Vec<usize> = others.collect();
        let mut options = view.options(point);
        let words = options.join(" ");
        if let Some((_, line)) = lines.iter_mut().find(|(known, _)| *known == others) {
            line.points.push((words, point));
            continue;
        }
        options.remove(along);
        lines.push((others, CurveLine { name: options.join(" "), points: vec![(words, point)] }));
    }
    // A search tries values in an order of its own.
    for (_, line) in &mut lines {
        line.points.sort_by_key(|(_, point)| point.places()[along]);
    }
    lines.into_iter().map(|(_, line)| line).collect()
}

fn over_parameter(
    view: &ReadOutcome<'_>,
    subject: ShownSubject<'_>,
    along: usize,
    lines: &[CurveLine<'_>],
    metric: Metric,
) -> Markup {
    let ShownParameter { name, values } = &view.parameters[along];
    let place = |point: &dyn ShownPoint| Some(point.places()[along] as f64);
    let is_knee = |point: &dyn ShownPoint| view.is_knee(point, subject);
    let lines = chart_lines(lines, (subject, metric), &place, &is_knee);
    let x = ChartAxis::of_names(name.clone(), values.clone());
    picture(&format!("{} over {name}", metric.title()), x, metric, lines)
}

/// A latency against IOPS, with the knees among the points.
pub(super) fn against_throughput(
    subject: ShownSubject<'_>,
    lines: &[CurveLine<'_>],
    metric: Metric,
    is_knee: &dyn Fn(&dyn ShownPoint) -> bool,
) -> Markup {
    let place = |point: &dyn ShownPoint| Some(subject.figure(point, Metric::Iops)?.mean);
    let lines = chart_lines(lines, (subject, metric), &place, is_knee).into_iter().map(ChartLine::without_band);
    let lines: Vec<ChartLine> = lines.collect();
    if lines.iter().map(|line| line.x.len()).sum::<usize>() < 2 {
        return html! {};
    }
    let scale = AxisScale::fitting(lines.iter().flat_map(|line| line.x.iter().copied()));
    let x = ChartAxis::new(Metric::Iops.title(), AxisUnit::IosPerSecond, scale);
    picture(&format!("{} against {}", metric.title(), Metric::Iops.title()), x, metric, lines)
}

/// Lines through the points that have a place from left to right and a figure above it.
fn chart_lines(
    lines: &[CurveLine<'_>],
    (subject, metric): (ShownSubject<'_>, Metric),
    place: &dyn Fn(&dyn ShownPoint) -> Option<f64>,
    is_knee: &dyn Fn(&dyn ShownPoint) -> bool,
) -> Vec<ChartLine> {
    let made = |(look, line): (usize, &CurveLine<'_>)| {
        let mut made = ChartLine { has_whiskers: true, ..ChartLine::new(line.name.clone(), look) };
        for (words, point) in &line.points {
            let Some((x, figure)) = place(*point).zip(subject.figure(*point, metric)) else { continue };
            let [low, high] = figure.interval.unwrap_or([f64::NAN; 2]);
            made.x.push(x);
            made.y.push(figure.mean);
            made.low.push(low);
            made.high.push(high);
            let value = metric.text(figure.mean);
            let (words, is_doubtful) = (format!("{words}: {value}"), !point.is_believable());
            made.marks.push(PointMark { words, is_doubtful, is_knee: is_knee(*point) });
        }
        made
    };
    lines.iter().enumerate().map(made).collect()
}

fn picture(heading: &str, x: ChartAxis, metric: Metric, lines: Vec<ChartLine>) -> Markup {
    let scale = AxisScale::fitting(lines.iter().flat_map(|line| line.y.iter().copied()));
    let y = ChartAxis::new(metric.title(), AxisUnit::of(metric.unit()), scale);
    html! {
        figure {
            figcaption { (heading) }
            (lines_in_page(&LinePanel { x, y, lines }, heading))
        }
    }
}

/// What the lines are.
pub(super) fn key(lines: &[CurveLine<'_>]) -> Markup {
    html! {
        ul class="key" {
            @for (look, line) in lines.iter().enumerate() {
                li { (sample_in_page(&ChartLine::new(String::new(), look))) " " (line.name) }
            }
        }
    }
}
