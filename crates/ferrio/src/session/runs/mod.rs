//! Many runs of one kind: the one loop in which they are made, and what is done around each of them.
//!
//! A sweep, a search, a fit, a profile, preconditioning are sources of runs ([`RunSource`]): each says what to run next, and judges the
//! outcome. Must not know: kinds of runs, terminals, signals. Start reading at [`Runs::all`].

pub mod folder;

use crate::session::{Session, SessionOutcome};
use ferrio_run::RunError;
use ferrio_spec::RunSpec;
use ferrio_sys::file_cache;
use std::io;
use std::time::Duration;

/// A kind of many runs: a source of runs, and a judge of their outcomes.
pub trait RunSource {
    /// Reasons for which no further run can be made.
    type Error: From<RunsError>;

    /// The run that comes next, after `n_made` runs in this process; `None`: nothing is left to run.
    fn next(&mut self, n_made: u64) -> Result<Option<NextRun>, Self::Error>;

    /// Takes the outcome of the run that came last. A run that was stopped has none.
    ///
    /// # Errors
    /// The outcome cannot be kept, or its failures end the work.
    fn take(&mut self, outcome: SessionOutcome) -> Result<(), Self::Error>;
}

/// The user's side of the runs: starts each one, shows the progress, and may end them all.
pub trait RunDriver {
    /// Called before each run.
    fn begin(&mut self, notice: &RunNotice);

    /// Prepares a session and runs it. `n_hosts`: on so many hosts of a fleet, the first ones; `None`: wherever the driver makes its runs.
    fn run(&mut self, session: Session, n_hosts: Option<u32>) -> Result<SessionOutcome, RunError>;

    /// Waits for so long, or until the runs are to end.
    fn rest(&mut self, rest: Duration) {
        std::thread::sleep(rest);
    }

    /// True if no further run is to begin, and the one that was under way does not count.
    fn is_stopped(&self) -> bool;

    /// True if another run would end after the time that all of them may take.
    fn is_out_of_time(&self) -> bool {
        false
    }
}

/// A run that is to be made.
#[derive(Debug)]
pub struct NextRun {
    /// Its jobs.
    pub jobs: RunSpec,
    /// Its name, and how far the work is.
    pub notice: RunNotice,
    /// Number of hosts of a fleet, of which the first ones make the run; `None`: it is left to the driver.
    pub n_hosts: Option<u32>,
    /// Nothing is opened for writing, whatever the jobs say.
    pub is_readonly: bool,
    /// Words of the user's command, for the record.
    pub words: Vec<String>,
}

impl NextRun {
    /// A run of these jobs that may write.
    pub fn new(jobs: RunSpec, notice: RunNotice) -> Self {
        Self { jobs, notice, n_hosts: None, is_readonly: false, words: Vec::new() }
    }
}

/// What a user is told before a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunNotice {
    /// The run, or the part of the work that it belongs to.
    pub name: String,
    /// Number of that part, from 1.
    pub number: usize,
    /// How much of the work, or of its part, was done before the run.
    pub done: u64,
    /// All of it, as far as it is known.
    pub whole: u64,
    /// Unit of both.
    pub unit: WorkUnit,
}

/// Unit in which progress is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkUnit {
    /// Runs that take different times.
    Runs,
    /// Runs that take about the same time, so that the time left can be told.
    EqualRuns,
    /// Bytes that are moved.
    Bytes,
}

/// What is done around each run.
#[derive(Debug, Default)]
pub struct BetweenRuns {
    /// Pause before each run but the first.
    pub rest: Duration,
    /// The page cache is dropped before each run.
    pub drops_caches: bool,
    /// Jobs that run before each run, whose figures do not count.
    pub before_each: Option<RunSpec>,
}

/// Reasons for which the runs have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsEnding {
    /// All of them were made.
    All,
    /// The driver has ended them.
    Stopped,
    /// The time that they may take is over.
    OutOfTime,
}

/// A run cannot be made, whatever its kind.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
    /// A run cannot be started or supervised.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The jobs that prepare a run have failed.
    #[error("{0} of the jobs that prepare the runs have failed")]
    Beside(u32),
    /// The page cache cannot be dropped.
    #[error("the page cache cannot be dropped: {}", ferrio_units::error_text(.0))]
    Caches(#[source] io::Error),
}

/// The loop in which runs are made.
pub struct Runs<'a> {
    driver: &'a mut dyn RunDriver,
    between: BetweenRuns,
    n_made: u64,
}

impl<'a> Runs<'a> {
    /// Runs with nothing between them.
    pub fn new(driver: &'a mut dyn RunDriver) -> Self {
        Self::with_between(driver, BetweenRuns::default())
    }

    /// Runs with this done around each of them.
    pub fn with_between(driver: &'a mut dyn RunDriver, between: BetweenRuns) -> Self {
        Self { driver, between, n_made: 0 }
    }

    /// Makes the runs of a source until it has no more, or the driver ends them.
    ///
    /// # Errors
    /// A run cannot be made, or the source refuses its outcome.
    pub fn all<S: RunSource>(&mut self, source: &mut S) -> Result<RunsEnding, S::Error> {
        while let Some(next) = source.next(self.n_made)? {
            if self.n_made > 0 && !self.between.rest.is_zero() {
                self.driver.rest(self.between.rest);
            }
            if self.driver.is_stopped() {
                return Ok(RunsEnding::Stopped);
            }
            if self.driver.is_out_of_time() {
                return Ok(RunsEnding::OutOfTime);
            }
            let outcome = self.one(next)?;
            if self.driver.is_stopped() || outcome.run.is_stopped {
                return Ok(RunsEnding::Stopped);
            }
            self.n_made += 1;
            source.take(outcome)?;
        }
        Ok(RunsEnding::All)
    }

