//! An engine wrapper that notes every call, and can let calls take time on the virtual clock.
//!
//! Must not know: what is tested. Start reading at [`drive`].

use ferrio_engine::{
    Completion, Engine, EngineError, EngineFile, EngineOptions, EngineSetup, EngineWork, IoUnit, Prepared, Queued,
};
use ferrio_run::link::board::Board;
use ferrio_run::link::context::WorkerContext;
use ferrio_run::link::message::{WorkerMessage, WorkerOutcome};
use ferrio_run::link::trace::Tracer;
use ferrio_run::plan::RunPlan;
use ferrio_run::worker::run_worker;
use ferrio_spec::engines::options::declaration::{EngineOption, size, text};
use ferrio_spec::syntax::ANY;
use ferrio_spec::{JobSpec, RunSpec};
use ferrio_sys::Clock;
use ferrio_units::Direction;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;

/// A call of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Open(u32),
    Close(u32),
    /// A unit that was accepted.
    Queue(u32),
    /// Number of units that were taken.
    Commit(u32),
    Reap {
        min: u32,
        max: u32,
        n: u32,
    },
}

/// The calls and results of a job.
pub(crate) struct Driven {
    pub(crate) outcome: WorkerOutcome,
    pub(crate) calls: Vec<Call>,
    /// The units of all [`Call::Queue`].
    pub(crate) units: Vec<IoUnit>,
    /// The stamps of all completed units, in order of completion.
    pub(crate) stamped: Vec<Stamped>,
    pub(crate) messages: Vec<WorkerMessage>,
}

/// Times at which an I/O was offered, taken by a commit, and returned, virtual ns. An I/O that is done in
/// [`Engine::queue`] counts as issued when it is offered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamped {
    pub(crate) direction: Direction,
    pub(crate) start_ns: u64,
    pub(crate) issue_ns: u64,
    pub(crate) done_ns: u64,
}

thread_local! {
    static STAMPED: RefCell<Vec<Stamped>> = const { RefCell::new(Vec::new()) };
    static CALLS: RefCell<Vec<Call>> = const { RefCell::new(Vec::new()) };
    static UNITS: RefCell<Vec<IoUnit>> = const { RefCell::new(Vec::new()) };
}

fn note(call: Call) {
    CALLS.with_borrow_mut(|calls| calls.push(call));
}

/// Each call of `queue` takes this long.
pub(crate) const QUEUE_NS: EngineOption<i64> = size("probe_queue_ns", "", ANY).default("0");
/// Each call of `commit` takes this long.
pub(crate) const COMMIT_NS: EngineOption<i64> = size("probe_commit_ns", "", ANY).default("0");
const INNER: EngineOption<Option<&'static str>> = text("probe_engine", "");

/// The wrapped engine in its first state.
struct Unwatched {
    inner: Box<dyn Prepared>,
    queue_ns: u64,
    commit_ns: u64,
}

struct Probe {
    inner: Box<dyn Engine>,
    clock: Clock,
    queue_ns: u64,
    commit_ns: u64,
    /// Units that the engine has, by slot.
    pending: BTreeMap<u32, Stamped>,
    /// Slots that wait for a commit, oldest first.
    uncommitted: VecDeque<u32>,
}

fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    let inner = ferrio_engine::find(options.get(&INNER).unwrap()).unwrap();
    let ns = |option| u64::try_from(options.get(option)).unwrap();
    let inner = inner.io().unwrap()(options)?;
    Ok(Box::new(Unwatched { inner, queue_ns: ns(&QUEUE_NS), commit_ns: ns(&COMMIT_NS) }))
}

impl Prepared for Unwatched {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let (pending, uncommitted) = (BTreeMap::new(), VecDeque::new());
        let Self { inner, queue_ns, commit_ns } = *self;
        let clock = setup.clock.clone();
        Ok(Box::new(Probe { inner: inner.start(setup)?, clock, queue_ns, commit_ns, pending, uncommitted }))
    }
}

