//! Preparation of a worker before its first I/O: its process or thread, its engine, its buffers, its streams.
//!
//! Must not know: loops. Start reading at [`adopt_settings`], then [`core`].

use super::core::{Buffers, WorkerCore};
use super::stream_plan::workload_plan;
use super::surroundings;
use crate::compat;
use crate::engine_notes;
use crate::error::{Failure, engine_failure, errno_of, failure};
use crate::events::MessageStream;
use crate::files::{FilePlan, FileSet, named_paths};
use crate::link::context::WorkerContext;
use crate::link::trace::{self, TraceGroup};
use crate::plan::{WorkerPlan, limit_ios};
use crate::worker::hooks::debug_trace::{io_trace, traced};
use crate::worker::hooks::locks::{lock_files, path_numbers};
use crate::worker::loops::work_in_turns::{NoIo, WorkInTurns};
use crate::worker::verify::allowed;
use crate::worker::verify::trims::has_trims;
use crate::zones::reset_zones;
use ferrio_engine::offload::Offload;
use ferrio_engine::{
    CommandFacts, Engine, EngineError, EngineSetup, EngineWork, JobFacts, JobSyncs, Prepare, PrepareTurns, Prepared,
    TargetFacts, TurnsSetup,
};
use ferrio_spec::{CpuPolicy, RateProcess, WorkerSpec, ZoneSpec};
use ferrio_stats::Note;
use ferrio_stats::note::{During, ReplayNote, RunNote, StreamFault};
use ferrio_sys::errno::{EINVAL, ENOENT, ENOMEM};
use ferrio_sys::limits::{LockedMemory, Resource, raise_limit};
use ferrio_sys::scheduling;
use ferrio_sys::system_info::memory_bytes;
use ferrio_sys::{Arena, ArenaKind, ArenaRequest, process};
use ferrio_units::DataDirection;
use ferrio_units::random::{SeedIndex, Taus88};
use ferrio_workload::contents::{self, BufferContents};
use ferrio_workload::debug_trace::{DrawWatch, Draws};
use ferrio_workload::replay::ReplayPlan;
use ferrio_workload::shape::Shape;
use ferrio_workload::{Workload, WorkloadError};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Timer slack of a job with a rate, ns: the time by which the kernel may delay the end of a sleep.
const TIMER_SLACK_NS: u64 = 1_000;

/// Memory that `lockmem` leaves unlocked, bytes. Source: reference, the option table.
const UNLOCKED_BYTES: u64 = 128 << 20;

/// Descriptors of a worker beside those for its files and threads.
const N_OTHER_DESCRIPTORS: u64 = 64;

/// Sets identity, CPUs and priorities. The result has to live as long as the worker.
pub(super) fn adopt_settings(
    worker: &WorkerPlan,
    context: &WorkerContext<'_>,
) -> Result<Option<LockedMemory>, Failure> {
    let spec = &worker.spec.worker;
    let step = |step: &'static str| {
        move |error: ferrio_sys::Error| {
            failure!(errno_of(&error), step).explained(Note::system(During::Nothing, &error))
        }
    };
    if let Some(group) = spec.gid {
        process::set_group_id(group).map_err(step("setgid"))?;
    }
    if let Some(user) = spec.uid {
        process::set_user_id(user).map_err(step("setuid"))?;
    }
    if let Some(name) = &spec.comm {
        process::set_comm(name).map_err(step("comm"))?;
    }
    if let Some(cpus) = &spec.cpus_allowed {
        let cpus: Vec<u32> = cpus.iter().copied().filter(|cpu| !worker.shared.reserved_cpus.contains(cpu)).collect();
        if cpus.is_empty() && !worker.shared.reserved_cpus.is_empty() {
            return Err(no_cpu_left(worker));
        }
        scheduling::set_cpu_affinity(&cpus_of(spec, &cpus, worker.thread_number)).map_err(step("cpu_set_affinity"))?;
    }
    surroundings::adopt_numa(&worker.spec.surroundings).map_err(step("numa"))?;
    leave_reserved_cpus(worker)?;
    let locked = match lockable_bytes(spec.lockmem_bytes, context) {
        0 => None,
        bytes => Some(LockedMemory::new(bytes as usize).map_err(step("lockmem"))?),
    };
    if worker.has_io_priority() {
        scheduling::set_io_priority(worker.io_priority()).map_err(step("ioprio_set"))?;
    }
    if spec.nice != 0 {
        let present = scheduling::nice().unwrap_or(0);
        scheduling::set_nice(present + spec.nice).map_err(step("nice"))?;
    }
    Ok(locked)
}

