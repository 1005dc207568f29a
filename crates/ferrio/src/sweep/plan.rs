//! The plan of a sweep: its jobs, points and repeats, and the order of its runs.
//!
//! Must not know: how a run is made, where results are. Start reading at [`SweepPlan::new`], then [`SweepPlan::steps`].

use crate::sweep::error::PlanFault;
use crate::sweep::limit::LimitSearch;
use crate::sweep::outcome::SweepOutcome;
use crate::sweep::space::{Space, SweepAxis, SweepPoint};
use crate::sweep::{SweepError, UntilKnown};
use ferrio_spec::RunSpec;
use ferrio_units::random::Taus258;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Form of the plan's file.
pub(super) const FORM: u32 = 1;

pub(super) const MOST_RUNS: usize = 1_000_000;

/// Where the jobs come from: as much as is needed to make the same ones again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobsOfPlan {
    /// Job files and options, as for `ferrio run`.
    pub words: Vec<String>,
    /// The directory in which they are read.
    pub directory: PathBuf,
    /// The options of each job, by which a change of a job file is noticed.
    pub options: Vec<Vec<(String, String)>>,
}

impl JobsOfPlan {
    /// The options of the jobs of a run.
    pub fn options_of(spec: &RunSpec) -> Vec<Vec<(String, String)>> {
        spec.jobs.iter().map(|job| job.given_options.clone()).collect()
    }
}

/// What is done around each run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AroundRuns {
    /// Pause before each run but the first, milliseconds.
    pub rest_ms: u64,
    /// The page cache is dropped before each run.
    pub drops_caches: bool,
    /// Job file that is run once, before all others; its figures do not count.
    pub first: Option<PathBuf>,
    /// Job file that is run before each run; its figures do not count.
    pub before_each: Option<PathBuf>,
}

/// A sweep before its runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SweepPlan {
    form: u32,
    /// The program that made it.
    pub program: String,
    /// Its jobs.
    pub jobs: JobsOfPlan,
    /// Its parameters; without one, the runs are repeats of each other.
    pub axes: Vec<SweepAxis>,
    /// Its points. A search for a limit adds them as it goes on; without one there is at least one.
    pub points: Vec<SweepPoint>,
    /// The limit that is searched for.
    pub limit: Option<LimitSearch>,
    /// Number of runs at each point, at least 1.
    pub n_repeats: u32,
    /// Runs at a point end earlier, after [`crate::sweep::FEWEST_RUNS`], where this figure is known well enough.
    pub until: Option<UntilKnown>,
    /// Seed of the order of the runs; `None`: they follow the order of the points.
    pub order_seed: Option<u64>,
    /// What is done around each run.
    #[serde(rename = "habits")]
    pub around_runs: AroundRuns,
    /// An open loop is run beside the points, which are a closed one, when all of them have been run.
    #[serde(default)]
    pub has_open_loop: bool,
}

/// One run of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweepStep {
    /// Index of the point.
    pub point_index: usize,
    /// Index of the repeat.
    pub repeat_index: u32,
}

impl SweepPlan {
    /// A plan of all points of a space, in the order of the values, with one run each.
    ///
    /// # Errors
    /// The space has no point.
    pub fn new(jobs: JobsOfPlan, space: &Space) -> Result<Self, SweepError> {
        Ok(Self {
            form: FORM,
            program: crate::session::VERSION.to_owned(),
            jobs,
            axes: space.axes().to_vec(),
            points: space.points()?,
            limit: None,
            n_repeats: 1,
            until: None,
            order_seed: None,
            around_runs: AroundRuns::default(),
            has_open_loop: false,
        })
    }

    /// The same plan with so many runs at each point, or until a figure is known.
    ///
    /// # Errors
    /// There are too many runs.
    pub fn with_repeats(self, n_repeats: u32, until: Option<UntilKnown>) -> Result<Self, SweepError> {
        let plan = Self { n_repeats: n_repeats.max(1), until, ..self };
        plan.is_possible().map_err(|fault| SweepError::Plan { path: PathBuf::new(), fault })?;
        Ok(plan)
    }