impl Probe {
    fn spend(&self, ns: u64) {
        self.clock.advance(ns);
    }

    fn now_ns(&self) -> u64 {
        self.clock.now_ns()
    }

    fn note_queued(&mut self, unit_index: u32, unit: &IoUnit, queued: Queued, start_ns: u64) {
        note(Call::Queue(unit_index));
        UNITS.with_borrow_mut(|units| units.push(*unit));
        self.pending
            .insert(unit_index, Stamped { direction: unit.direction, start_ns, issue_ns: start_ns, done_ns: 0 });
        match queued {
            Queued::Completed(_) => self.note_done(unit_index),
            _ => self.uncommitted.push_back(unit_index),
        }
    }

    fn note_done(&mut self, unit_index: u32) {
        let stamped = self.pending.remove(&unit_index).unwrap();
        STAMPED.with_borrow_mut(|list| list.push(Stamped { done_ns: self.now_ns(), ..stamped }));
    }
}

impl Engine for Probe {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        note(Call::Open(file.index));
        self.inner.open_file(file)
    }

    fn close_file(&mut self, file_index: u32) {
        note(Call::Close(file_index));
        self.inner.close_file(file_index);
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        let start_ns = self.now_ns();
        self.spend(self.queue_ns);
        let queued = self.inner.queue(unit_index, unit);
        if queued != Queued::Busy {
            self.note_queued(unit_index, unit, queued, start_ns);
        }
        queued
    }

    fn commit(&mut self) -> io::Result<u32> {
        self.spend(self.commit_ns);
        let n_units = self.inner.commit()?;
        note(Call::Commit(n_units));
        let issue_ns = self.now_ns();
        for unit_index in self.uncommitted.drain(..n_units as usize) {
            self.pending.get_mut(&unit_index).unwrap().issue_ns = issue_ns;
        }
        Ok(n_units)
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        let n_before = completions.len();
        self.inner.reap(min, max, completions)?;
        completions[n_before..].iter().for_each(|completion| self.note_done(completion.unit_index));
        note(Call::Reap { min, max, n: (completions.len() - n_before) as u32 });
        Ok(())
    }
}

/// Runs a job in this thread on virtual time, with a wrapper around its engine.
pub(crate) fn drive(mut job: JobSpec) -> Driven {
    job.engine.options.set(&INNER, &job.engine.name);
    let mut plan = RunPlan::new(RunSpec {
        global_options: Vec::new(),
        jobs: vec![job],
        compatibility: ferrio_spec::Compatibility::Fio,
        ..RunSpec::default()
    })
    .unwrap();
    plan.workers[0].engine.work = EngineWork::Io(prepare);
    let board = Board::new(1).unwrap();
    let messages = RefCell::new(Vec::new());
    let send = |message: &WorkerMessage| messages.borrow_mut().push(message.clone());
    let tracer = Tracer::new(ferrio_run::TraceSettings::default(), &send);
    let context = WorkerContext {
        board: &board,
        slot_index: 0,
        gate_generation: board.gate_generation(),
        clock: Clock::new_virtual(),
        send: &send,
        is_thread: true,
        readonly: false,
        keeps_evidence: false,
        tracer: &tracer,
        log: None,
        kept: &std::sync::Arc::default(),
    };
    board.open_gate();
    let outcome = run_worker(&plan.workers[0], None, &context);
    let (calls, units, stamped) = (CALLS.take(), UNITS.take(), STAMPED.take());
    Driven { outcome, calls, units, stamped, messages: messages.take() }
}

impl Driven {
    /// The calls without those for files.
    pub(crate) fn io_calls(&self) -> Vec<Call> {
        let is_io = |call: &&Call| !matches!(call, Call::Open(_) | Call::Close(_));
        self.calls.iter().filter(is_io).copied().collect()
    }
}
