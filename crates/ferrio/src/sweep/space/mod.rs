//! The points of a sweep: all combinations of the values of its parameters that its conditions allow.
//!
//! Must not know: runs, option tables, files. Start reading at [`Space::new`].

mod axis;
mod condition;
mod range;

pub use axis::{SweepAxis, SweptOption};
pub use condition::PointCondition;
pub(crate) use condition::number;

use serde::{Deserialize, Serialize};
use std::fmt;

/// Most points of a sweep.
pub const MOST_POINTS: usize = 100_000;

/// Why there are no such points.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpaceError {
    /// A parameter has no values, or an empty one.
    #[error(
        "{0:?} has no values, or an empty one: expected is OPTION=VALUE,VALUE,... such as bs=4k,64k or iodepth=1..32"
    )]
    NoValues(String),
    /// A parameter has no option, or an empty one.
    #[error("{0:?} has no option: expected is OPTION=VALUE,VALUE,... such as bs=4k,64k")]
    NoOption(String),
    /// An option is set by two parameters, or twice by one.
    #[error("the sweep sets {0} twice")]
    OptionTwice(String),
    /// A parameter has a value twice.
    #[error("{names} has the value {value} twice")]
    ValueTwice {
        /// The options.
        names: String,
        /// The value.
        value: String,
    },
    /// A value of options that change together has too many or too few parts.
    #[error(
        "{value:?} does not have {n_parts} parts: options that change together ({names}) take values such as 4k:32"
    )]
    Parts {
        /// The options.
        names: String,
        /// The value.
        value: String,
        /// Number of parts.
        n_parts: usize,
    },
    /// A range is none.
    #[error(
        "{text} is no range: {reason}; expected is FIRST..LAST, which doubles, FIRST..LAST+STEP or FIRST..LAST*FACTOR"
    )]
    Range {
        /// The range.
        text: String,
        /// Why.
        reason: &'static str,
    },
    /// A condition is none.
    #[error("--where {text:?}: {reason}; expected is something like 'bs * iodepth <= 4m' or 'rw == randread'")]
    Condition {
        /// The condition.
        text: String,
        /// Why.
        reason: &'static str,
    },
    /// A limit is not searched along such a parameter.
    #[error(
        "{0}: a limit (--max) is searched along one option with ascending numbers, such as --over rate_iops=100..100000"
    )]
    NoSearch(String),
    /// A number of hosts is none.
    #[error("hosts={0}: expected is a number of hosts from 1")]
    Hosts(String),
    /// No point is left.
    #[error("the conditions (--where) leave no point")]
    NoPoint,
    /// There are too many points.
    #[error("the parameters have {0} combinations, and at most {MOST_POINTS} are made")]
    TooMany(u128),
}

/// The parameters of a sweep, and the conditions for its points.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    axes: Vec<SweepAxis>,
    conditions: Vec<PointCondition>,
}

impl Space {
    /// A space of these parameters, in which all conditions hold. Without a parameter it has one point.
    ///
    /// # Errors
    /// Two parameters set the same option, or a condition is none.
    pub fn new(axes: Vec<SweepAxis>, conditions: &[String]) -> Result<Self, SpaceError> {
        let names: Vec<String> = axes.iter().flat_map(|axis| &axis.options).map(ToString::to_string).collect();
        let is_repeat = |(at, name): &(usize, &String)| names[..*at].contains(*name);
        if let Some((_, name)) = names.iter().enumerate().find(is_repeat) {
            return Err(SpaceError::OptionTwice(name.clone()));
        }
        let conditions = conditions.iter().map(|text| PointCondition::parse(text, &names)).collect::<Result<_, _>>()?;
        Ok(Self { axes, conditions })
    }

    /// The parameters.
    pub fn axes(&self) -> &[SweepAxis] {
        &self.axes
    }

    /// The points, the last parameter changing fastest.
    ///
    /// # Errors
    /// There is none, or there are too many.
    pub fn points(&self) -> Result<Vec<SweepPoint>, SpaceError> {
        let n_all = self.axes.iter().map(|axis| axis.values.len() as u128).product();
        if n_all > MOST_POINTS as u128 {
            return Err(SpaceError::TooMany(n_all));
        }
        let mut points = Vec::new();
        for index in 0..n_all as usize {
            let point = self.point(index);
            let mut is_kept = true;
            for condition in &self.conditions {
                is_kept &= condition.holds(&point)?;
            }
            if is_kept {
                points.push(point);
            }
        }
        if points.is_empty() { Err(SpaceError::NoPoint) } else { Ok(points) }
    }

