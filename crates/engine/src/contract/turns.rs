//! The contract of engines whose work moves no data: it is done in turns, which burn CPU or wait beside a program.
//!
//! Such an engine is a type in two states, like the others. [`PreparedTurns`]: its options are checked.
//! [`NoIoEngine`]: it runs. A turn counts as an I/O of no bytes, whose latency is the time that it took.
//! Must not know: which loop drives it, why the job ends. Start reading at [`NoIoEngine`].

use crate::contract::JobFacts;
use crate::contract::error::EngineError;
use crate::contract::options::EngineOptions;
use ferrio_sys::clock::Clock;
use ferrio_sys::output::ProtectedPaths;
use ferrio_sys::process::ChildEnd;
use std::sync::Arc;
use std::task::Poll;

/// Checks the values of the private options of an engine whose work moves no data.
pub type PrepareTurns = fn(&EngineOptions) -> Result<Box<dyn PreparedTurns>, EngineError>;

/// An engine in its first state: its options are checked, nothing has begun.
pub trait PreparedTurns {
    /// How its turns follow each other.
    fn rhythm(&self) -> Rhythm;

    /// What the user is told when the job starts.
    fn introduction(&self, job: &JobFacts) -> Vec<EngineRemark>;

    /// Starts the engine: makes all that its turns need.
    fn start(self: Box<Self>, setup: TurnsSetup) -> Result<Box<dyn NoIoEngine>, EngineError>;
}

/// What an engine is given before its first turn.
pub struct TurnsSetup {
    pub clock: Clock,
    /// Seed of the worker, for engines that draw random numbers.
    pub seed: u64,
    pub job: JobFacts,
    /// Files that no output of the engine may replace.
    pub kept: Arc<ProtectedPaths>,
}

/// An engine in its second state.
pub trait NoIoEngine {
    /// Starts the program (or the like) beside which the turns run. The loop calls this once, when the job may begin and
    /// before its clock starts.
    fn begin(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Works on a turn, or begins one, for a moment at most: 100 ms. Ready: the turn is done. Otherwise the loop calls
    /// this again, unless it gives the turn up. Does not allocate.
    fn turn(&mut self) -> Poll<()>;

    /// True when no turn follows. The loop asks this while a turn is not done.
    fn is_over(&self) -> bool {
        false
    }

    /// Ends the program beside which the turns ran; waits for a moment at most. After the last turn the loop calls this
    /// until the result is ready, or until the job is told to end. The result is a remark for the user, if there is
    /// something to tell.
    fn end(&mut self) -> Poll<Option<EngineRemark>> {
        Poll::Ready(None)
    }
}

/// How turns of work follow each other, and what ends them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rhythm {
    /// Rest after each turn, microseconds.
    pub pause_us: u64,
    /// Which end of other jobs ends this job too.
    pub ends_with: EndsWith,
}

/// Which end of other jobs also ends a job whose work moves no data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndsWith {
    /// The end of the last job beside it that does I/O.
    LastIo,
    /// The job ends as soon as no job does I/O, even if it has only just begun itself.
    NoIo,
    /// The job does not end when the other jobs end.
    ItsOwn,
}

/// What an engine whose work moves no data tells the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineRemark {
    /// How it will work.
    Mode {
        /// A word for its way of working.
        mode: &'static str,
        settings: Vec<(&'static str, u64)>,
    },
    /// The program that it will run.
    Program {
        program: String,
        /// Its arguments, if there are any.
        arguments: Option<String>,
    },
    ProgramStarts {
        program: String,
        /// Its arguments, if there are any.
        arguments: Option<String>,
        /// The files that take what it prints: stdout, stderr.
        files: Option<[String; 2]>,
    },
    ProgramFailed {
        program: String,
        end: ChildEnd,
    },
}
