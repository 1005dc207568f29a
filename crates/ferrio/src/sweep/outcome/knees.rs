//! The knees of a sweep: one for each job, kind of I/O and combination of the other parameters, along the parameter with the most numbers.
//!
//! Must not know: what a knee is. Start reading at [`SweepOutcome::find_knees`].

use super::{PointOutcome, SweepOutcome};
use crate::sweep::space::{SweepAxis, number};
use ferrio_formats::IoKind;
use ferrio_insight::knee::{KneeKind, LoadPoint, knee};
use ferrio_stats::Metric;
use serde::Serialize;

/// Fewest values of a parameter along which a knee is looked for.
const FEWEST_VALUES: usize = 4;

/// A knee.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweptKnee {
    /// Name of the job.
    pub job: String,
    /// Kind of I/O.
    #[serde(rename = "of")]
    pub kind: IoKind,
    /// The other parameters, as a point writes them; empty: there are none.
    pub others: String,
    /// The parameter.
    pub option: String,
    /// Its value at the knee.
    pub value: String,
    /// Number of the point with this value.
    #[serde(skip)]
    pub point: usize,
    /// Values between which the knee is, by the intervals of the figures.
    pub between: [String; 2],
    /// What is known of it.
    pub kind_of_knee: KneeKind,
    /// The knee is between the ends of the values.
    pub is_inside: bool,
    /// By which factor throughput grows from the first value to its largest.
    pub rise: f64,
}

impl SweepOutcome {
    /// Finds the knees when all points are there.
    pub(super) fn find_knees(&mut self) {
        let Some(along) = self.load_axis() else { return };
        let mut knees = Vec::new();
        for (job_index, job, kind) in self.jobs() {
            for line in self.lines(along) {
                let of = |point: &&PointOutcome| {
                    let place = (point.point.places[along], point.number);
                    let rate = point.figure(job_index, kind, Metric::Iops)?;
                    let latency = point.figure(job_index, kind, Metric::MeanLatency)?;
                    Some((place, LoadPoint::of(rate, latency)?))
                };
                let points: Vec<((usize, usize), LoadPoint)> = line.iter().filter_map(of).collect();
                let Some(found) = knee(&points.iter().map(|(_, point)| *point).collect::<Vec<_>>()) else { continue };
                let axis = &self.axes[along];
                let value = |index: usize| axis.value_text(points[index].0.0);
                knees.push(SweptKnee {
                    job: job.clone(),
                    kind,
                    others: others(line[0], axis),
                    option: axis.name(),
                    value: value(found.index),
                    point: points[found.index].0.1,
                    between: found.between.map(value),
                    kind_of_knee: found.kind,
                    is_inside: found.kind == KneeKind::Found,
                    rise: found.rise,
                });
            }
        }
        self.knees = knees;
    }

    /// The parameter whose values are ascending numbers: the one with the most of them. Sizes are no load.
    pub(crate) fn load_axis(&self) -> Option<usize> {
        let is_load = |axis: &SweepAxis| {
            let numbers: Option<Vec<f64>> = axis.values.iter().map(|parts| number(parts.first()?)).collect();
            let ascends = numbers.is_some_and(|numbers| numbers.windows(2).all(|pair| pair[0] < pair[1]));
            let has_load = axis.options.iter().any(|option| LOADS.contains(&option.name.as_str()));
            ascends && has_load && axis.values.len() >= FEWEST_VALUES
        };
        let loads = self.axes.iter().enumerate().filter(|(_, axis)| is_load(axis));
        loads.max_by_key(|(_, axis)| axis.values.len()).map(|(index, _)| index)
    }

    /// The points that differ in one parameter alone, in the order of its values.
    pub(super) fn lines(&self, along: usize) -> Vec<Vec<&PointOutcome>> {
        let mut lines: Vec<(Vec<usize>, Vec<&PointOutcome>)> = Vec::new();
        for point in &self.points {
            let mut others = point.point.places.clone();
            others.remove(along);
            match lines.iter_mut().find(|(known, _)| *known == others) {
                Some((_, line)) => line.push(point),
                None => lines.push((others, vec![point])),
            }
        }
        for (_, line) in &mut lines {
            line.sort_by_key(|point| point.point.places[along]);
        }
        lines.into_iter().map(|(_, line)| line).collect()
    }
}

/// Options that say how much load there is.
const LOADS: [&str; 5] = ["iodepth", "numjobs", "rate_iops", "rate", "hosts"];

/// The settings of a point without those of a parameter.
pub(super) fn others(point: &PointOutcome, axis: &SweepAxis) -> String {
    let settings = point.point.settings.iter().filter(|(option, _)| !axis.options.contains(option));
    settings.map(|(option, value)| format!("{option}={value}")).collect::<Vec<_>>().join(" ")
}
