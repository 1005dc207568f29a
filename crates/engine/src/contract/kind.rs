//! Engines as the planner sees them: capabilities, and how an engine is prepared.
//!
//! Must not know: which engines there are. Start reading at [`EngineKind`].

use crate::contract::Prepare;
use crate::contract::turns::PrepareTurns;
use ferrio_spec::engines::EngineDef;

/// An engine as the planner sees it: its row in the table, and its work.
#[derive(Clone, Copy)]
pub struct EngineKind {
    /// The row in the table of engines. For an engine behind a pool of threads: the row as the pool changes it.
    pub def: EngineDef,
    pub work: EngineWork,
}

impl EngineKind {
    /// The function that prepares an engine for data I/O; `None`: the engine moves no data.
    pub fn io(&self) -> Option<Prepare> {
        match self.work {
            EngineWork::Io(prepare) => Some(prepare),
            EngineWork::Turns(_) => None,
        }
    }
}

/// The work of an engine, and the function that prepares the engine.
#[derive(Clone, Copy)]
pub enum EngineWork {
    Io(Prepare),
    /// Turns of work that move no data.
    Turns(PrepareTurns),
}
