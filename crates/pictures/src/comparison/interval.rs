//! The picture of an interval: a bar on a scale that all figures of a page share.
//!
//! Must not know: pages. Start reading at [`picture`].

use crate::draw::strips::change_bar;
use crate::panel::ChangeBar;
use ferrio_insight::compare::ComparedFigure;
use maud::{Markup, html};

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
}

/// The interval as a bar, with the change as a line in it and no change as a line behind it.
pub(super) fn picture(figure: &ComparedFigure, scale: &PercentScale) -> Markup {
    let Some((percent, [low, high])) =
        figure.change.and_then(|change| Some((change.percent, change.interval_percent?)))
    else {
        return html! {};
    };
    change_bar(&ChangeBar {
        percent,
        interval_percent: (low, high),
        most_percent: scale.most_percent,
        verdict: figure.verdict,
    })
}
