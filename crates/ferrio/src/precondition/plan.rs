//! What is to be done: the passes over the whole target, and the rounds of a load.
//!
//! Must not know: what was done already. Start reading at [`PreconditionPlan`].

use crate::precondition::{PreconditionError, PreconditionTarget, jobs};
use ferrio_job::Environment;
use serde::{Deserialize, Serialize};

/// Number of the form of `plan.json`.
pub(crate) const FORM: u32 = 1;

/// How each pass goes over the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreconditionWay {
    /// It is overwritten with random data, which destroys what is there.
    Write,
    /// It is read, as a volume wants it whose blocks are fetched on their first use.
    Read,
}

/// The plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreconditionPlan {
    /// Number of its form: 1.
    pub form: u32,
    /// The target.
    pub target: PreconditionTarget,
    /// How each pass goes over it.
    pub way: PreconditionWay,
    /// Number of passes.
    pub n_passes: u32,
    /// Options of the load that the user has given, as words of a command line: `--bs=8k`.
    pub load: Vec<String>,
    /// Engine of all runs that no word of the load names.
    pub engine: String,
    /// Time of a round, milliseconds.
    pub round_ms: u64,
    /// Most rounds; 0: none are made.
    pub most_rounds: u32,
}

impl PreconditionPlan {
    /// A plan with the defaults: two passes of writes or one of reads, and at most 25 rounds of a minute.
    pub fn new(target: PreconditionTarget, way: PreconditionWay, engine: &str) -> Self {
        let n_passes = if way == PreconditionWay::Write { 2 } else { 1 };
        let engine = engine.to_owned();
        Self { form: FORM, target, way, n_passes, load: Vec::new(), engine, round_ms: 60_000, most_rounds: 25 }
    }

    /// Looks whether the load can be run, before hours of passes.
    ///
    /// # Errors
    /// An option of the load is refused, or the load is no single job on the target.
    pub fn check(&self, environment: &dyn Environment) -> Result<(), PreconditionError> {
        if self.most_rounds > 0 { jobs::round(self, 1, environment).map(drop) } else { Ok(()) }
    }

    /// Bytes that all passes together move.
    pub fn pass_bytes(&self) -> u64 {
        self.target.bytes.saturating_mul(u64::from(self.n_passes))
    }
}
