//! The runs of a sweep as a source: which one is missing next, and where its record goes.
//!
//! Must not know: terminals, signals, what is done around a run. Start reading at [`OpenSweep::make`].

use crate::session::SessionOutcome;
use crate::session::runs::{BetweenRuns, NextRun, RunDriver, RunNotice, RunSource, Runs, RunsEnding, WorkUnit};
use crate::sweep::limit::{LimitSearch, LimitVerdict, RUNS_AGAIN};
use crate::sweep::session::repeat_at;
use crate::sweep::{FEWEST_RUNS, OpenSweep, SweepError, SweepStep};
use ferrio_formats::{RunResult, of_record};
use ferrio_job::{Environment, Template};
use ferrio_spec::RunSpec;
use std::time::Duration;
use std::vec;

/// The jobs of a sweep, and what is run beside them.
pub struct SweptJobs<'a> {
    /// The jobs, on which the options of the points are set.
    pub template: Template,
    /// Jobs that run once, before all others.
    pub first: Option<RunSpec>,
    /// Jobs that run before each run.
    pub before_each: Option<RunSpec>,
    /// Variables and files that options may name.
    pub environment: &'a dyn Environment,
}

impl OpenSweep {
    /// Makes the runs that are missing: those of all points, or those that a search for a limit needs.
    ///
    /// # Errors
    /// A run cannot be started, or its record cannot be kept.
    pub fn make(&mut self, jobs: &SweptJobs<'_>, driver: &mut dyn RunDriver) -> Result<RunsEnding, SweepError> {
        let habits = &self.folder.plan.around_runs;
        let between = BetweenRuns {
            rest: Duration::from_millis(habits.rest_ms),
            drops_caches: habits.drops_caches,
            before_each: jobs.before_each.clone(),
        };
        let mut runs = Runs::with_between(driver, between);
        let limit = self.folder.plan.limit.clone();
        let missing = self.folder.missing();
        let is_new = match &limit {
            Some(_) => self.folder.plan.points.is_empty(),
            None => missing.len() == self.folder.plan.n_runs(),
        };
        if let Some(first) = jobs.first.clone().filter(|_| is_new) {
            runs.beside(first)?;
        }
        if let Some(limit) = limit {
            return runs.all(&mut LimitRuns::new(self, jobs, limit));
        }
        let n_passed = self.folder.plan.n_runs() - missing.len();
        runs.all(&mut PointRuns { open: self, jobs, missing: missing.into_iter(), n_passed, step: None })
    }

    /// A run of a sweep, before which `n_made` of `n_all` runs were made.
    fn next_run(
        &self,
        step: SweepStep,
        (n_made, n_all): (usize, usize),
        unit: WorkUnit,
        jobs: &SweptJobs<'_>,
    ) -> Result<NextRun, SweepError> {
        let plan = &self.folder.plan;
        let point = &plan.points[step.point_index];
        let mut name = point.to_string();
        if plan.n_repeats > 1 {
            name = format!("{name} (run {})", step.repeat_index + 1);
        }
        let notice = RunNotice { name, number: n_made + 1, done: n_made as u64, whole: n_all as u64, unit };
        let spec = repeat_at(&jobs.template, point, step.repeat_index, jobs.environment)?;
        let words = std::iter::once("ferrio".to_owned()).chain(plan.jobs.words.clone()).collect();
        Ok(NextRun { words, n_hosts: point.n_hosts()?, ..NextRun::new(spec, notice) })
    }
}

struct PointRuns<'a> {
    open: &'a OpenSweep,
    jobs: &'a SweptJobs<'a>,
    missing: vec::IntoIter<SweepStep>,
    /// Number of runs that were made before, or are not needed any more.
    n_passed: usize,
    /// The run that is being made.
    step: Option<SweepStep>,
}

impl RunSource for PointRuns<'_> {
    type Error = SweepError;

    fn next(&mut self, _: u64) -> Result<Option<NextRun>, SweepError> {
        let folder = &self.open.folder;
        loop {
            self.step = self.missing.next();
            let Some(step) = self.step else { return Ok(None) };
            let n_passed = self.n_passed;
            self.n_passed += 1;
            if step.repeat_index < FEWEST_RUNS || !folder.is_decided(step.point_index) {
                let counts = (n_passed, folder.plan.n_runs());
                return self.open.next_run(step, counts, WorkUnit::EqualRuns, self.jobs).map(Some);
            }
        }
    }

    fn take(&mut self, outcome: SessionOutcome) -> Result<(), SweepError> {
        self.step.map_or(Ok(()), |step| self.open.keep(step, &outcome.run.record))
    }
}