    fn point(&self, index: usize) -> SweepPoint {
        let mut rest = index;
        let mut places: Vec<usize> = Vec::with_capacity(self.axes.len());
        for axis in self.axes.iter().rev() {
            places.push(rest % axis.values.len());
            rest /= axis.values.len();
        }
        places.reverse();
        let settings = self
            .axes
            .iter()
            .zip(&places)
            .flat_map(|(axis, place)| axis.options.iter().cloned().zip(axis.values[*place].iter().cloned()));
        SweepPoint { settings: settings.collect(), places }
    }
}

/// A point of a sweep: values of all its options.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SweepPoint {
    /// The options with their values, in the order of the parameters.
    pub settings: Vec<(SweptOption, String)>,
    /// Index of the value of each parameter.
    pub places: Vec<usize>,
}

impl SweepPoint {
    /// Number of hosts that make its runs; `None`: the sweep does not set it.
    ///
    /// # Errors
    /// Its value, which is no number from 1.
    pub fn n_hosts(&self) -> Result<Option<u32>, SpaceError> {
        let found = self.settings.iter().find(|(option, _)| option.is_number_of_hosts());
        found.map(|(_, value)| hosts_of(value)).transpose()
    }

    /// The options of jobs among its settings.
    pub(crate) fn options_of_jobs(&self) -> impl Iterator<Item = &(SweptOption, String)> {
        self.settings.iter().filter(|(option, _)| !option.is_number_of_hosts())
    }

    /// The value of an option by its name, as the sweep writes it; `None`: the sweep does not set it.
    pub fn value_of(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(option, _)| option.to_string() == name).map(|(_, value)| value.as_str())
    }
}

/// A number of hosts.
fn hosts_of(value: &str) -> Result<u32, SpaceError> {
    value.parse().ok().filter(|number| *number > 0).ok_or_else(|| SpaceError::Hosts(value.to_owned()))
}

impl fmt::Display for SweepPoint {
    /// `bs=4k iodepth=8`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (option, value) in &self.settings {
            write!(formatter, "{separator}{option}={value}")?;
            separator = " ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_combinations_are_points() {
        let axes = ["bs:iodepth=4k:8,1m:2", "rw=read,write"].map(|text| SweepAxis::parse(text).expect("an axis"));
        let points = Space::new(axes.to_vec(), &[]).and_then(|space| space.points()).expect("points");
        let texts: Vec<String> = points.iter().map(SweepPoint::to_string).collect();
        assert_eq!(
            texts,
            [
                "bs=4k iodepth=8 rw=read",
                "bs=4k iodepth=8 rw=write",
                "bs=1m iodepth=2 rw=read",
                "bs=1m iodepth=2 rw=write"
            ]
        );
        assert_eq!(points[2].places, [1, 0]);
        assert_eq!(points[2].value_of("iodepth"), Some("2"));
    }

    #[test]
    fn without_parameters_there_is_one_point() {
        let points = Space::new(Vec::new(), &[]).and_then(|space| space.points()).expect("points");
        assert_eq!(points.len(), 1);
        assert!(points[0].settings.is_empty());
    }

    #[test]
    fn too_many_none_and_repeats_are_refused() {
        let axis = |text: &str| SweepAxis::parse(text).expect("an axis");
        let many = Space::new(vec![axis("rate_iops=1..1000+1"), axis("size=1..1000+1")], &[]).expect("a space");
        assert_eq!(many.points(), Err(SpaceError::TooMany(1_000_000)));
        let none = Space::new(vec![axis("bs=4k,8k")], &["bs > 1m".to_owned()]).expect("a space");
        assert_eq!(none.points(), Err(SpaceError::NoPoint));
        let twice = Space::new(vec![axis("bs=4k"), axis("bs:rw=8k:read")], &[]);
        assert_eq!(twice, Err(SpaceError::OptionTwice("bs".to_owned())));
    }
}
