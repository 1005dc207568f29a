//! The work: passes over the target, then rounds of the load until they are steady.
//!
//! Must not know: terminals, signals. Start reading at [`OpenPrecondition::work`].

use crate::filling::next_part;
use crate::folder::PreconditionRound;
use crate::{OpenPrecondition, PreconditionError, PreconditionWay, jobs};
use ferrio_job::Environment;
use ferrio_results::{RunResult, of_record};
use ferrio_run::RunError;
use ferrio_session::{Session, SessionOutcome};
use ferrio_spec::RunSpec;
use ferrio_stats::RunRecord;

/// What is going to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreconditionStep {
    /// A part of a pass.
    Pass {
        /// Number of the pass, from 1.
        number: u32,
        /// Bytes of this pass that were moved before.
        done_bytes: u64,
    },
    /// A round of the load.
    Round {
        /// Its number since the work began or went on, from 1.
        number: u32,
    },
}

/// What conducts the runs.
pub trait PreconditionConductor {
    /// A run is to begin.
    fn next(&mut self, step: PreconditionStep);

    /// Runs a session.
    ///
    /// # Errors
    /// The run cannot be started or supervised.
    fn run(&mut self, session: Session) -> Result<SessionOutcome, RunError>;

    /// True if no further run is to begin, and the one that was under way does not count.
    fn is_stopped(&self) -> bool;
}

/// Why the work has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreconditionEnding {
    /// The rounds are steady.
    Steady,
    /// All rounds were made, and they are not steady.
    NotSteady,
    /// The passes are done, and no rounds were wanted.
    Passed,
    /// The conductor has ended it.
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
        conductor: &mut dyn PreconditionConductor,
    ) -> Result<PreconditionEnding, PreconditionError> {
        self.plan.check(environment)?;
        while let Some(part) = next_part(self.plan.target.bytes, self.plan.n_passes, self.progress.pass_bytes) {
            let number = (self.progress.pass_bytes / self.plan.target.bytes) as u32 + 1;
            conductor.next(PreconditionStep::Pass { number, done_bytes: part.offset });
            let spec = jobs::part(&self.plan, part, environment)?;
            if run(spec, "a pass", self.plan.way, conductor)?.is_none() {
                return Ok(PreconditionEnding::Stopped);
            }
            self.progress.pass_bytes += part.bytes;
            self.keep_progress()?;
        }
        if self.plan.most_rounds == 0 {
            return Ok(PreconditionEnding::Passed);
        }
        self.rounds(environment, conductor)
    }

    fn rounds(
        &mut self,
        environment: &dyn Environment,
        conductor: &mut dyn PreconditionConductor,
    ) -> Result<PreconditionEnding, PreconditionError> {
        while self.progress.steady().is_none() {
            let number = self.progress.rounds.len() as u32 + 1;
            let since_pause = number - self.progress.n_before as u32;
            if since_pause > self.plan.most_rounds {
                return Ok(PreconditionEnding::NotSteady);
            }
            conductor.next(PreconditionStep::Round { number: since_pause });
            let spec = jobs::round(&self.plan, number, environment)?;
            let Some(record) = run(spec, "the load", self.plan.way, conductor)? else {
                return Ok(PreconditionEnding::Stopped);
            };
            self.keep_record(number as usize, &record)?;
            self.progress.add(figures(&of_record(&record)));
            self.keep_progress()?;
        }
        Ok(PreconditionEnding::Steady)
    }
}

/// The record of a run; `None`: the conductor has ended it.
fn run(
    spec: RunSpec,
    what: &'static str,
    way: PreconditionWay,
    conductor: &mut dyn PreconditionConductor,
) -> Result<Option<RunRecord>, PreconditionError> {
    if conductor.is_stopped() {
        return Ok(None);
    }
    let mut session = Session::new(spec)?;
    session.settings.keeps_series = true;
    // A second guard: nothing is opened for writing.
    session.settings.readonly = way == PreconditionWay::Read;
    let outcome = conductor.run(session)?;
    if conductor.is_stopped() || outcome.is_stopped {
        return Ok(None);
    }
    if outcome.n_failed > 0 {
        return Err(PreconditionError::Failed { what, reason: outcome.said() });
    }
    Ok(Some(outcome.record))
}

/// The figures of a round.
fn figures(result: &RunResult) -> PreconditionRound {
    let mut round = PreconditionRound {
        ios_per_sec: 0.0,
        bytes_per_sec: 0.0,
        mean_latency_ns: None,
        window: None,
        findings: result.findings.clone().unwrap_or_default(),
    };
    let (mut latencies_ns, mut n_ios) = (0.0, 0.0);
    for (_, figures) in result.jobs.iter().flat_map(ferrio_results::JobResult::active) {
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