    /// True if another run would end after the time that all of them may take.
    pub fn is_out_of_time(&self) -> bool {
        self.driver.is_out_of_time()
    }

    fn one(&mut self, next: NextRun) -> Result<SessionOutcome, RunsError> {
        self.driver.begin(&next.notice);
        if let Some(before) = self.between.before_each.clone() {
            self.prepare(before, next.n_hosts)?;
        }
        if self.between.drops_caches {
            file_cache::drop_all().map_err(RunsError::Caches)?;
        }
        let mut session = Session::native(next.jobs)?;
        session.settings.readonly = next.is_readonly;
        session.settings.command_line = next.words;
        Ok(self.driver.run(session, next.n_hosts)?)
    }

    /// Runs jobs whose figures do not count.
    ///
    /// # Errors
    /// The run cannot be started, or a job of it fails.
    pub fn beside(&mut self, jobs: RunSpec) -> Result<(), RunsError> {
        self.prepare(jobs, None)
    }

    fn prepare(&mut self, jobs: RunSpec, n_hosts: Option<u32>) -> Result<(), RunsError> {
        let mut session = Session::native(jobs)?;
        session.is_audited = false;
        let outcome = self.driver.run(session, n_hosts)?;
        if outcome.run.n_failed > 0 && !outcome.run.is_stopped {
            Err(RunsError::Beside(outcome.run.n_failed))
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_spec::JobSpec;

    /// Three runs without I/O.
    struct Three {
        n_taken: usize,
    }

    impl RunSource for Three {
        type Error = RunsError;

        fn next(&mut self, n_made: u64) -> Result<Option<NextRun>, RunsError> {
            let notice = RunNotice {
                name: format!("run {n_made}"),
                number: n_made as usize + 1,
                done: n_made,
                whole: 3,
                unit: WorkUnit::EqualRuns,
            };
            let jobs = RunSpec { jobs: vec![JobSpec::default()], ..RunSpec::default() };
            Ok((self.n_taken < 3).then(|| NextRun { is_readonly: true, ..NextRun::new(jobs, notice) }))
        }

        fn take(&mut self, _: SessionOutcome) -> Result<(), RunsError> {
            self.n_taken += 1;
            Ok(())
        }
    }

    /// Notes what happens, and ends it.
    struct Notes {
        lines: Vec<String>,
        stops_after: usize,
        is_short_of_time: bool,
    }

    impl RunDriver for Notes {
        fn begin(&mut self, notice: &RunNotice) {
            self.lines.push(notice.name.clone());
        }

        fn run(&mut self, session: Session, _: Option<u32>) -> Result<SessionOutcome, RunError> {
            let settings = &session.settings;
            assert!(settings.keeps_series && settings.control.looks_into_files);
            let what = if session.is_audited { "runs" } else { "prepares" };
            self.lines.push(format!("{what} {}", if settings.readonly { "reading" } else { "writing" }));
            let record = ferrio_stats::RunRecord::default();
            let run = ferrio_run::RunOutcome { record, n_failed: 0, is_stopped: false, n_logs_lost: 0 };
            Ok(SessionOutcome { run, not_remembered: None })
        }

        fn rest(&mut self, rest: Duration) {
            self.lines.push(format!("rests {} ms", rest.as_millis()));
        }

        fn is_stopped(&self) -> bool {
            self.lines.iter().filter(|line| line.starts_with("runs")).count() >= self.stops_after
        }

        fn is_out_of_time(&self) -> bool {
            self.is_short_of_time && self.lines.len() > 1
        }
    }

    fn made(stops_after: usize, is_short_of_time: bool, between: BetweenRuns) -> (RunsEnding, usize, Vec<String>) {
        let mut notes = Notes { lines: Vec::new(), stops_after, is_short_of_time };
        let mut source = Three { n_taken: 0 };
        let ending = Runs::with_between(&mut notes, between).all(&mut source).expect("runs");
        (ending, source.n_taken, notes.lines)
    }

    #[test]
    fn rests_stand_between_runs_and_preparations_before_each() {
        let before_each = Some(RunSpec::default());
        let between = BetweenRuns { rest: Duration::from_millis(5), before_each, drops_caches: false };
        let (ending, n_taken, lines) = made(9, false, between);
        assert_eq!((ending, n_taken), (RunsEnding::All, 3));
        let of_one = ["prepares writing", "runs reading"];
        let expected: Vec<&str> =
            [&["run 0"][..], &of_one, &["rests 5 ms", "run 1"], &of_one, &["rests 5 ms", "run 2"], &of_one].concat();
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_run_that_is_stopped_does_not_count() {
        assert_eq!(made(2, false, BetweenRuns::default()).1, 1);
        assert_eq!(made(2, false, BetweenRuns::default()).0, RunsEnding::Stopped);
        let (ending, n_taken, _) = made(9, true, BetweenRuns::default());
        assert_eq!((ending, n_taken), (RunsEnding::OutOfTime, 1));
    }
}
