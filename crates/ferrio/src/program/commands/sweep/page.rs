//! The page of a sweep, from its outcome.
//!
//! Must not know: how a page is laid out. Start reading at [`page`].

use super::{answers, loops, table};
use crate::shared::swept_view::{swept, view};
use ferrio::sweep::outcome::{PointOutcome, SweepOutcome};
use ferrio_pictures::sweep::{SweepView, SweptPoint};

/// The page; `title` is its heading.
pub(super) fn page(outcome: &SweepOutcome, title: String) -> String {
    let values =
        |axis: &ferrio::sweep::space::SweepAxis| (0..axis.values.len()).map(|index| axis.value_text(index)).collect();
    ferrio_pictures::sweep::page(&SweepView {
        title,
        axes: outcome.axes.iter().map(|axis| (axis.name(), values(axis))).collect(),
        n_repeats: if outcome.limit.is_some() { 0 } else { outcome.n_repeats },
        points: outcome.points.iter().map(|point| with_knees(outcome, point)).collect(),
        findings: outcome
            .findings
            .iter()
            .map(|one| (table::place(one, outcome), &one.finding))
            .chain(loops::findings(outcome))
            .collect(),
        answers: outcome.limit.iter().map(answers::answer_text).chain(answers::knee_texts(outcome)).collect(),
        remarks: table::unknown(outcome)
            .into_iter()
            .chain(table::missing(outcome))
            .chain(table::outlier_texts(outcome))
            .collect(),
        loops: outcome.open_loop.as_ref().map(|open| view(outcome, &open.beside, &open.figures)),
    })
}

/// A point as pictures show it, with the jobs and kinds of I/O whose knee it certainly is.
fn with_knees<'a>(outcome: &'a SweepOutcome, point: &'a PointOutcome) -> SweptPoint<'a> {
    let knees = outcome.knees.iter().filter(|knee| knee.is_inside && knee.point == point.number);
    SweptPoint { knee_of: knees.map(|knee| (&*knee.job, knee.kind)).collect(), ..swept(point) }
}