/// The part of `lockmem` that leaves the machine enough memory to work.
fn lockable_bytes(wanted_bytes: u64, context: &WorkerContext<'_>) -> u64 {
    let most_bytes = most_lockable_bytes(memory_bytes());
    if wanted_bytes <= most_bytes {
        return wanted_bytes;
    }
    context.say(MessageStream::Info, RunNote::LockedMemoryIsLimited { bytes: most_bytes });
    most_bytes
}

fn most_lockable_bytes(memory_bytes: u64) -> u64 {
    memory_bytes.saturating_sub(UNLOCKED_BYTES)
}

/// Leaves the CPUs of `gtod_cpu` of all jobs to their use.
fn leave_reserved_cpus(worker: &WorkerPlan) -> Result<(), Failure> {
    if worker.shared.reserved_cpus.is_empty() {
        return Ok(());
    }
    let failed = |error: ferrio_sys::Error| {
        failure!(errno_of(&error), "cpu_set_affinity")
            .explained(Note::system(During::Option("gtod_cpu".into()), &error))
    };
    let mut cpus = scheduling::cpu_affinity().map_err(failed)?;
    cpus.retain(|cpu| !worker.shared.reserved_cpus.contains(cpu));
    if cpus.is_empty() {
        return Err(no_cpu_left(worker));
    }
    scheduling::set_cpu_affinity(&cpus).map_err(failed)
}

fn no_cpu_left(worker: &WorkerPlan) -> Failure {
    failure!(EINVAL, "cpu_set_affinity").explained(RunNote::NoCpuLeft { job: worker.spec.name.clone() })
}

fn cpus_of(spec: &WorkerSpec, cpus: &[u32], thread_number: u32) -> Vec<u32> {
    match spec.cpus_allowed_policy {
        CpuPolicy::Split if !cpus.is_empty() => vec![cpus[(thread_number as usize - 1) % cpus.len()]],
        _ => cpus.to_vec(),
    }
}

/// Makes the parts that every I/O uses, and the work of a job that moves no data.
pub(super) fn core<'a>(
    plan: &'a WorkerPlan,
    replay: Option<ReplayPlan>,
    set: &FileSet,
    shape: Shape,
    context: &'a WorkerContext<'a>,
) -> Result<(Box<WorkerCore<'a>>, Option<WorkInTurns<'a>>), Failure> {
    let block_bytes = usize::try_from(plan.max_block_bytes()).unwrap_or(usize::MAX);
    let arena = buffers(plan, block_bytes)?;
    let draws = Draws::default();
    let (engine, work): (Box<dyn Engine + 'a>, _) = match plan.engine.work {
        EngineWork::Io(prepare) => (engine(plan, prepare, set, (&arena, block_bytes), &draws, context)?, None),
        EngineWork::Turns(prepare) => (Box::new(NoIo), Some(turns(plan, prepare, set, &draws, context)?)),
    };
    let workload = workload(plan, replay, (set, shape), draws, context)?;
    let buffers = Buffers { arena, block_bytes, contents: contents(plan, set) };
    Ok((WorkerCore::boxed(plan, context, set, (workload, engine, buffers)), work))
}