    /// A search for a limit instead of a run at each point.
    #[must_use]
    pub fn searching(self, limit: LimitSearch) -> Self {
        let axis = SweepAxis { options: vec![limit.option.clone()], values: Vec::new() };
        Self { axes: vec![axis], points: Vec::new(), n_repeats: limit.most_runs, limit: Some(limit), ..self }
    }

    /// The index of the point of a search with this value, which is added where it is new.
    pub(crate) fn point_at(&mut self, value: u64) -> usize {
        let text = value.to_string();
        let is_it = |point: &SweepPoint| point.settings.first().is_some_and(|(_, known)| *known == text);
        if let Some(index) = self.points.iter().position(is_it) {
            return index;
        }
        let settings = self.axes.iter().flat_map(|axis| &axis.options).map(|option| (option.clone(), text.clone()));
        self.points.push(SweepPoint { settings: settings.collect(), places: vec![0] });
        // The values of the parameter in their order, and each point at its own.
        let value_of = |point: &SweepPoint| point.settings.first().and_then(|(_, text)| text.parse::<u64>().ok());
        let mut values: Vec<u64> = self.points.iter().filter_map(value_of).collect();
        values.sort_unstable();
        for point in &mut self.points {
            let value = point.settings.first().and_then(|(_, text)| text.parse::<u64>().ok());
            point.places = vec![value.and_then(|value| values.binary_search(&value).ok()).unwrap_or_default()];
        }
        for axis in &mut self.axes {
            axis.values = values.iter().map(|value| vec![value.to_string()]).collect();
        }
        self.points.len() - 1
    }

    /// The same plan in another order, and with other things done around each run.
    #[must_use]
    pub fn with_around_runs(self, order_seed: Option<u64>, around_runs: AroundRuns) -> Self {
        Self { order_seed, around_runs, ..self }
    }

    /// The same plan with an open loop beside its points.
    #[must_use]
    pub fn with_open_loop(self) -> Self {
        Self { has_open_loop: true, ..self }
    }

    /// True if a parameter says how much load there is, with enough values for a knee.
    pub fn has_load(&self) -> bool {
        self.limit.is_none() && SweepOutcome::empty(self.axes.clone(), 1).load_axis().is_some()
    }

    /// The largest number of hosts that a run wants; `None`: the sweep leaves it to the driver.
    ///
    /// # Errors
    /// A number of hosts is none.
    pub fn most_hosts(&self) -> Result<Option<u64>, SweepError> {
        let searched = self.limit.as_ref().filter(|limit| limit.option.is_number_of_hosts()).map(|limit| limit.ends.1);
        let numbers = self.points.iter().map(SweepPoint::n_hosts).collect::<Result<Vec<_>, _>>()?;
        Ok(numbers.into_iter().flatten().map(u64::from).chain(searched).max())
    }

    /// A plan from its file.
    pub(crate) fn decode(text: &str) -> Result<Self, PlanFault> {
        let plan: Self = serde_json::from_str(text)?;
        if plan.form != FORM {
            return Err(PlanFault::Form { found: plan.form });
        }
        plan.is_possible().map(|()| plan)
    }

    pub(crate) fn encode(&self) -> String {
        // Its keys are texts, so that JSON has all of it; a path that is no UTF-8 was refused.
        serde_json::to_string_pretty(self).map(|text| format!("{text}\n")).unwrap_or_default()
    }

    fn is_possible(&self) -> Result<(), PlanFault> {
        let n_options: usize = self.axes.iter().map(|axis| axis.options.len()).sum();
        let fits = |point: &SweepPoint| {
            let places = point.places.iter().zip(&self.axes);
            point.places.len() == self.axes.len()
                && point.settings.len() == n_options
                && places.into_iter().all(|(place, axis)| *place < axis.values.len())
        };
        if (self.points.is_empty() && self.limit.is_none()) || self.n_repeats == 0 {
            return Err(PlanFault::NoRuns);
        }
        if !self.points.iter().all(fits) {
            return Err(PlanFault::Point);
        }
        let n_runs = self.points.len().saturating_mul(self.n_repeats as usize);
        if n_runs > MOST_RUNS {
            return Err(PlanFault::TooManyRuns { n_runs });
        }
        Ok(())
    }

