//! Nothing is allocated between the first and the last I/O of a job.
//!
//! Start reading at [`n_allocations`].
#![expect(clippy::unwrap_used, reason = "all of this file is test code")]

use ferrio_engine::{
    Completion, Engine, EngineError, EngineFile, EngineOptions, EngineSetup, EngineWork, IoUnit, Prepared, Queued,
};
use ferrio_run::link::board::Board;
use ferrio_run::link::context::WorkerContext;
use ferrio_run::link::message::WorkerMessage;
use ferrio_run::link::trace::Tracer;
use ferrio_run::plan::RunPlan;
use ferrio_run::worker::run_worker;
use ferrio_spec::engines::options::declaration::{EngineOption, text};
use ferrio_spec::engines::options::sim;
use ferrio_spec::{DirectionMix, JobSpec, QueueSpec, RunSpec, SizeSpec};
use ferrio_sys::Clock;
use ferrio_sys::allocations::CountingAllocator;
use ferrio_testing::skip_part;
use std::cell::Cell;
use std::io;
use std::path::PathBuf;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

thread_local! {
    /// Counts of allocations at the first and the last call of `queue`.
    static AT_FIRST: Cell<Option<u64>> = const { Cell::new(None) };
    static AT_LAST: Cell<u64> = const { Cell::new(0) };
}

/// The wrapped engine in its first state.
struct Unwatched(Box<dyn Prepared>);

/// Reads the count at every I/O, and passes the I/O on.
struct Watched(Box<dyn Engine>);

const INNER: EngineOption<Option<&'static str>> = text("watched_engine", "");

fn prepare(options: &EngineOptions) -> Result<Box<dyn Prepared>, EngineError> {
    let inner = ferrio_engine::find(options.get(&INNER).unwrap()).unwrap();
    Ok(Box::new(Unwatched(inner.io().unwrap()(options)?)))
}

impl Prepared for Unwatched {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(Watched(self.0.start(setup)?)))
    }
}

impl Engine for Watched {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        self.0.open_file(file)
    }

    fn close_file(&mut self, file_index: u32) {
        self.0.close_file(file_index);
    }

    fn queue(&mut self, unit_index: u32, unit: &IoUnit) -> Queued {
        let now = CountingAllocator::n_allocations();
        if AT_FIRST.get().is_none() {
            AT_FIRST.set(Some(now));
        }
        AT_LAST.set(now);
        self.0.queue(unit_index, unit)
    }

    fn commit(&mut self) -> io::Result<u32> {
        self.0.commit()
    }

    fn reap(&mut self, min: u32, max: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
        self.0.reap(min, max, completions)
    }
}

/// Number of allocations from the first to the last I/O, and number of I/Os; `None`: the engine cannot start on this
/// machine.
fn n_allocations(mut job: JobSpec) -> Option<(u64, u64)> {
    job.engine.options.set(&INNER, &job.engine.name);
    let clock = if job.engine.name == "sim" { Clock::new_virtual() } else { Clock::new() };
    let mut plan = RunPlan::new(RunSpec {
        global_options: Vec::new(),
        jobs: vec![job],
        compatibility: ferrio_spec::Compatibility::Fio,
        ..RunSpec::default()
    })
    .unwrap();
    plan.workers[0].engine.work = EngineWork::Io(prepare);
    let board = Board::new(1).unwrap();
    let gate_generation = board.gate_generation();
    board.open_gate();
    let send = |_: &WorkerMessage| ();
    let tracer = Tracer::new(ferrio_run::TraceSettings::default(), &send);
    let context = WorkerContext {
        board: &board,
        slot_index: 0,
        gate_generation,
        clock,
        send: &send,
        is_thread: true,
        readonly: false,
        keeps_evidence: false,
        tracer: &tracer,
        log: None,
        kept: &std::sync::Arc::default(),
    };
    AT_FIRST.set(None);
    let outcome = run_worker(&plan.workers[0], None, &context);
    if outcome.failure.as_ref().is_some_and(|error| error.step.name() == "init") {
        return None;
    }
    assert_eq!(outcome.failure, None);
    Some((AT_LAST.get() - AT_FIRST.get().unwrap(), outcome.stats.n_issued()))
}

fn job(engine: &str, iodepth: u32, mix: DirectionMix, random: bool) -> JobSpec {
    let mut job = JobSpec { name: "j".to_owned(), section: "j".to_owned(), ..JobSpec::default() };
    engine.clone_into(&mut job.engine.name);
    job.queue = QueueSpec {
        iodepth,
        batch_submit: iodepth.min(8),
        batch_complete_min: 1,
        batch_complete_max: iodepth,
        low: iodepth,
    };
    job.pattern.mix = mix;
    (job.pattern.random, job.pattern.rw_postfix) = (random, i64::from(random));
    job.extent.size = Some(SizeSpec::Bytes(1 << 20));
    job
}

fn assert_none(name: &str, job: JobSpec) {
    match n_allocations(job) {
        Some((n, n_ios)) => {
            assert!(n_ios > 200, "{name}: only {n_ios} I/Os");
            assert_eq!(n, 0, "{name}: {n_ios} I/Os");
        }
        None => skip_part!(name, "the engine cannot start here"),
    }
}

#[test]
fn the_count_counts() {
    let before = CountingAllocator::n_allocations();
    drop(std::hint::black_box(vec![0_u8; 100]));
    assert_eq!(CountingAllocator::n_allocations(), before + 1);
}

#[test]
fn engines_without_files() {
    for iodepth in [1, 32] {
        for (mix, random) in [(DirectionMix::Read, false), (DirectionMix::Write, true), (DirectionMix::ReadWrite, true)]
        {
            assert_none(&format!("null {iodepth} {mix:?}"), job("null", iodepth, mix, random));
            let mut timed = job("sim", iodepth, mix, random);
            // 20000 I/Os over four windows, with restarts of the file, errors and rests.
            timed.limits.time_based = true;
            timed.limits.runtime_us = 2_100_000;
            timed.errors.continue_on.read = true;
            timed.errors.continue_on.write = true;
            timed.engine.options.set(&sim::FAULT, "eio@/100,short@/7");
            assert_none(&format!("sim {iodepth} {mix:?}"), timed);
        }
    }
}

#[test]
fn engines_on_a_real_file() {
    let directory = std::env::temp_dir().join(format!("ferrio-run-allocations-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    for engine in ["sync", "psync", "vsync", "pvsync", "pvsync2", "libaio", "io_uring", "mmap"] {
        for iodepth in [1, 32] {
            for (mix, random) in [(DirectionMix::Write, false), (DirectionMix::ReadWrite, true)] {
                let mut on_file = job(engine, iodepth, mix, random);
                on_file.target.directories = vec![directory.clone()];
                on_file.durability.fsync_blocks = 64;
                assert_none(&format!("{engine} {iodepth} {mix:?}"), on_file);
            }
        }
    }
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn a_trace_of_the_ios() {
    let path: PathBuf = std::env::temp_dir().join(format!("ferrio-run-trace-{}", std::process::id()));
    let mut traced = job("null", 1, DirectionMix::ReadWrite, true);
    traced.write_iolog = Some(path.clone());
    assert_none("write_iolog", traced);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn latencies_with_percentiles_and_none_at_all() {
    let mut full = job("null", 32, DirectionMix::Read, true);
    (full.reporting.lat_percentiles, full.reporting.slat_percentiles) = (true, true);
    assert_none("percentiles", full.clone());
    full.reporting.gtod_reduce = true;
    assert_none("gtod_reduce", full);
}
