//! An engine around another one that notes every call, and can make calls cost time on the virtual clock.
//!
//! Must not know: what is tested. Start reading at [`drive`].

use ferrio_engine::{
    Completion, Engine, EngineError, EngineFile, EngineInfo, EngineOptions, EngineSetup, IoUnit, Queued,
};
use ferrio_job::spec::{EngineValue, JobSpec, RunSpec};
use ferrio_run::plan::RunPlan;
use ferrio_run::supervisor::board::Board;
use ferrio_run::worker::{WorkerContext, WorkerMessage, WorkerOutcome, work};
use ferrio_sys::Clock;
use std::cell::RefCell;
use std::io;

/// A call of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Open(u32),
    Close(u32),
    /// A unit that was not refused.
    Queue(u32),
    /// Units that were taken.
    Commit(u32),
    Reap {
        min: u32,
        max: u32,
        n: u32,
    },
}

/// What a job did.
pub(crate) struct Driven {
    pub(crate) outcome: WorkerOutcome,
    pub(crate) calls: Vec<Call>,
    /// The units of all [`Call::Queue`].
    pub(crate) units: Vec<IoUnit>,
    pub(crate) messages: Vec<WorkerMessage>,
}

thread_local! {
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
    static UNITS: RefCell<Vec<IoUnit>> = const { RefCell::new(Vec::new()) };
}

fn note(call: Call) {
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

/// Each call of `queue` takes this long.
pub(crate) const QUEUE_NS: &str = "probe_queue_ns";
/// Each call of `commit` takes this long.
pub(crate) const COMMIT_NS: &str = "probe_commit_ns";
const INNER: &str = "probe_engine";

struct Probe {
    inner: Box<dyn Engine>,
    clock: Option<Clock>,
    queue_ns: u64,
    commit_ns: u64,
}

fn create(options: &EngineOptions) -> Result<Box<dyn Engine>, EngineError> {
    let inner = ferrio_engine::find(options.text(INNER).unwrap()).unwrap();
    let ns = |name| options.int(name).map_or(0, |ns| u64::try_from(ns).unwrap());
    let inner = (inner.create)(options)?;
    Ok(Box::new(Probe { inner, clock: None, queue_ns: ns(QUEUE_NS), commit_ns: ns(COMMIT_NS) }))
}

impl Probe {
    fn spend(&self, ns: u64) {
        if let Some(clock) = &self.clock {
            clock.advance(ns);
        }
    }
}

impl Engine for Probe {
    fn start(&mut self, setup: EngineSetup) -> Result<(), EngineError> {
        self.clock = Some(setup.clock.clone());
        self.inner.start(setup)
    }

    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        note(Call::Open(file.index));
        self.inner.open_file(file)
    }

    fn close_file(&mut self, file_index: u32) {
        note(Call::Close(file_index));
        self.inner.close_file(file_index);
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        self.spend(self.queue_ns);
        let queued = self.inner.queue(unit_index, unit);
        if queued != Queued::Busy {
            note(Call::Queue(unit_index));
            UNITS.with_borrow_mut(|units| units.push(*unit));
        }
        queued
    }

    fn commit(&mut self) -> io::Result<u32> {
        self.spend(self.commit_ns);
        let n_units = self.inner.commit()?;
        note(Call::Commit(n_units));
        Ok(n_units)
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        let n_before = completions.len();
        self.inner.reap(min, max, completions)?;
        note(Call::Reap { min, max, n: (completions.len() - n_before) as u32 });
        Ok(())
    }
}

/// Does a job in this thread on virtual time, with its engine watched.
pub(crate) fn drive(mut job: JobSpec) -> Driven {
    let info = ferrio_engine::find(&job.engine.name).unwrap();
    job.engine.options.push((INNER.to_owned(), EngineValue::Text(job.engine.name.clone())));
    let mut plan = RunPlan::new(RunSpec { global_options: Vec::new(), jobs: vec![job] }).unwrap();
    plan.workers[0].engine = Box::leak(Box::new(EngineInfo { create, ..*info }));
    let board = Board::new(1).unwrap();
    let messages = RefCell::new(Vec::new());
    let send = |message: &WorkerMessage| messages.borrow_mut().push(message.clone());
    let context = WorkerContext {
        board: &board,
        slot_index: 0,
        gate_generation: board.gate_generation(),
        clock: Clock::new_virtual(),
        send: &send,
        is_thread: true,
        readonly: false,
        trace: ferrio_run::TraceSettings::default(),
        log: None,
    };
    board.open_gate();
    let outcome = work(&plan.workers[0], None, &context);
    Driven { outcome, calls: CALLS.take(), units: UNITS.take(), messages: messages.take() }
}

impl Driven {
    /// The calls without those for files.
    pub(crate) fn io_calls(&self) -> Vec<Call> {
        let is_io = |call: &&Call| !matches!(call, Call::Open(_) | Call::Close(_));
        self.calls.iter().filter(is_io).copied().collect()
    }
}
