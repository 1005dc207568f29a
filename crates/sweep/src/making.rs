//! Makes the runs of a sweep that are missing, one after the other, and keeps each record.
//!
//! Must not know: terminals, signals. Start reading at [`OpenSweep::make`].

use crate::limit::{Bracket, LimitSearch, LimitVerdict, RUNS_AGAIN};
use crate::session::repeat_at;
use crate::space::SweepPoint;
use crate::{FEWEST_RUNS, OpenSweep, SweepError, SweepStep};
use ferrio_job::{Environment, Template};
use ferrio_results::{RunResult, of_record};
use ferrio_run::RunError;
use ferrio_session::{Session, SessionOutcome};
use ferrio_spec::{Compatibility, RunSpec};
use ferrio_sys::file_cache;
use std::time::Duration;

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

/// What conducts the runs: starts each one, and may end them all.
pub trait Conductor {
    /// A run at this point is to begin: so many of all runs have been made.
    fn next(&mut self, point: &SweepPoint, step: SweepStep, n_made: usize, n_all: usize);

    /// True if a run has begun before.
    fn has_made_one(&self) -> bool;

    /// Prepares a session and runs it.
    ///
    /// # Errors
    /// The run cannot be started or supervised.
    fn run(&mut self, session: Session) -> Result<SessionOutcome, RunError>;

    /// Waits for so long, or until the runs are to end.
    fn rest(&mut self, rest: Duration);

    /// True if no further run is to begin, and the one that was under way does not count.
    fn is_stopped(&self) -> bool;

    /// True if another run would end after the time that all of them may take.
    fn is_out_of_time(&self) -> bool {
        false
    }
}

/// Why the runs have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepEnding {
    /// All of them were made.
    All,
    /// The conductor has ended them.
    Stopped,
    /// The time that they may take is over.
    OutOfTime,
}

/// Why a search has no answer, or not the one that it would have in the end.
enum SearchEnding {
    /// The runs have ended before.
    Early(SweepEnding),
    Failed(SweepError),
}

impl From<SweepError> for SearchEnding {
    fn from(error: SweepError) -> Self {
        Self::Failed(error)
    }
}

impl OpenSweep {
    /// Makes the runs that are missing.
    ///
    /// # Errors
    /// A run cannot be started, or its record cannot be kept.
    pub fn make(&self, jobs: &SweptJobs<'_>, conductor: &mut dyn Conductor) -> Result<SweepEnding, SweepError> {
        let (missing, n_all) = (self.folder.missing(), self.folder.plan.n_runs());
        if let Some(first) = jobs.first.as_ref().filter(|_| missing.len() == n_all) {
            beside(first, conductor)?;
        }
        let n_before = n_all - missing.len();
        for (index, step) in missing.iter().enumerate() {
            if step.repeat_index >= FEWEST_RUNS && self.folder.is_decided(step.point_index) {
                continue;
            }
            let ending = self.make_one(*step, (n_before + index, n_all), jobs, conductor)?;
            if ending != SweepEnding::All {
                return Ok(ending);
            }
        }
        Ok(SweepEnding::All)
    }

    /// Makes the runs that a search for a limit needs.
    ///
    /// # Errors
    /// As of [`Self::make`].
    pub fn find_limit(
        &mut self,
        jobs: &SweptJobs<'_>,
        conductor: &mut dyn Conductor,
    ) -> Result<SweepEnding, SweepError> {
        let Some(limit) = self.folder.plan.limit.clone() else { return Ok(SweepEnding::All) };
        if let Some(first) = jobs.first.as_ref().filter(|_| self.folder.plan.points.is_empty()) {
            beside(first, conductor)?;
        }
        let mut n_made = 0;
        for step in self.folder.lost() {
            let ending = self.make_one(step, (n_made, n_made + 1), jobs, conductor)?;
            if ending != SweepEnding::All {
                return Ok(ending);
            }
            n_made += 1;
        }
        let found = self.certain_bracket(&limit, &mut n_made, jobs, conductor);
        let again = |within| self.measure_again(within, &limit, n_made, jobs, conductor);
        match found.and_then(|bracket| bracket.within.map_or(Ok(()), again)) {
            Ok(()) => Ok(SweepEnding::All),
            Err(SearchEnding::Early(ending)) => Ok(ending),
            Err(SearchEnding::Failed(error)) => Err(error),
        }
    }

