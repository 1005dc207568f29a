//! The page of a sweep, from its outcome.
//!
//! Must not know: how a page is laid out. Start reading at [`page`].

use super::table;
use ferrio_pictures::sweep::{SweepView, SweptPoint};
use ferrio_sweep::outcome::SweepOutcome;

/// The page; `title` is its heading.
pub(super) fn page(outcome: &SweepOutcome, title: String) -> String {
    let values =
        |axis: &ferrio_sweep::space::SweepAxis| (0..axis.values.len()).map(|index| axis.value_text(index)).collect();
    let points = outcome.points.iter().map(|point| SweptPoint {
        number: point.number,
        places: &point.point.places,
        is_believable: point.is_believable(),
        figures: &point.figures,
    });
    let outliers = outcome
        .points
        .iter()
        .flat_map(|point| point.outliers.iter().map(move |outlier| table::outlier_text(point, outlier)));
    ferrio_pictures::sweep::page(&SweepView {
        title,
        axes: outcome.axes.iter().map(|axis| (axis.name(), values(axis))).collect(),
        n_repeats: if outcome.limit.is_some() { 0 } else { outcome.n_repeats },
        points: points.collect(),
        findings: outcome.findings.iter().map(|one| (table::place(one, outcome), &one.finding)).collect(),
        remarks: outcome
            .limit
            .iter()
            .map(table::answer_text)
            .chain(table::missing(outcome))
            .chain(outcome.knees.iter().map(table::knee_text))
            .chain(outliers)
            .collect(),
    })
}
