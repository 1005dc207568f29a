//! A run as an object: it is prepared, goes, and ends in a record.
//!
//! Must not know: how workers are watched. Start reading at [`Run::prepare`], then [`PreparedRun::go`].
//!
//! A program may have several runs, one after the other or at the same time, each in its own thread. Jobs that are
//! processes are forked from the thread that calls [`Run::prepare`] and [`PreparedRun::go`], and die with that thread.
//!
//! A forked process begins with a copy of all locks that other threads of the program hold at that moment. ferrio's own
//! threads hold none that a worker takes, except for that of the C library's allocator, which the library itself
//! releases after a fork. Two kinds of programs have to give their jobs the option `thread`: those with an allocator of
//! their own that is not safe to fork, and those whose other threads change the environment.

use super::groups;
use super::handle::Handle;
use super::prepare::{self, MachineSurvey};
use super::record::SupervisedWorker;
use super::requests::Requests;
use super::scene::Scene;
use super::schedulers::Schedulers;
use super::stops::StopTimes;
use super::stretches::StretchTeller;
use super::time::RunTime;
use super::watch::Watch;
use super::workers::Workers;
use super::{RunOutcome, RunSettings, announce, outcome, steady};
use crate::error::RunError;
use crate::events::{RunEvent, RunObserver};
use crate::files::protected;
use crate::link::board::Board;
use crate::link::trace::TraceGroup;
use crate::logs::LogDrain;
use crate::plan::RunPlan;
use ferrio_spec::engines::options::sim::{self, SimTime};
use ferrio_spec::{JobSpec, RunSpec};
use ferrio_stats::Provenance;
use ferrio_sys::clock::{monotonic_ns, wall_clock};
use ferrio_sys::limits::{Resource, raise_limit};
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

/// A run that has not begun.
#[derive(Debug)]
pub struct Run {
    spec: RunSpec,
    settings: RunSettings,
    handle: Handle,
}

/// The time at which a run starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// At once.
    Now,
    /// At this time of `CLOCK_REALTIME`, counted from 1970; at once if it has passed.
    At(Duration),
    /// At this time of `CLOCK_MONOTONIC`; at once if it has passed. Intervals count from then, so that those of all hosts that agreed on
    /// it lie side by side.
    AtMonotonic(Duration),
}

/// A run whose files are laid out and whose first workers wait for the start. It must stay in the thread that prepared
/// it, because its processes die with that thread. Dropping it ends them.
pub struct PreparedRun {
    stage: Option<Stage>,
    handle: Handle,
    _stays_in_its_thread: PhantomData<*const ()>,
}

enum Stage {
    /// Everything is ready; the duration is the time that the workers needed.
    Ready(Box<Watch>, Duration),
    /// The run was refused or given up; this is its outcome.
    Over(Box<RunOutcome>),
}

impl Run {
    /// A run of these jobs.
    pub fn new(spec: RunSpec, settings: RunSettings) -> Result<Self, RunError> {
        Ok(Self { spec, settings, handle: Handle::new()? })
    }

    /// A run of these jobs that this handle controls, also by what was asked of it before.
    pub fn with_handle(spec: RunSpec, settings: RunSettings, handle: Handle) -> Self {
        Self { spec, settings, handle }
    }

    /// A handle that controls the run from now until its end.
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Lays out the files, starts the workers that begin first, and waits until they are ready. Events go to the observer as they
    /// happen.
    pub fn prepare(self, observer: &mut dyn RunObserver) -> Result<PreparedRun, RunError> {
        let handle = self.handle.clone();
        let stage = prepare_stage(self, observer)?;
        Ok(PreparedRun { stage: Some(stage), handle, _stays_in_its_thread: PhantomData })
    }

    /// Prepares the run and starts it at once.
    pub fn go(self, observer: &mut dyn RunObserver) -> Result<RunOutcome, RunError> {
        Ok(self.prepare(observer)?.go(Start::Now, observer))
    }
}

impl PreparedRun {
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }

    /// Starts the run, and returns when it has ended. It can be stopped while it waits for its start. The time between
    /// preparation and start does not count as time of the run.
    pub fn go(mut self, start: Start, observer: &mut dyn RunObserver) -> RunOutcome {
        // Only this function and `drop` take the stage.
        match self.stage.take() {
            Some(Stage::Ready(mut watch, so_far)) => {
                watch.stand_by(&|| time_left(start), observer);
                if matches!(start, Start::AtMonotonic(_)) {
                    watch.restart_intervals();
                }
                watch.until_all_ended(so_far, observer);
                watch.finish(observer)
            }
            Some(Stage::Over(outcome)) => *outcome,
            None => unreachable!("a run goes once, and that takes it"),
        }
    }
}