    /// Makes runs until further ones do not change the answer.
    fn certain_bracket(
        &mut self,
        limit: &LimitSearch,
        n_made: &mut usize,
        jobs: &SweptJobs<'_>,
        conductor: &mut dyn Conductor,
    ) -> Result<Bracket, SearchEnding> {
        let mut values = self.values_tried()?;
        loop {
            let state = limit.state(&values);
            let Some(next) = state.next else { return Ok(state.bracket) };
            let point_index = self.point_at(next)?;
            let at = values.binary_search_by_key(&next, |(value, _)| *value).unwrap_or_else(|at| {
                values.insert(at, (next, Vec::new()));
                at
            });
            let step = SweepStep { point_index, repeat_index: values[at].1.len() as u32 };
            let ending = self.make_one(step, (*n_made, *n_made + 1), jobs, conductor)?;
            if ending != SweepEnding::All {
                return Err(SearchEnding::Early(ending));
            }
            *n_made += 1;
            values[at].1.extend(self.folder.record(step)?.iter().map(of_record));
        }
    }

    /// The values of a search that have runs, ascending.
    fn values_tried(&self) -> Result<Vec<(u64, Vec<RunResult>)>, SweepError> {
        let mut values = Vec::new();
        for (point_index, point) in self.folder.plan.points.iter().enumerate() {
            let Some(value) = point.settings.first().and_then(|(_, value)| value.parse().ok()) else { continue };
            let records = self.folder.records(point_index).collect::<Result<Vec<_>, _>>()?;
            if !records.is_empty() {
                values.push((value, records.iter().map(of_record).collect()));
            }
        }
        values.sort_by_key(|(value, _)| *value);
        Ok(values)
    }

    /// Measures the lower end of the answer again. Each value is tried at one time of the search, so that a device that changes meanwhile (credit for bursts, a cache)
    /// would make an answer out of two devices.
    fn measure_again(
        &mut self,
        within: u64,
        limit: &LimitSearch,
        n_made: usize,
        jobs: &SweptJobs<'_>,
        conductor: &mut dyn Conductor,
    ) -> Result<(), SearchEnding> {
        let point_index = self.point_at(within)?;
        // Nothing was measured since.
        if point_index + 1 == self.folder.plan.points.len() {
            return Ok(());
        }
        let records = self.folder.records_again(point_index).collect::<Result<Vec<_>, _>>()?;
        let mut results: Vec<RunResult> = records.iter().map(of_record).collect();
        while results.len() < RUNS_AGAIN as usize
            && (results.is_empty() || limit.judge_again(&results) == LimitVerdict::Undecided)
        {
            let repeat_index = limit.most_runs + results.len() as u32;
            let (step, n_made) = (SweepStep { point_index, repeat_index }, n_made + results.len());
            let ending = self.make_one(step, (n_made, n_made + 1), jobs, conductor)?;
            if ending != SweepEnding::All {
                return Err(SearchEnding::Early(ending));
            }
            results.extend(self.folder.record(step)?.iter().map(of_record));
        }
        Ok(())
    }

    /// Makes one run, and keeps its record. `counts`: the number of runs before it, and of all that are known of.
    fn make_one(
        &self,
        step: SweepStep,
        (n_made, n_all): (usize, usize),
        jobs: &SweptJobs<'_>,
        conductor: &mut dyn Conductor,
    ) -> Result<SweepEnding, SweepError> {
        let habits = &self.folder.plan.habits;
        if conductor.has_made_one() && habits.rest_ms > 0 {
            conductor.rest(Duration::from_millis(habits.rest_ms));
        }
        if conductor.is_stopped() {
            return Ok(SweepEnding::Stopped);
        }
        if conductor.is_out_of_time() {
            return Ok(SweepEnding::OutOfTime);
        }
        let point = &self.folder.plan.points[step.point_index];
        conductor.next(point, step, n_made, n_all);
        if let Some(before) = &jobs.before_each {
            beside(before, conductor)?;
        }
        if habits.drops_caches {
            file_cache::drop_all().map_err(SweepError::Caches)?;
        }
        let spec = repeat_at(&jobs.template, point, step.repeat_index, jobs.environment)?;
        let outcome = conductor.run(self.session(spec)?)?;
        if conductor.is_stopped() || outcome.is_stopped {
            return Ok(SweepEnding::Stopped);
        }
        self.keep(step, &outcome.record)?;
        Ok(SweepEnding::All)
    }

    /// The session of a run: native, with evidence from the files and with the course of each job.
    fn session(&self, spec: RunSpec) -> Result<Session, SweepError> {
        let mut session = Session::new(spec)?;
        session.settings.command_line =
            std::iter::once("ferrio".to_owned()).chain(self.folder.plan.jobs.words.clone()).collect();
        session.settings.control.looks_into_files = true;
        session.settings.keeps_series = true;
        Ok(session)
    }
}

/// A run whose figures do not count.
fn beside(spec: &RunSpec, conductor: &mut dyn Conductor) -> Result<(), SweepError> {
    let mut session = Session::new(RunSpec { compatibility: Compatibility::Native, ..spec.clone() })?;
    session.is_audited = false;
    let outcome = conductor.run(session)?;
    if outcome.n_failed > 0 && !outcome.is_stopped { Err(SweepError::Beside(outcome.n_failed)) } else { Ok(()) }
}
