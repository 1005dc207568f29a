//! An outcome as pages and pictures read it.
//!
//! Must not know: pages. Start reading at [`both_loops`].

use super::{PointOutcome, SweepOutcome};
use crate::sweep::OpenLoop;
use crate::sweep::space::SweepAxis;
use ferrio_formats::IoKind;
use ferrio_insight::repeats::RepeatedFigure;
use ferrio_pictures::outcome::{ShownLoops, ShownOutcome, ShownParameter, ShownPoint};

impl ShownPoint for PointOutcome {
    fn number(&self) -> usize {
        self.number
    }

    fn places(&self) -> &[usize] {
        &self.point.places
    }

    fn is_believable(&self) -> bool {
        Self::is_believable(self)
    }

    fn figures(&self) -> &[RepeatedFigure] {
        &self.figures
    }
}

impl ShownOutcome for SweepOutcome {
    fn parameters(&self) -> Vec<ShownParameter> {
        let parameter = |axis: &SweepAxis| ShownParameter {
            name: axis.name(),
            values: (0..axis.values.len()).map(|index| axis.value_text(index)).collect(),
        };
        self.axes.iter().map(parameter).collect()
    }

    fn n_repeats(&self) -> Option<u32> {
        // A search for a limit repeats the runs near it.
        self.limit.is_none().then_some(self.n_repeats)
    }

    fn points(&self) -> Vec<&dyn ShownPoint> {
        self.points.iter().map(|point| point as &dyn ShownPoint).collect()
    }

    fn is_knee(&self, number: usize, job: &str, kind: IoKind) -> bool {
        self.knees.iter().any(|knee| knee.is_inside && knee.point == number && knee.job == job && knee.kind == kind)
    }

    fn loops(&self) -> Option<ShownLoops<'_>> {
        self.open_loop.as_ref().map(|open| both_loops(self, &open.beside, &open.figures))
    }
}

/// A closed loop and the open one beside it.
pub fn both_loops<'a>(closed: &'a SweepOutcome, beside: &OpenLoop, open: &'a SweepOutcome) -> ShownLoops<'a> {
    let best = &closed.points[beside.at];
    let line = || beside.closed.iter().map(|index| &closed.points[*index]);
    // What all points of the line have is told once.
    let is_common = |index: &usize| line().all(|point| point.point.settings[*index] == best.point.settings[*index]);
    let words = |point: &PointOutcome, is_told: &dyn Fn(&usize) -> bool| {
        let told = (0..point.point.settings.len()).filter(is_told).map(|index| &point.point.settings[index]);
        told.map(|(option, value)| format!("{option}={value}")).collect::<Vec<_>>().join(" ")
    };
    let shown = |point: &'a PointOutcome, words: String| (words, point as &dyn ShownPoint);
    ShownLoops {
        at: words(best, &|index| is_common(index)),
        closed: line().map(|point| shown(point, words(point, &|index| !is_common(index)))).collect(),
        open: open.points.iter().map(|point| shown(point, OpenLoop::share_of(point))).collect(),
    }
}
