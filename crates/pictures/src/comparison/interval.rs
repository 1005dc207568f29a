//! The picture of an interval: a bar on a scale that all figures of a page share.
//!
//! Must not know: pages. Start reading at [`picture`].

use ferrio_insight::compare::{ComparedFigure, ComparisonVerdict};
use maud::{Markup, html};

/// Size of a picture, pixels.
const WIDTH: f64 = 160.0;
const HEIGHT: f64 = 16.0;
/// The scale reaches at least to this change and at most to that, percent.
const RANGE: (f64, f64) = (2.0, 100.0);

/// The scale of the pictures: the largest change, percent, to both sides.
pub(super) struct PercentScale {
    most_percent: f64,
}

impl PercentScale {
    /// The scale on which most of these figures fit.
    pub(super) fn of<'a>(figures: impl Iterator<Item = &'a ComparedFigure>) -> Self {
        let ends = figures.filter_map(|figure| figure.change?.interval_percent);
        let most = ends.flatten().fold(0.0_f64, |most, end| most.max(end.abs()));
        Self { most_percent: most.clamp(RANGE.0, RANGE.1).ceil() }
    }

    pub(super) fn words(&self) -> String {
        format!("-{0} % to +{0} %", self.most_percent)
    }

    /// True if the bar of a figure does not fit.
    pub(super) fn cuts(&self, figure: &ComparedFigure) -> bool {
        let ends = figure.change.and_then(|change| change.interval_percent);
        ends.is_some_and(|ends| ends.iter().any(|end| end.abs() > self.most_percent))
    }

    /// A change as a place in the picture; one that does not fit is at its edge.
    fn place(&self, percent: f64) -> f64 {
        let share = (percent / self.most_percent).clamp(-1.0, 1.0);
        WIDTH / 2.0 * (1.0 + share)
    }
}

/// The interval as a bar, with the change as a line in it and no change as a line behind it.
pub(super) fn picture(figure: &ComparedFigure, scale: &PercentScale) -> Markup {
    let Some((percent, [low, high])) =
        figure.change.and_then(|change| Some((change.percent, change.interval_percent?)))
    else {
        return html! {};
    };
    let (start, end, at) = (scale.place(low), scale.place(high), scale.place(percent).clamp(1.0, WIDTH - 1.0));
    let class = match figure.verdict {
        ComparisonVerdict::Same => "same",
        ComparisonVerdict::Faster => "faster",
        ComparisonVerdict::Slower => "slower",
        ComparisonVerdict::Unknown => "unknown",
        ComparisonVerdict::Differs => "differs",
    };
    // Points at the edges of the picture, where the bar goes on beyond them.
    let point = |edge: f64, inwards: f64| format!("{edge},8 {0},1 {0},15", edge + inwards);
    let cut_low = (low < -scale.most_percent).then(|| point(0.0, 7.0));
    let cut_high = (high > scale.most_percent).then(|| point(WIDTH, -7.0));
    let number = |value: f64| format!("{value:.1}");
    html! {
        svg class=(format!("interval {class}")) width=(WIDTH) height=(HEIGHT) aria-hidden="true" {
            line class="none" x1=(number(WIDTH / 2.0)) x2=(number(WIDTH / 2.0)) y1="0" y2=(HEIGHT) {}
            rect x=(number(start)) y="4" width=(number((end - start).max(2.0))) height=(HEIGHT - 8.0) rx="2" {}
            @for points in cut_low.iter().chain(&cut_high) { polygon class="cut" points=(points) {} }
            line class="at" x1=(number(at)) x2=(number(at)) y1="1" y2=(HEIGHT - 1.0) {}
        }
    }
}
