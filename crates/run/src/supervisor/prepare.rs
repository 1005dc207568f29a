//! The time before the workers: a survey of what they will use, and the layout of their files. Reports can be requested
//! already.
//!
//! Must not know: how files are laid out. Start reading at [`prepare_workers`].

use super::RunSettings;
use super::interruptible::{Station, Stuck, at_once, interruptible};
use super::outcome::{self, Moment};
use super::record::{self, SupervisedWorker, WorkerStatus};
use super::requests::Requests;
use super::timed_requests::TimedRequests;
use crate::error::{Failure, RunError};
use crate::events::{MessageStream, RunEvent, RunObserver};
use crate::evidence::{Probes, Site, provenance};
use crate::files::guard::{self, DeviceInUse};
use crate::files::size::SetupWait;
use crate::files::{self, FileSet};
use crate::layout;
use crate::link::trace::TraceGroup;
use crate::logs;
use crate::plan::{RunPlan, WorkerPlan};
use crate::probed::probed;
use crate::replay::merge::merge_traces;
use crate::worker::check_state;
use crate::zones::{ZoneRegistry, sizes};
use ferrio_spec::{ControlSettings, RunSpec, Trigger};
use ferrio_stats::note::{FileNote, MergeNote, ReplayNote};
use ferrio_stats::{Evidence, LaidOver, Note, Provenance};
use ferrio_sys::Clock;
use ferrio_sys::errno::EAGAIN;
use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Merges the traces of the jobs that want it.
pub(super) fn merge(
    mut spec: RunSpec,
    inputs: &[PathBuf],
    requests: &mut Requests,
    observer: &mut dyn RunObserver,
) -> Result<RunSpec, RunError> {
    let Some(job) = spec.jobs.iter().find(|job| job.replay.merge.is_some()) else { return Ok(spec) };
    let name = job.name.clone();
    let told = |note: Option<ReplayNote>, _: &mut Requests, observer: &mut dyn RunObserver| {
        if let Some(note) = note {
            observer.event(RunEvent::Message(MessageStream::Error, note.into()));
        }
    };
    let inputs = inputs.to_vec();
    let merged = interruptible(requests, observer, told, move |station: &Station<ReplayNote, _>| {
        merge_traces(&mut spec, &inputs, &mut |note| station.tell(note), &|| station.is_over()).map(|_| spec)
    });
    merged.unwrap_or_else(|stuck| {
        let note = match stuck.no_thread {
            None => MergeNote::Stuck { job: name },
            Some(error) => MergeNote::NoThread { job: name, errno: error.raw_os_error().unwrap_or(EAGAIN) },
        };
        Err(RunError::Merge(note))
    })
}

/// Converts sizes given as numbers of zones into bytes.
fn sizes_in_bytes(
    plan: &mut Arc<RunPlan>,
    requests: &mut Requests,
    observer: &mut dyn RunObserver,
) -> Result<(), Stuck> {
    if !sizes::are_in(plan) {
        return Ok(());
    }
    let its_plan = Arc::clone(plan);
    let found = interruptible(
        requests,
        observer,
        |_, _, _| (),
        move |station: &Station<(), _>| sizes::in_bytes(&its_plan, &|index| station.work_for(index)),
    )?;
    if let Some(plan) = Arc::get_mut(plan) {
        sizes::put_into(plan, found);
    }
    Ok(())
}

/// Results of the survey: machine and files of all workers, before anything is changed.
pub(super) struct MachineSurvey {
    pub(super) facts: Provenance,
    /// A device in use that a job would write to.
    pub(super) refusal: Option<DeviceInUse>,
    /// Notes about the directories that are searched for files (`opendir`).
    pub(super) trees: Vec<Note>,
}

/// False if no step before the workers touches a file or asks a server, so that none can block.
fn looks_outside(plan: &RunPlan) -> bool {
    plan.workers.iter().any(|worker| {
        let targets = worker.engine.def.targets;
        targets.are_files() || targets.are_remote() || worker.spec.replay.is_set()
    })
}

/// Runs a step of the preparation: in a thread of its own if it may block.
fn step<M: Send + 'static, T: Send + 'static>(
    may_block: bool,
    requests: &mut Requests,
    observer: &mut dyn RunObserver,
    turn: impl FnMut(Option<M>, &mut Requests, &mut dyn RunObserver),
    task: impl FnOnce(&Station<M, T>) -> T + Send + 'static,
) -> Result<T, Stuck> {
    if may_block { interruptible(requests, observer, turn, task) } else { Ok(at_once(requests, observer, turn, task)) }
}