    /// Number of runs.
    pub fn n_runs(&self) -> usize {
        self.points.len() * self.n_repeats as usize
    }

    /// The runs in their order: each point once, then each point once more, and so on, each time in another order, so that a device that gets slower
    /// with time makes all points slower and not the last ones.
    pub fn steps(&self) -> Vec<SweepStep> {
        let mut steps = Vec::with_capacity(self.n_runs());
        let mut random = self.order_seed.map(Taus258::new);
        for repeat_index in 0..self.n_repeats {
            let mut round: Vec<usize> = (0..self.points.len()).collect();
            if let Some(random) = &mut random {
                for last in (1..round.len()).rev() {
                    round.swap(last, random.below(last as u64 + 1) as usize);
                }
            }
            steps.extend(round.into_iter().map(|point_index| SweepStep { point_index, repeat_index }));
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(n_repeats: u32, order_seed: Option<u64>) -> SweepPlan {
        let axes = ["bs=4k,8k,16k,32k", "iodepth=1..8"].map(|text| SweepAxis::parse(text).expect("an axis"));
        let space = Space::new(axes.to_vec(), &[]).expect("a space");
        let plan = SweepPlan::new(JobsOfPlan::default(), &space).and_then(|plan| plan.with_repeats(n_repeats, None));
        SweepPlan { order_seed, ..plan.expect("a plan") }
    }

    #[test]
    fn each_round_has_each_point_once_in_an_order_of_its_own() {
        let in_order: Vec<usize> = plan(1, None).steps().iter().map(|step| step.point_index).collect();
        assert_eq!(in_order, (0..16).collect::<Vec<_>>());
        let plan = plan(3, Some(7));
        let steps = plan.steps();
        assert_eq!((steps.len(), plan.n_runs()), (48, 48));
        let rounds: Vec<Vec<usize>> =
            steps.chunks(16).map(|round| round.iter().map(|step| step.point_index).collect()).collect();
        for (round, index) in rounds.iter().zip(0..) {
            assert!(steps[16 * index as usize..][..16].iter().all(|step| step.repeat_index == index));
            let mut sorted = round.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..16).collect::<Vec<_>>());
        }
        assert_ne!(rounds[0], rounds[1]);
        assert_ne!(rounds[0], (0..16).collect::<Vec<_>>());
        assert_eq!(steps, plan.steps());
    }

    #[test]
    fn a_search_adds_points_in_the_order_of_their_values() {
        let axis = SweepAxis::parse("rate_iops=10..1000").expect("an axis");
        let limit = LimitSearch::new(Vec::new(), &axis, 0.05, 4).expect("a search");
        let mut plan = plan(1, None).searching(limit);
        assert_eq!([1000, 10, 100, 10].map(|value| plan.point_at(value)), [0, 1, 2, 1]);
        let places: Vec<usize> = plan.points.iter().flat_map(|point| point.places.clone()).collect();
        assert_eq!(
            (places, plan.axes[0].values.concat()),
            (vec![2, 0, 1], ["10", "100", "1000"].map(str::to_owned).to_vec())
        );
        assert_eq!(SweepPlan::decode(&plan.encode()).expect("a plan"), plan);
    }

    #[test]
    fn a_plan_is_read_as_it_was_written() {
        let plan = plan(2, Some(1));
        assert_eq!(SweepPlan::decode(&plan.encode()).expect("a plan"), plan);
        for (from, to, reason) in [
            ("\"form\": 1", "\"form\": 9", "its form is 9"),
            ("\"n_repeats\": 2", "\"n_repeats\": 0", "no runs"),
            ("\"n_repeats\": 2", "\"n_repeats\": 4000000000", "at most 1000000"),
            ("\"n_repeats\": 2", "\"n_repeats\": -2", "invalid value"),
            ("\"places\": [\n        0,", "\"places\": [\n        9,", "does not fit"),
        ] {
            let text = plan.encode().replacen(from, to, 1);
            assert_ne!(text, plan.encode(), "{from}");
            let error = SweepPlan::decode(&text).expect_err(to);
            assert!(error.to_string().contains(reason), "{error}");
        }
    }
}