/// Makes the stream of I/Os; also whether it has to wait for times.
fn workload(
    worker: &WorkerPlan,
    replay: Option<ReplayPlan>,
    (set, shape): (&FileSet, Shape),
    draws: Draws,
    context: &WorkerContext<'_>,
) -> Result<Workload, Failure> {
    if let Some(replay) = replay {
        let _ = scheduling::set_timer_slack_ns(TIMER_SLACK_NS);
        allowed::check_trace(worker, set)?;
        let workload = Workload::replay(replay);
        let workload = workload.map(|workload| if has_trims(worker) { workload.interleaved() } else { workload });
        return workload.map_err(|error| failure!(EINVAL, "read_iolog").explained(ReplayNote::Broken((&error).into())));
    }
    if worker.engine.def.moves_nothing() {
        let has_pauses = worker.spec.pace.pauses.is_set() || worker.spec.pace.flow.weight > 0;
        return Ok(Workload::turns(limit_ios(worker), has_pauses));
    }
    allowed::check(worker, set, shape)?;
    let (plan, pace) = (workload_plan(worker, set, shape), &worker.spec.pace);
    let has_pace = pace.limits_rates() || pace.pauses.is_set() || pace.flow.weight > 0;
    // Writes are read back without rates.
    let is_paced = has_pace && !worker.spec.is_verify_only();
    let tells_rates = context.tracer.has(TraceGroup::Rate) && pace.process == RateProcess::Poisson;
    let tells_outputs = context.tracer.has(TraceGroup::Random) && trace::has_outputs(worker);
    let watch = (tells_rates || tells_outputs).then(|| DrawWatch::new(&plan, draws, tells_rates));
    let workload = if is_paced { Workload::paced(plan, pace) } else { Workload::new(plan) };
    if is_paced {
        // If this fails, waits spin for longer and are just as exact.
        let _ = scheduling::set_timer_slack_ns(TIMER_SLACK_NS);
    }
    let workload = match watch {
        Some(watch) => workload.map(|workload| workload.traced(watch)),
        None => workload,
    };
    let workload = workload.map(|workload| if has_trims(worker) { workload.interleaved() } else { workload });
    workload.map_err(|WorkloadError(fault)| {
        let failure = match fault {
            StreamFault::RandomMap { .. } | StreamFault::Lfsr { .. } => failure!(ENOMEM, "init_random_map"),
            _ => failure!(EINVAL, "random_distribution"),
        };
        failure.explained(Note::Stream { job: worker.spec.name.clone(), fault })
    })
}

/// The call that fails for want of memory of a kind, as fio names it.
fn memory_step(kind: &ArenaKind, errno: i32) -> &'static str {
    match kind {
        ArenaKind::Malloc => "malloc",
        ArenaKind::Nameless => "memfd_create",
        ArenaKind::Shm if errno == ENOMEM => "shmat",
        ArenaKind::Shm | ArenaKind::ShmHuge => "shmget",
        ArenaKind::Mmap(Some(_)) | ArenaKind::MmapShared(Some(_)) | ArenaKind::MmapHuge(Some(_)) if errno == ENOENT => {
            "open mmap file"
        }
        ArenaKind::Mmap(_) | ArenaKind::MmapShared(_) | ArenaKind::MmapHuge(_) => "mmap",
    }
}

/// Makes the buffer area: room for the largest block for each unit, filled once.
fn buffers(worker: &WorkerPlan, block_bytes: usize) -> Result<Rc<RefCell<Arena>>, Failure> {
    let spec = &worker.spec.buffers;
    let iodepth = worker.queue().iodepth as usize;
    let is_shared = worker.engine.def.forms.has_shared_buffers && spec.memory == ArenaKind::Malloc;
    let request = ArenaRequest {
        kind: if is_shared { ArenaKind::Nameless } else { spec.memory.clone() },
        size_bytes: block_bytes.saturating_mul(iodepth),
        offset_bytes: spec.align_bytes as usize,
        hugepage_bytes: spec.hugepage_bytes as usize,
    };
    let mut arena = Arena::new(&request).map_err(|error| {
        let errno = errno_of(&error);
        failure!(errno, memory_step(&request.kind, errno)).explained(Note::system(During::Nothing, &error))
    })?;
    let mut stream = Taus88::from_table(&worker.seeds, SeedIndex::Buffer);
    if worker.writes() {
        for unit in 0..iodepth {
            let buffer = arena.slice_mut(unit * block_bytes, block_bytes);
            match compat::unchecked_pattern(worker) {
                Some(pattern) => contents::fill_with(buffer, pattern),
                None => contents::fill_first(buffer, spec, &mut stream),
            }
        }
    } else {
        arena.touch();
    }
    Ok(Rc::new(RefCell::new(arena)))
}