/// The first clone of each job.
fn firsts(plan: &RunPlan) -> impl Iterator<Item = &WorkerPlan> {
    plan.workers.iter().filter(|worker| worker.clone_index == 0)
}

/// Surveys what the workers will use, and converts sizes given as numbers of zones into bytes.
pub(super) fn survey(
    plan: &mut Arc<RunPlan>,
    settings: &RunSettings,
    clock: &Clock,
    requests: &mut Requests,
    observer: &mut dyn RunObserver,
) -> Result<MachineSurvey, Stuck> {
    sizes_in_bytes(plan, requests, observer)?;
    let (plan, settings, clock) = (Arc::clone(plan), settings.clone(), clock.clone());
    let skips_facts = settings.control.skips_evidence;
    step(
        looks_outside(&plan) || !skips_facts,
        requests,
        observer,
        |_, _, _| (),
        move |station: &Station<(), _>| {
            let look_at = |index| station.work_for(index);
            let facts = || provenance::collect(&probed(&plan.workers), &settings.command_line, &clock, &look_at);
            MachineSurvey {
                facts: if skips_facts { Provenance::default() } else { facts() },
                refusal: guard::check_devices(&plan.workers, &look_at),
                trees: firsts(&plan).flat_map(files::tell_trees).collect(),
            }
        },
    )
}

enum LayoutEvent {
    Event(RunEvent),
    Prepared(usize, Result<FileSet, Failure>),
}

/// Lays out the files of all workers that want this before the start, one after another. A request to end the run ends
/// this too; a requested report shows the time since the layout began.
pub(super) fn prepare_workers(
    plan: &Arc<RunPlan>,
    settings: &RunSettings,
    records: &mut [SupervisedWorker],
    requests: &mut Requests,
    observer: &mut dyn RunObserver,
) -> Result<(), Stuck> {
    let is_early = |index: &usize| {
        let layout = &plan.workers[*index].spec.layout;
        layout.create_serialize || layout.create_only
    };
    let early: Vec<usize> = (0..plan.workers.len()).filter(is_early).collect();
    if early.is_empty() {
        return Ok(());
    }
    let started_at = Instant::now();
    let mut preparation =
        Preparation { plan, settings, timed_requests: timed_requests(settings, started_at), started_at, records };
    let (its_plan, readonly, trace) = (Arc::clone(plan), settings.readonly, settings.trace);
    step(
        looks_outside(plan),
        requests,
        observer,
        |step, requests, observer| preparation.take(step, requests, observer),
        move |station: &Station<LayoutEvent, ()>| {
            let mut zones = ZoneRegistry::new(its_plan.workers.len());
            let in_vain = Cell::new(Duration::ZERO);
            for index in early {
                station.work_for(index);
                let (worker, mut tell) = (&its_plan.workers[index], |event| station.tell(LayoutEvent::Event(event)));
                let is_over = || station.is_over();
                trace.tell(TraceGroup::Process, &mut tell, || "pid=0: runstate NOT_CREATED -> SETTING_UP".to_owned());
                // A command before the job may make its state.
                let may_come = worker.spec.surroundings.exec_prerun.is_some();
                let state = if may_come { Ok(()) } else { check_state(worker) };
                let set = state.and_then(|()| {
                    layout::prepare(
                        worker,
                        Some(&mut zones),
                        readonly,
                        trace,
                        &mut tell,
                        SetupWait { stop: &is_over, in_vain: &in_vain },
                    )
                });
                trace.tell(TraceGroup::Process, &mut tell, || "pid=0: runstate SETTING_UP -> NOT_CREATED".to_owned());
                station.tell(LayoutEvent::Prepared(index, set));
            }
        },
    )?;
    for (worker, record) in plan.workers.iter().zip(records) {
        if worker.spec.layout.create_only {
            record.status = WorkerStatus::Ended;
        }
    }
    Ok(())
}

/// Begins all probes, and reports those that cannot begin. On virtual time there is nothing to measure.
pub(super) fn start_probes(
    plan: &Arc<RunPlan>,
    settings: &RunSettings,
    records: &[SupervisedWorker],
    requests: &mut Requests,
    observer: &mut dyn RunObserver,
) -> Result<Probes, Stuck> {
    if settings.is_virtual {
        return Ok(Probes::default());
    }
    let paths = |record: &SupervisedWorker| {
        record.files.iter().flat_map(|set| &set.files).map(|file| file.path.clone()).collect()
    };
    let laid_out = records.iter().map(|record| (!record.has_failed()).then(|| paths(record)));
    let laid_out: Vec<Option<Vec<PathBuf>>> = laid_out.collect();
    let may_block = looks_outside(plan) || !settings.control.skips_evidence || settings.control.idle.is_some();
    let (plan, control) = (Arc::clone(plan), settings.control.clone());
    let task = move |station: &Station<(), _>| {
        let (workers, look_at) = (probed(&plan.workers), |index| station.work_for(index));
        let (devices, look_at) = (&plan.facts.devices, &look_at);
        Probes::start(&Site { workers: &workers, laid_out: &laid_out, devices, control: &control, look_at })
    };
    let (probes, problems) = step(may_block, requests, observer, |_, _, _| (), task)?;
    for problem in problems {
        observer.event(RunEvent::Message(MessageStream::Error, problem));
    }
    Ok(probes)
}