impl Drop for PreparedRun {
    fn drop(&mut self) {
        if let Some(Stage::Ready(mut watch, so_far)) = self.stage.take() {
            self.handle.abort();
            let mut nobody = |_: RunEvent| ();
            watch.until_all_ended(so_far, &mut nobody);
            watch.finish(&mut nobody);
        }
    }
}

fn time_left(start: Start) -> Duration {
    match start {
        Start::Now => Duration::ZERO,
        Start::At(time) => time.saturating_sub(wall_clock()),
        Start::AtMonotonic(time) => time.saturating_sub(Duration::from_nanos(monotonic_ns())),
    }
}

fn prepare_stage(run: Run, observer: &mut dyn RunObserver) -> Result<Stage, RunError> {
    let Run { spec, mut settings, handle } = run;
    settings.is_virtual |= is_on_virtual_time(&spec)?;
    let time = if settings.is_virtual {
        RunTime::new_virtual({
            let handle = handle.clone();
            move || handle.has_new()
        })
    } else {
        RunTime::Real
    };
    let mut requests = Requests::open(handle);
    let mut spec = prepare::merge(spec, &settings.inputs, &mut requests, observer)?;
    let from_environment = std::mem::take(&mut spec.from_environment);
    let late_globals = std::mem::take(&mut spec.late_globals);
    let mut plan = Arc::new(RunPlan::with_storages(spec, settings.storages.clone())?);
    let clock = time.clock();
    let MachineSurvey { facts, refusal, trees } =
        match prepare::survey(&mut plan, &settings, &clock, &mut requests, observer) {
            Ok(survey) => survey,
            Err(stuck) => {
                return Ok(over(outcome::given_up(&plan, &settings, fresh(&plan), &stuck, &requests, observer)));
            }
        };
    if let Some(plan) = Arc::get_mut(&mut plan) {
        plan.facts = Provenance { from_environment, late_globals, ..facts };
        plan.kept = Arc::new(protected::of_workers(&plan.workers, &settings.inputs));
    }
    announce::tell_all(settings.trace, TraceGroup::Time, clock.describe(), observer);
    let teller = StretchTeller::start(&plan, &settings, clock.now_ns(), observer);
    if let Some(refusal) = refusal {
        return Ok(over(outcome::refused(&plan, &settings, &refusal, observer)));
    }
    announce::announce(&plan, &settings, trees, observer);
    let groups = groups::Made::before(&plan.workers);
    let schedulers = Schedulers::before(&plan.workers);
    let board = Arc::new(Board::new(plan.workers.len())?.with_locks(&plan.workers)?.with_intervals(teller.times()));
    if time.is_virtual() && board.has_locks() && plan.workers.len() > 1 {
        return Err(RunError::LocksOnVirtualTime);
    }
    let mut records = fresh(&plan);
    let laid_out = prepare::prepare_workers(&plan, &settings, &mut records, &mut requests, observer);
    let started = laid_out.and_then(|()| prepare::start_probes(&plan, &settings, &records, &mut requests, observer));
    let probes = match started {
        Ok(probes) => probes,
        Err(stuck) => return Ok(over(outcome::given_up(&plan, &settings, records, &stuck, &requests, observer))),
    };
    steady::enter(&plan, &mut records);
    // If the system grants less, a worker that lacks a descriptor reports it.
    raise_limit(Resource::Nofile, prepare::n_descriptors(&plan, &records));
    announce::tell_disks(settings.trace, &probes, observer);
    if protected::have_outputs(&plan.workers) {
        plan.kept.look_up();
    }
    let logs = LogDrain::start(&plan, &settings.open_logs).map_err(RunError::Logs)?;
    let scene = Scene { plan, board, settings, clock, time, logs, teller };
    let watch = Watch::prepare(
        scene,
        Workers { records, probes, stops: StopTimes::default() },
        requests,
        groups,
        schedulers,
        observer,
    );
    let so_far = watch.elapsed();
    Ok(Stage::Ready(Box::new(watch), so_far))
}

/// Returns true if all jobs are on virtual time, and an error if only some are.
fn is_on_virtual_time(spec: &RunSpec) -> Result<bool, RunError> {
    let is_virtual = |job: &JobSpec| job.engine.options.get(&sim::TIME) == SimTime::Virtual;
    let on_real_time = spec.jobs.iter().find(|job| !is_virtual(job));
    match on_real_time {
        None => Ok(!spec.jobs.is_empty()),
        Some(job) if spec.jobs.iter().any(is_virtual) => Err(RunError::MixedTimes { job: job.name.clone() }),
        Some(_) => Ok(false),
    }
}

fn over(outcome: RunOutcome) -> Stage {
    Stage::Over(Box::new(outcome))
}

fn fresh(plan: &RunPlan) -> Vec<SupervisedWorker> {
    std::iter::repeat_with(SupervisedWorker::default).take(plan.workers.len()).collect()
}
