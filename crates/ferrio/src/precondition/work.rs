//! The work as a source of runs: passes over the target, then rounds of the load until they are steady.
//!
//! Must not know: terminals, signals, how a run is made. Start reading at [`OpenPrecondition::work`].

use crate::precondition::filling::{FillPart, next_part};
use crate::precondition::folder::PreconditionRound;
use crate::precondition::{OpenPrecondition, PreconditionError, PreconditionWay, jobs};
use crate::session::SessionOutcome;
use crate::session::runs::{NextRun, RunDriver, RunNotice, RunSource, Runs, RunsEnding, WorkUnit};
use ferrio_formats::{RunResult, of_record};
use ferrio_job::Environment;

/// Why the work has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreconditionEnding {
    /// The rounds are steady.
    Steady,
    /// All rounds were made, and they are not steady.
    NotSteady,
    /// The passes are done, and no rounds were wanted.
    Passed,
    /// The driver has ended it.
    Stopped,
}

impl OpenPrecondition {
    /// Does what is left.
    ///
    /// # Errors
    /// A run cannot be made, a job fails, or the progress cannot be written.
    pub fn work(
        &mut self,
        environment: &dyn Environment,
        driver: &mut dyn RunDriver,
    ) -> Result<PreconditionEnding, PreconditionError> {
        self.plan.check(environment)?;
        let ending = Runs::new(driver).all(&mut PreconditionRuns { open: self, environment, step: None })?;
        Ok(match ending {
            RunsEnding::Stopped | RunsEnding::OutOfTime => PreconditionEnding::Stopped,
            RunsEnding::All if self.plan.most_rounds == 0 => PreconditionEnding::Passed,
            RunsEnding::All if self.progress.steady().is_some() => PreconditionEnding::Steady,
            RunsEnding::All => PreconditionEnding::NotSteady,
        })
    }
}

#[derive(Clone, Copy)]
enum PreconditionStep {
    /// A part of a pass.
    Part(FillPart),
    /// A round of this number, from 1.
    Round(u32),
}

struct PreconditionRuns<'a> {
    open: &'a mut OpenPrecondition,
    environment: &'a dyn Environment,
    step: Option<PreconditionStep>,
}

impl PreconditionRuns<'_> {
    fn next_step(&self) -> Option<PreconditionStep> {
        let (plan, progress) = (&self.open.plan, &self.open.progress);
        if let Some(part) = next_part(plan.target.bytes, plan.n_passes, progress.pass_bytes) {
            return Some(PreconditionStep::Part(part));
        }
        let number = progress.rounds.len() as u32 + 1;
        let is_wanted = self.since_pause(number) <= plan.most_rounds && progress.steady().is_none();
        is_wanted.then_some(PreconditionStep::Round(number))
    }

    /// Number of a round since the work began or went on, from 1.
    fn since_pause(&self, number: u32) -> u32 {
        number - self.open.progress.n_before as u32
    }

    fn notice(&self, step: PreconditionStep) -> RunNotice {
        let plan = &self.open.plan;
        match step {
            PreconditionStep::Part(part) => {
                let number = (self.open.progress.pass_bytes / plan.target.bytes) as usize + 1;
                RunNotice {
                    name: format!("pass {number} of {}", plan.n_passes),
                    number,
                    done: part.offset,
                    whole: plan.target.bytes,
                    unit: WorkUnit::Bytes,
                }
            }
            PreconditionStep::Round(number) => {
                let number = self.since_pause(number);
                RunNotice {
                    name: format!("round {number}, at most {}", plan.most_rounds),
                    number: (plan.n_passes + number) as usize,
                    done: u64::from(number) - 1,
                    whole: u64::from(plan.most_rounds),
                    unit: WorkUnit::Runs,
                }
            }
        }
    }
}

impl RunSource for PreconditionRuns<'_> {
    type Error = PreconditionError;

    fn next(&mut self, _: u64) -> Result<Option<NextRun>, PreconditionError> {
        self.step = self.next_step();
        let Some(step) = self.step else { return Ok(None) };
        let plan = &self.open.plan;
        let jobs = match step {
            PreconditionStep::Part(part) => jobs::part(plan, part, self.environment)?,
            PreconditionStep::Round(number) => jobs::round(plan, number, self.environment)?,
        };
        // A second guard: nothing is opened for writing.
        let is_readonly = plan.way == PreconditionWay::Read;
        Ok(Some(NextRun { is_readonly, ..NextRun::new(jobs, self.notice(step)) }))
    }

    fn take(&mut self, outcome: SessionOutcome) -> Result<(), PreconditionError> {
        let Some(step) = self.step else { return Ok(()) };
        if outcome.run.n_failed > 0 {
            let what = if matches!(step, PreconditionStep::Part(_)) { "a pass" } else { "the load" };
            return Err(PreconditionError::Failed { what, reason: outcome.said() });
        }
        match step {
            PreconditionStep::Part(part) => self.open.progress.pass_bytes += part.bytes,
            PreconditionStep::Round(number) => {
                self.open.keep_record(number as usize, &outcome.run.record)?;
                self.open.progress.add(figures(&of_record(&outcome.run.record)));
            }
        }
        self.open.keep_progress()
    }
}

fn figures(result: &RunResult) -> PreconditionRound {
    let mut round = PreconditionRound {
        ios_per_sec: 0.0,
        bytes_per_sec: 0.0,
        mean_latency_ns: None,
        window: None,
        findings: result.findings().cloned().collect(),
    };
    let (mut latencies_ns, mut n_ios) = (0.0, 0.0);
    for (_, figures) in result.jobs.iter().flat_map(ferrio_formats::JobResult::active) {
        round.ios_per_sec += figures.ios_per_sec;
        round.bytes_per_sec += figures.bytes_per_sec;
        if let Some(lat) = &figures.lat {
            latencies_ns += lat.mean_ns * figures.n_ios as f64;
            n_ios += figures.n_ios as f64;
        }
    }
    round.mean_latency_ns = (n_ios > 0.0).then(|| latencies_ns / n_ios);
    round
}
