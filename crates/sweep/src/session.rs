//! The session of a point: the jobs with its options.
//!
//! Must not know: folders, other points. Start reading at [`session_at`].

use crate::SweepError;
use crate::space::{SweepAxis, SweepPoint};
use ferrio_job::{Diagnostic, Environment, Template};
use ferrio_spec::{Compatibility, RunSpec};

/// The jobs at a point.
///
/// # Errors
/// A job refuses an option, or options of the point cannot go together.
pub fn session_at(
    template: &Template,
    point: &SweepPoint,
    environment: &dyn Environment,
) -> Result<RunSpec, SweepError> {
    let refused =
        |diagnostic: Diagnostic| SweepError::Point { point: point.to_string(), diagnostic: diagnostic.into() };
    let mut template = template.clone();
    for (option, value) in &point.settings {
        template.set(option.job.as_deref(), &option.name, Some(value), environment).map_err(refused)?;
    }
    let mut spec = template.run_spec(environment).map_err(refused)?;
    spec.compatibility = Compatibility::Native;
    Ok(spec)
}

/// Looks whether the jobs take all points, before the first run.
///
/// # Errors
/// As of [`session_at`], for the first value or point that is refused.
pub fn check(
    template: &Template,
    axes: &[SweepAxis],
    points: &[SweepPoint],
    environment: &dyn Environment,
) -> Result<(), SweepError> {
    for axis in axes {
        for (option, value) in axis.values.iter().flat_map(|parts| axis.options.iter().zip(parts)) {
            let mut template = template.clone();
            let set = template.set(option.job.as_deref(), &option.name, Some(value), environment);
            set.map_err(|diagnostic| SweepError::Point {
                point: format!("{option}={value}"),
                diagnostic: diagnostic.into(),
            })?;
        }
    }
    points.iter().try_for_each(|point| session_at(template, point, environment).map(|_| ()))
}