/// The runs that a search for a limit needs.
struct LimitRuns<'a> {
    open: &'a mut OpenSweep,
    jobs: &'a SweptJobs<'a>,
    limit: LimitSearch,
    stage: LimitStage,
    /// The run that is being made.
    step: Option<SweepStep>,
}

/// What the next run of a search is for.
enum LimitStage {
    /// Records that were lost are made again.
    Lost(vec::IntoIter<SweepStep>),
    /// Runs until further ones do not change the answer: the results by value, ascending, and the place of the value that is run.
    Bracket(Vec<(u64, Vec<RunResult>)>, usize),
    /// The lower end of the answer is measured again. Each value is tried at one time of the search, so that a device that changes meanwhile
    /// (credit for bursts, a cache) would make an answer out of two devices.
    Again { point_index: usize, results: Vec<RunResult> },
    /// All runs are made.
    Over,
}

impl<'a> LimitRuns<'a> {
    fn new(open: &'a mut OpenSweep, jobs: &'a SweptJobs<'a>, limit: LimitSearch) -> Self {
        let stage = LimitStage::Lost(open.folder.lost().into_iter());
        Self { open, jobs, limit, stage, step: None }
    }

    fn next_step(&mut self) -> Result<Option<SweepStep>, SweepError> {
        loop {
            match &mut self.stage {
                LimitStage::Lost(steps) => match steps.next() {
                    Some(step) => return Ok(Some(step)),
                    None => self.stage = LimitStage::Bracket(values_tried(self.open)?, 0),
                },
                LimitStage::Bracket(values, place) => {
                    let state = self.limit.state(values);
                    let Some(next) = state.next else {
                        self.stage = self.after_bracket(state.bracket.within)?;
                        continue;
                    };
                    let point_index = self.open.point_at(next)?;
                    *place = values.binary_search_by_key(&next, |(value, _)| *value).unwrap_or_else(|at| {
                        values.insert(at, (next, Vec::new()));
                        at
                    });
                    return Ok(Some(SweepStep { point_index, repeat_index: values[*place].1.len() as u32 }));
                }
                LimitStage::Again { point_index, results } => {
                    let is_open = results.is_empty() || self.limit.judge_again(results) == LimitVerdict::Undecided;
                    if results.len() < RUNS_AGAIN as usize && is_open {
                        let repeat_index = self.limit.most_runs + results.len() as u32;
                        return Ok(Some(SweepStep { point_index: *point_index, repeat_index }));
                    }
                    self.stage = LimitStage::Over;
                }
                LimitStage::Over => return Ok(None),
            }
        }
    }

    /// The stage behind the search, whose answer has this lower end.
    fn after_bracket(&mut self, within: Option<u64>) -> Result<LimitStage, SweepError> {
        let Some(within) = within else { return Ok(LimitStage::Over) };
        let point_index = self.open.point_at(within)?;
        // Nothing was measured since.
        if point_index + 1 == self.open.folder.plan.points.len() {
            return Ok(LimitStage::Over);
        }
        let records = self.open.folder.records_again(point_index).collect::<Result<Vec<_>, _>>()?;
        Ok(LimitStage::Again { point_index, results: records.iter().map(of_record).collect() })
    }
}

impl RunSource for LimitRuns<'_> {
    type Error = SweepError;

    fn next(&mut self, n_made: u64) -> Result<Option<NextRun>, SweepError> {
        self.step = self.next_step()?;
        let counts = (n_made as usize, n_made as usize + 1);
        self.step.map(|step| self.open.next_run(step, counts, WorkUnit::Runs, self.jobs)).transpose()
    }

    fn take(&mut self, outcome: SessionOutcome) -> Result<(), SweepError> {
        let Some(step) = self.step else { return Ok(()) };
        self.open.keep(step, &outcome.run.record)?;
        match &mut self.stage {
            LimitStage::Bracket(values, place) => values[*place].1.push(of_record(&outcome.run.record)),
            LimitStage::Again { results, .. } => results.push(of_record(&outcome.run.record)),
            LimitStage::Lost(_) | LimitStage::Over => {}
        }
        Ok(())
    }
}

/// The values of a search that have runs, ascending.
fn values_tried(open: &OpenSweep) -> Result<Vec<(u64, Vec<RunResult>)>, SweepError> {
    let mut values = Vec::new();
    for (point_index, point) in open.folder.plan.points.iter().enumerate() {
        let Some(value) = point.settings.first().and_then(|(_, value)| value.parse().ok()) else { continue };
        let records = open.folder.records(point_index).collect::<Result<Vec<_>, _>>()?;
        if !records.is_empty() {
            values.push((value, records.iter().map(of_record).collect()));
        }
    }
    values.sort_by_key(|(value, _)| *value);
    Ok(values)
}