/// The treatment of buffers before writes.
fn contents(worker: &WorkerPlan, set: &FileSet) -> BufferContents {
    BufferContents::new(&worker.spec.buffers, &worker.contents_plan(set.size_bytes), &worker.seeds)
}

/// The engine behind a pool of threads.
fn offload(
    worker: &WorkerPlan,
    prepare: Prepare,
    set: &FileSet,
    context: &WorkerContext<'_>,
) -> Result<Result<Offload, EngineError>, Failure> {
    if let Some(why) = ferrio_engine::offload::refusal(&worker.engine.def) {
        let name = worker.engine.def.name;
        let note = RunNote::NoOffload { engine: name.to_owned(), why: why.to_string() };
        return Err(failure!(EINVAL, "init").explained(note));
    }
    let pool = Offload::new(worker.engine.def.name, prepare, worker.engine_options());
    let Some(space) = context.board.overlaps().filter(|_| worker.waits_for_other_jobs()) else { return Ok(pool) };
    let n_threads = u64::from(worker.queue().iodepth);
    raise_limit(Resource::Nofile, set.files.len() as u64 + n_threads + N_OTHER_DESCRIPTORS);
    let lockers: ferrio_sys::Result<_> = (0..n_threads).map(|_| space.locker()).collect();
    let lockers = lockers.map_err(|error| {
        failure!(errno_of(&error), "serialize_overlap")
            .explained(Note::system(During::Option("serialize_overlap".into()), &error))
    })?;
    Ok(pool.map(|pool| pool.excluding(lockers, &path_numbers(set))))
}

/// Facts about the job that an engine may need.
fn job_facts(worker: &WorkerPlan) -> JobFacts {
    let (used, durability) = (worker.used_directions(), &worker.spec.durability);
    JobFacts {
        name: worker.spec.name.clone(),
        runtime_us: Some(worker.spec.limits.runtime_us).filter(|us| *us > 0),
        clone_index: worker.clone_index,
        reads: used[DataDirection::Read],
        writes: used[DataDirection::Write],
        trims: used[DataDirection::Trim],
        is_random: worker.spec.pattern.random,
        is_verified: worker.spec.verify.is_some(),
        invalidates: worker.spec.layout.invalidate,
        syncs: JobSyncs { mode: durability.sync, at_end: durability.end_fsync || durability.fsync_on_close },
        targets: Vec::new(),
        commands: CommandFacts {
            placement: worker.spec.target.placement.clone(),
            ranges_per_trim: worker.spec.extent.ranges_per_trim,
            punches_holes: !compat::refuses_trims_of_files(worker),
        },
        has_zones: matches!(worker.spec.zones, ZoneSpec::Sequential(_)),
        block_bytes: worker.used_block_ranges().map(|range| (range.min_bytes, range.max_bytes)).collect(),
        filename: if worker.spec.target.filenames.is_empty() {
            None
        } else {
            named_paths(worker).first().map(|path| path.to_string_lossy().into_owned())
        },
    }
}

/// The files of a job, where the engine has to know all of them before it opens one.
fn targets(worker: &WorkerPlan, set: &FileSet) -> Vec<TargetFacts> {
    let targets = worker.engine.def.targets;
    if !targets.are_served_files() && !targets.are_remote() {
        return Vec::new();
    }
    let facts = |file: &FilePlan| TargetFacts {
        path: file.path.clone(),
        end_bytes: file.start_bytes.saturating_add(file.length_bytes),
    };
    set.files.iter().map(facts).collect()
}

