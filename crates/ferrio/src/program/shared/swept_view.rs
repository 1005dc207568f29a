//! Points of sweeps as pictures show them, for the pages of sweeps and profiles.

use ferrio::sweep::outcome::{PointOutcome, SweepOutcome};
use ferrio::sweep::{OPEN_LOOP_SHARES, OpenLoop};
use ferrio_pictures::sweep::{LoopsView, SweptPoint};

/// The view of both loops.
pub(crate) fn view<'a>(closed: &'a SweepOutcome, beside: &OpenLoop, open: &'a SweepOutcome) -> LoopsView<'a> {
    let best = &closed.points[beside.at];
    let line = || beside.closed.iter().map(|index| &closed.points[*index]);
    // What all points of the line have is told once.
    let is_common = |index: &usize| line().all(|point| point.point.settings[*index] == best.point.settings[*index]);
    let words = |point: &PointOutcome, is_told: &dyn Fn(&usize) -> bool| {
        let told = (0..point.point.settings.len()).filter(is_told).map(|index| &point.point.settings[index]);
        told.map(|(option, value)| format!("{option}={value}")).collect::<Vec<_>>().join(" ")
    };
    LoopsView {
        at: words(best, &|index| is_common(index)),
        closed: line().map(|point| (words(point, &|index| !is_common(index)), swept(point))).collect(),
        open: open.points.iter().map(|point| (share(point), swept(point))).collect(),
    }
}

/// Share of the rate of the closed loop at which a point is. Its number is that of the share.
pub(crate) fn share(point: &PointOutcome) -> String {
    OPEN_LOOP_SHARES.get(point.number - 1).map_or_else(String::new, |percent| format!("{percent} %"))
}

/// A point as pictures show it.
pub(crate) fn swept(point: &PointOutcome) -> SweptPoint<'_> {
    SweptPoint {
        number: point.number,
        places: &point.point.places,
        is_believable: point.is_believable(),
        figures: &point.figures,
        knee_of: Vec::new(),
    }
}
