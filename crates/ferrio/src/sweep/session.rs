//! The session of a point: the jobs with its options.
//!
//! Must not know: folders, other points. Start reading at [`session_at`].

use crate::sweep::SweepError;
use crate::sweep::own_numbers::with_own_numbers;
use crate::sweep::space::{SweepAxis, SweepPoint, SweptOption};
use ferrio_job::options::canonical_name;
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
    repeat_at(template, point, 0, environment)
}

/// The jobs of a repeat at a point, which have random numbers of their own.
pub(crate) fn repeat_at(
    template: &Template,
    point: &SweepPoint,
    repeat_index: u32,
    environment: &dyn Environment,
) -> Result<RunSpec, SweepError> {
    let refused =
        |diagnostic: Diagnostic| SweepError::Point { point: point.to_string(), diagnostic: diagnostic.into() };
    let mut template = template.clone();
    for (option, value) in point.options_of_jobs() {
        template.set(option.job.as_deref(), &option.name, Some(value), environment).map_err(refused)?;
    }
    with_own_numbers(&mut template, repeat_index, environment).map_err(refused)?;
    let mut spec = template.run_spec(environment).map_err(refused)?;
    spec.compatibility = Compatibility::Native;
    Ok(spec)
}

/// Looks whether the jobs take all points, before the first run.
///
/// # Errors
/// As of [`session_at`], for the first value or point that is refused; and two parameters set one option, by whatever names, of the same jobs.
pub fn check(
    template: &Template,
    axes: &[SweepAxis],
    points: &[SweepPoint],
    environment: &dyn Environment,
) -> Result<(), SweepError> {
    each_sets_its_own(axes)?;
    for axis in axes {
        let all = axis.values.iter().flat_map(|parts| axis.options.iter().zip(parts));
        for (option, value) in all.filter(|(option, _)| !option.is_number_of_hosts()) {
            let mut template = template.clone();
            let set = template.set(option.job.as_deref(), &option.name, Some(value), environment);
            set.map_err(|diagnostic| SweepError::Point {
                point: format!("{option}={value}"),
                diagnostic: diagnostic.into(),
            })?;
        }
    }
    points.iter().try_for_each(|point| {
        point.n_hosts()?;
        session_at(template, point, environment).map(|_| ())
    })
}

/// No two options of a sweep are one option of the same jobs.
fn each_sets_its_own(axes: &[SweepAxis]) -> Result<(), SweepError> {
    let options: Vec<&SweptOption> = axes.iter().flat_map(|axis| &axis.options).collect();
    for (index, second) in options.iter().enumerate() {
        // An option that there is not is refused with its value.
        let Some(option) = canonical_name(&second.name) else { continue };
        // Without a job it is that of all jobs.
        let is_of_same_jobs =
            |first: &SweptOption| first.job.is_none() || second.job.is_none() || first.job == second.job;
        let is_same = |first: &&&SweptOption| canonical_name(&first.name) == Some(option) && is_of_same_jobs(first);
        if let Some(first) = options[..index].iter().find(is_same) {
            return Err(SweepError::OneOption { option, first: first.to_string(), second: second.to_string() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_option_is_set_by_one_parameter() {
        let refused = |axes: &[&str]| {
            let axes: Vec<SweepAxis> = axes.iter().map(|text| SweepAxis::parse(text).expect(text)).collect();
            each_sets_its_own(&axes).err().map(|error| error.to_string())
        };
        for axes in [
            &["bs=4k,8k", "blocksize=4k"][..],
            &["bs:blocksize=4k:8k"],
            &["rw=read", "a.bs=4k", "iodepth:a.blocksize=1:4k"],
            &["bs=4k", "a.bs=8k"],
            &["a.readwrite=read", "rw=write"],
            &["sim_channels=1,2", "a.sim_channels=4"],
        ] {
            assert!(refused(axes).is_some_and(|reason| reason.contains("twice, as ")), "{axes:?}");
        }
        for axes in [&["bs=4k", "iodepth=1..4"][..], &["a.bs=4k", "b.blocksize=4k"], &["none=1", "none2=1"]] {
            assert_eq!(refused(axes), None, "{axes:?}");
        }
        assert_eq!(
            refused(&["bs=4k", "a.blocksize=8k"]).as_deref(),
            Some("the sweep sets bs twice, as bs and as a.blocksize: leave out one of them")
        );
    }
}