/// Fails if the job asks its engine for something that it cannot do.
fn check_abilities(worker: &WorkerPlan) -> Result<(), Failure> {
    if worker.spec.durability.atomic && !worker.engine.def.forms.has_atomic_writes {
        let note = RunNote::NotAtomic { engine: worker.engine.def.name.to_owned() };
        return Err(failure!(EINVAL, "init").explained(note));
    }
    if worker.spec.durability.end_syncfs && !worker.engine.def.has_syncfs {
        let note = RunNote::NoSyncfs { job: worker.spec.name.clone() };
        return Err(failure!(EINVAL, "init").explained(note));
    }
    Ok(())
}

/// Fails where the engine of a worker cannot be made, such as for want of its library. The engine starts nothing and asks no server.
pub(crate) fn check_engine(worker: &WorkerPlan) -> Result<(), Failure> {
    let failed = |error: EngineError| engine_failure!(error, "init");
    match worker.engine.work {
        EngineWork::Turns(prepare) => prepare(&worker.engine_options()).map(|_| ()).map_err(failed),
        EngineWork::Io(prepare) => {
            check_abilities(worker)?;
            prepare(&worker.engine_options()).map(|_| ()).map_err(failed)
        }
    }
}

fn engine<'a>(
    worker: &WorkerPlan,
    prepare: Prepare,
    set: &FileSet,
    (arena, block_bytes): (&Rc<RefCell<Arena>>, usize),
    draws: &Draws,
    context: &WorkerContext<'a>,
) -> Result<Box<dyn Engine + 'a>, Failure> {
    check_abilities(worker)?;
    let failed = |error: EngineError| engine_failure!(error, "init");
    let prepared: Box<dyn Prepared> = if worker.offloads() {
        Box::new(offload(worker, prepare, set, context)?.map_err(failed)?)
    } else {
        prepare(&worker.engine_options()).map_err(failed)?
    };
    let setup = EngineSetup {
        iodepth: worker.queue().iodepth,
        max_block_bytes: block_bytes,
        arena: Rc::clone(arena),
        n_files: set.files.len() as u32,
        direct: worker.spec.durability.direct,
        atomic: worker.spec.durability.atomic,
        clock: context.clock.clone(),
        seed: worker.seeds.get(SeedIndex::Offset),
        job: JobFacts { targets: targets(worker, set), ..job_facts(worker) },
    };
    let mut engine: Box<dyn Engine + 'a> = prepared.start(setup).map_err(failed)?;
    if !set.zones.is_empty() && worker.used_directions()[DataDirection::Trim] {
        engine = reset_zones(engine, set.zones.tables().to_vec());
    }
    let engine = lock_files(worker, set, context.board, engine)?;
    Ok(traced(engine, worker, set, context.tracer, draws))
}

/// Makes and starts the engine of a job that moves no data.
fn turns<'a>(
    worker: &WorkerPlan,
    prepare: PrepareTurns,
    set: &FileSet,
    draws: &Draws,
    context: &WorkerContext<'a>,
) -> Result<WorkInTurns<'a>, Failure> {
    let failed = |error: EngineError| engine_failure!(error, "init");
    let prepared = prepare(&worker.engine_options()).map_err(failed)?;
    let job = job_facts(worker);
    for remark in prepared.introduction(&job) {
        context.say(MessageStream::Info, engine_notes::told(&job.name, &worker.engine.def, remark));
    }
    let setup = TurnsSetup {
        clock: context.clock.clone(),
        seed: worker.seeds.get(SeedIndex::Offset),
        job,
        kept: Arc::clone(context.kept),
    };
    let engine = prepared.start(setup).map_err(failed)?;
    Ok(WorkInTurns { engine, trace: io_trace(worker, set, context.tracer, draws) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_memory_leaves_128_mib() {
        assert_eq!(most_lockable_bytes(8 << 30), (8 << 30) - (128 << 20));
        assert_eq!(most_lockable_bytes(64 << 20), 0);
    }
}
