//! Curves of a sweep: rate and latency over the parameter with the most values, and latency against throughput.
//!
//! The values of the other parameters make the lines. Must not know: pages. Start reading at [`curves`].

use super::ReadOutcome;
use super::frame::{HEIGHT, PixelScale, WIDTH, bottom_axis, left_axis, pixels, place_of, value_text};
use crate::outcome::{ShownParameter, ShownPoint, ShownSubject};
use ferrio_insight::repeats::RepeatedFigure;
use ferrio_stats::{Metric, MetricUnit};
use maud::{Markup, html};

/// A text above a mark that is nearer to the upper edge has no room.
const NEAR_EDGE: f64 = 30.0;

/// Lines of a picture that a reader tells apart.
const MOST_LINES: usize = 8;

/// Points that differ in one parameter alone.
pub(super) struct CurveLine<'a> {
    pub(super) name: String,
    pub(super) points: Vec<&'a dyn ShownPoint>,
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
            (against_throughput(Some(view), subject, lines, Metric::P99, &|point| format!("#{}", point.number())))
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
        if let Some((_, line)) = lines.iter_mut().find(|(known, _)| *known == others) {
            line.points.push(point);
            continue;
        }
        let mut options = view.options(point);
        options.remove(along);
        lines.push((others, CurveLine { name: options.join(" "), points: vec![point] }));
    }
    // A search tries values in an order of its own.
    for (_, line) in &mut lines {
        line.points.sort_by_key(|point| point.places()[along]);
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
    let figure = |point: &&dyn ShownPoint| subject.figure(*point, metric).map(highest);
    let scale = PixelScale::up(lines.iter().flat_map(|line| &line.points).filter_map(figure));
    let x = |point: &dyn ShownPoint| place_of(point.places()[along], values.len());
    let words: Vec<(f64, String)> =
        values.iter().enumerate().map(|(index, value)| (place_of(index, values.len()), value.clone())).collect();
    let heading = format!("{} over {name}", metric.title());
    picture(
        &heading,
        &html! {
            (left_axis(&scale, metric.unit()))
            (bottom_axis(&words, name))
            @for (index, line) in lines.iter().enumerate() {
                @let marks = line.points.iter().filter_map(|point| Some((*point, subject.figure(*point, metric)?)));
                @let marks: Vec<(&dyn ShownPoint, &RepeatedFigure)> = marks.collect();
                @let path: Vec<(f64, f64)> = marks.iter().map(|(point, figure)| (x(*point), scale.place(figure.mean))).collect();
                (polyline(&path, index))
                @for (point, figure) in marks {
                    @if let Some([low, high]) = figure.interval {
                        line class=(format!("whisker c{index}")) x1=(pixels(x(point))) x2=(pixels(x(point))) y1=(pixels(scale.place(low))) y2=(pixels(scale.place(high))) {}
                    }
                    (knee(view.is_knee(point, subject), (x(point), scale.place(figure.mean))))
                    (mark(point, index, (x(point), scale.place(figure.mean)), &format!("{}: {}", view.options(point).join(" "), value_text(metric.unit(), figure.mean))))
                }
            }
        },
    )
}

/// A latency against IOPS. `knees`: the outcome whose knees are marked. `words`: what a point says of itself.
pub(super) fn against_throughput(
    knees: Option<&ReadOutcome<'_>>,
    subject: ShownSubject<'_>,
    lines: &[CurveLine<'_>],
    metric: Metric,
    words: &dyn Fn(&dyn ShownPoint) -> String,
) -> Markup {
    let both =
        |point: &dyn ShownPoint| Some((subject.figure(point, Metric::Iops)?.mean, subject.figure(point, metric)?.mean));
    let all: Vec<(f64, f64)> = lines.iter().flat_map(|line| &line.points).filter_map(|point| both(*point)).collect();
    if all.len() < 2 {
        return html! {};
    }
    let (across, up) = (
        PixelScale::across(all.iter().map(|(iops, _)| *iops)),
        PixelScale::up(all.iter().map(|(_, latency)| *latency)),
    );
    let ticks = across.ticks().into_iter();
    let below: Vec<(f64, String)> =
        ticks.map(|value| (across.place(value), value_text(MetricUnit::IosPerSecond, value))).collect();
    picture(
        &format!("{} against {}", metric.title(), Metric::Iops.title()),
        &html! {
            (left_axis(&up, metric.unit()))
            (bottom_axis(&below, Metric::Iops.heading()))
            @for (index, line) in lines.iter().enumerate() {
                @let marks = line.points.iter().filter_map(|point| both(*point).map(|(iops, latency)| (*point, (across.place(iops), up.place(latency)))));
                @let marks: Vec<(&dyn ShownPoint, (f64, f64))> = marks.collect();
                (polyline(&marks.iter().map(|(_, place)| *place).collect::<Vec<_>>(), index))
                @for (point, place) in marks {
                    (knee(knees.is_some_and(|outcome| outcome.is_knee(point, subject)), place))
                    (mark(point, index, place, &words(point)))
                }
            }
        },
    )
}

fn highest(figure: &RepeatedFigure) -> f64 {
    figure.interval.map_or(figure.mean, |[_, high]| high.min(2.0 * figure.mean).max(figure.mean))
}

fn picture(heading: &str, content: &Markup) -> Markup {
    html! {
        figure {
            figcaption { (heading) }
            svg class="curves" viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(heading) { (content) }
        }
    }
}

fn polyline(path: &[(f64, f64)], index: usize) -> Markup {
    let points: Vec<String> = path.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    html! { @if path.len() > 1 { polyline class=(format!("line c{index}")) points=(points.join(" ")) {} } }
}

/// A point; hollow where its figures cannot be believed.
fn mark(point: &dyn ShownPoint, index: usize, (x, y): (f64, f64), words: &str) -> Markup {
    let class = format!("mark c{index}{}", if point.is_believable() { "" } else { " hollow" });
    html! { circle class=(class) cx=(pixels(x)) cy=(pixels(y)) r="4" { title { (words) } } }
}

/// A ring around the mark of a knee, with its name above it, or below it near the upper edge.
fn knee(is_knee: bool, (x, y): (f64, f64)) -> Markup {
    let name_y = if y > NEAR_EDGE { y - 13.0 } else { y + 22.0 };
    html! {
        @if is_knee {
            circle class="knee" cx=(pixels(x)) cy=(pixels(y)) r="9" { title { "knee" } }
            text class="knee-name" x=(pixels(x)) y=(pixels(name_y)) { "knee" }
        }
    }
}

/// What the colours of the lines mean.
pub(super) fn key(lines: &[CurveLine<'_>]) -> Markup {
    html! {
        ul class="key" {
            @for (index, line) in lines.iter().enumerate() {
                li { span class=(format!("swatch c{index}")) {} (line.name) }
            }
        }
    }
}