/// The file of a message that a file which holds data is made longer.
fn grown_file(event: &RunEvent) -> Option<&LaidOver> {
    match event {
        RunEvent::Message(_, Note::File(FileNote::LaidOver { file, .. })) => Some(file),
        _ => None,
    }
}

/// The timed requests before the jobs: without the time of the trigger, which counts from their start.
pub(super) fn timed_requests(settings: &RunSettings, now: Instant) -> TimedRequests {
    let trigger = Trigger { timeout: None, ..settings.control.trigger.clone() };
    TimedRequests::new(&ControlSettings { trigger, ..settings.control.clone() }, now)
}

struct Preparation<'a> {
    plan: &'a RunPlan,
    settings: &'a RunSettings,
    timed_requests: TimedRequests,
    started_at: Instant,
    records: &'a mut [SupervisedWorker],
}

impl Preparation<'_> {
    /// The file held data before the run. A file that one clone has made, and another one makes longer (`offset_increment`), holds nothing of a user.
    fn is_told(&self, file: &LaidOver) -> bool {
        let has_made = |set: &FileSet| {
            set.n_laid_out == set.files.len() as u64
                && set.files.iter().any(|made| made.path.display().to_string() == file.path)
        };
        !self.settings.grows_shared_files
            && !self.records.iter().filter_map(|record| record.files.as_ref()).any(has_made)
    }

    fn take(&mut self, step: Option<LayoutEvent>, requests: &mut Requests, observer: &mut dyn RunObserver) {
        match step {
            None => {}
            Some(LayoutEvent::Event(event)) if grown_file(&event).is_some_and(|file| !self.is_told(file)) => {}
            Some(LayoutEvent::Event(event)) => observer.event(event),
            Some(LayoutEvent::Prepared(index, Ok(set))) => {
                self.records[index].zones = set.zones.clone();
                self.records[index].n_laid_out = Some(set.n_laid_out);
                self.records[index].laid_over =
                    set.laid_over.iter().filter(|file| self.is_told(file)).cloned().collect();
                self.records[index].files = Some(set);
            }
            // The watch ends workers that wait for their start.
            Some(LayoutEvent::Prepared(_, Err(error))) if error.is_stopped() => {}
            Some(LayoutEvent::Prepared(index, Err(error))) => {
                record::setup_failed(&mut self.records[index], error, observer);
            }
        }
        let due = self.timed_requests.take_due(Instant::now());
        if due.trigger {
            requests.trigger();
        }
        if requests.take_report() || due.status {
            self.report(observer);
        }
    }

    fn report(&self, observer: &mut dyn RunObserver) {
        // The run's devices are not known yet.
        let moment = Moment {
            now: Instant::now(),
            elapsed: self.started_at.elapsed(),
            eta_secs: None,
            evidence: Evidence::default(),
        };
        let record = outcome::snapshot(self.plan, self.settings, self.records, &moment);
        observer.event(RunEvent::Status(Box::new(record)));
    }
}

/// Descriptors that a process of the run may need: two for each worker, the files of the worker that opens most at
/// once, those of all threads that share a table, the logs, and some for the rest.
pub(super) fn n_descriptors(plan: &RunPlan, records: &[SupervisedWorker]) -> u64 {
    let (mut n_most, mut n_shared, mut n_logs) = (0, 0, 0);
    for (worker, record) in plan.workers.iter().zip(records) {
        let target = &worker.spec.target;
        let n_named = u64::from(target.nrfiles).max(target.filenames.len() as u64);
        let n_files = record.files.as_ref().map_or(n_named, |set| set.files.len() as u64);
        let n_open = if target.openfiles == 0 { n_files } else { n_files.min(target.openfiles.into()) };
        n_most = n_open.max(n_most);
        n_logs += logs::files(worker).len() as u64;
        if worker.spec.worker.thread && worker.engine.def.sharing.has_library_threads() {
            n_shared += n_open;
        }
    }
    plan.workers.len() as u64 * 2 + 512 + n_most + n_shared + n_logs
}
