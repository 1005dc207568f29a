//! What a worker does before its first I/O: its process or thread, its engine, its buffers, its streams.
//!
//! Must not know: loops. Start reading at [`adopt_settings`], then [`buffers`].

use super::verify_trims::has_trims;
use super::{WorkerContext, WorkerMessage, surroundings, verify_writes};
use crate::error::{JobError, errno_of, job_error};
use crate::events::Stream;
use crate::files::FileSet;
use crate::locks::{lock_files, path_numbers};
use crate::plan::{WorkerPlan, workload_plan};
use crate::trace::{TraceGroup, told};
use crate::zones::reset_zones;
use ferrio_engine::offload::Offload;
use ferrio_engine::{Engine, EngineError, EngineSetup};
use ferrio_job::spec::{BufferMemory, CpuPolicy, VerifyForm, WorkerSpec};
use ferrio_sys::limits::{LockedMemory, Resource, raise_limit};
use ferrio_sys::scheduling;
use ferrio_sys::system_info::memory_bytes;
use ferrio_sys::{Arena, ArenaKind, ArenaRequest, process};
use ferrio_units::DataDirection;
use ferrio_units::random::{SeedIndex, Taus88};
use ferrio_workload::command_priority::CommandPriorities;
use ferrio_workload::contents::{self, BufferContents};
use ferrio_workload::replay::ReplayPlan;
use ferrio_workload::{Workload, WorkloadError};
use std::cell::RefCell;
use std::rc::Rc;

/// How late sleeps of a job that keeps a rate may end for the comfort of the kernel, ns.
const TIMER_SLACK_NS: u64 = 1_000;

/// Memory that `lockmem` leaves unlocked, bytes. Source: reference, the option table.
const UNLOCKED_BYTES: u64 = 128 << 20;

/// Descriptors of a worker beside those of its files and its threads.
const N_OTHER_DESCRIPTORS: u64 = 64;

/// Identity, CPUs, priorities. What is returned has to live as long as the worker.
pub(super) fn adopt_settings(
    worker: &WorkerPlan,
    context: &WorkerContext<'_>,
) -> Result<Option<LockedMemory>, JobError> {
    let spec = &worker.spec.worker;
    let step = |step: &'static str| {
        move |error: ferrio_sys::Error| job_error!(errno_of(&error), step).explained(format!("fio: {error}"))
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
        let cpus: Vec<u32> = cpus.iter().copied().filter(|cpu| !worker.reserved_cpus.contains(cpu)).collect();
        if cpus.is_empty() && !worker.reserved_cpus.is_empty() {
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

/// What of `lockmem` leaves the machine some memory to go on with.
fn lockable_bytes(wanted_bytes: u64, context: &WorkerContext<'_>) -> u64 {
    let most_bytes = most_lockable_bytes(memory_bytes());
    if wanted_bytes <= most_bytes {
        return wanted_bytes;
    }
    let note = format!("fio: limiting mlocked memory to {}MiB", most_bytes >> 20);
    (context.send)(&WorkerMessage::Text(Stream::Info, note));
    most_bytes
}

fn most_lockable_bytes(memory_bytes: u64) -> u64 {
    memory_bytes.saturating_sub(UNLOCKED_BYTES)
}

/// `gtod_cpu`, of whichever job of the run.
fn leave_reserved_cpus(worker: &WorkerPlan) -> Result<(), JobError> {
    if worker.reserved_cpus.is_empty() {
        return Ok(());
    }
    let failed = |error: ferrio_sys::Error| {
        job_error!(errno_of(&error), "cpu_set_affinity").explained(format!("fio: gtod_cpu: {error}"))
    };
    let mut cpus = scheduling::cpu_affinity().map_err(failed)?;
    cpus.retain(|cpu| !worker.reserved_cpus.contains(cpu));
    if cpus.is_empty() {
        return Err(no_cpu_left(worker));
    }
    scheduling::set_cpu_affinity(&cpus).map_err(failed)
}

fn no_cpu_left(worker: &WorkerPlan) -> JobError {
    let text = format!("fio: {}: gtod_cpu leaves it no CPU to run on", worker.spec.name);
    job_error!(22, "cpu_set_affinity").explained(text)
}

fn cpus_of(spec: &WorkerSpec, cpus: &[u32], thread_number: u32) -> Vec<u32> {
    match spec.cpus_allowed_policy {
        CpuPolicy::Split if !cpus.is_empty() => vec![cpus[(thread_number as usize - 1) % cpus.len()]],
        _ => cpus.to_vec(),
    }
}

/// What the worker will issue, and whether it has to wait for its time.
pub(super) fn workload(worker: &WorkerPlan, replay: Option<ReplayPlan>, set: &FileSet) -> Result<Workload, JobError> {
    if let Some(replay) = replay {
        let _ = scheduling::set_timer_slack_ns(TIMER_SLACK_NS);
        verify_writes::check_trace(worker, set)?;
        let workload = Workload::replay(replay);
        let workload = workload.map(|workload| if has_trims(worker) { workload.attended() } else { workload });
        return workload.map_err(|error| job_error!(22, "read_iolog").explained(error.to_string()));
    }
    verify_writes::check(worker, set)?;
    let (plan, pace) = (workload_plan(worker, set), &worker.spec.pace);
    let has_pace = pace.limits_rates() || pace.pauses.is_set() || pace.flow.weight > 0;
    // What was written is read back without rates.
    let is_paced = has_pace && !worker.spec.is_verify_only();
    let workload = if is_paced { Workload::paced(plan, pace) } else { Workload::new(plan) };
    if is_paced {
        // Without it the waits are spun for longer, and are as exact.
        let _ = scheduling::set_timer_slack_ns(TIMER_SLACK_NS);
    }
    let workload = workload.map(|workload| if has_trims(worker) { workload.attended() } else { workload });
    workload.map_err(|error| {
        let failure = match error {
            WorkloadError::RandomMap { .. } | WorkloadError::Lfsr { .. } => job_error!(12, "init_random_map"),
            _ => job_error!(22, "random_distribution"),
        };
        failure.explained(format!("fio: {}: {error}", worker.spec.name))
    })
}

/// The draws of priorities, if any I/O has one of its own.
pub(super) fn priorities(worker: &WorkerPlan) -> Option<CommandPriorities> {
    let pattern = &worker.spec.pattern;
    let reseeds_each_pass = pattern.randrepeat && pattern.randseed.is_none();
    CommandPriorities::new(&worker.spec.engine.command_priority, &worker.seeds, reseeds_each_pass)
}

/// The buffer area: a part of the largest block for each unit, filled once.
pub(super) fn buffers(worker: &WorkerPlan, block_bytes: usize) -> Result<Rc<RefCell<Arena>>, JobError> {
    let spec = &worker.spec.buffers;
    let iodepth = worker.queue().iodepth as usize;
    let request = ArenaRequest {
        kind: arena_kind(&spec.memory),
        size_bytes: block_bytes.saturating_mul(iodepth),
        offset_bytes: spec.align_bytes as usize,
        hugepage_bytes: spec.hugepage_bytes as usize,
    };
    let mut arena = Arena::new(&request)
        .map_err(|error| job_error!(errno_of(&error), "iomem allocation").explained(format!("fio: {error}")))?;
    let mut stream = Taus88::from_table(&worker.seeds, SeedIndex::Buffer);
    if worker.writes() {
        for unit in 0..iodepth {
            let buffer = arena.slice_mut(unit * block_bytes, block_bytes);
            match unchecked_pattern(worker) {
                Some(pattern) => contents::fill_with(buffer, pattern),
                None => contents::fill_first(buffer, spec, &mut stream),
            }
        }
    } else {
        arena.touch();
    }
    Ok(Rc::new(RefCell::new(arena)))
}

/// The pattern of a job that checks nothing: as seen on fio 3.33, that is what its buffers hold until they are filled anew.
fn unchecked_pattern(worker: &WorkerPlan) -> Option<&[u8]> {
    let content = &worker.spec.verify.as_ref()?.content;
    let pattern = content.pattern.as_ref().filter(|_| content.method.def().form == VerifyForm::Nothing)?;
    Some(&pattern.bytes)
}

/// What buffers are filled with before writes.
pub(super) fn contents(worker: &WorkerPlan, set: &FileSet) -> BufferContents {
    BufferContents::new(&worker.spec.buffers, &worker.contents_plan(set), &worker.seeds)
}

fn arena_kind(memory: &BufferMemory) -> ArenaKind {
    match memory {
        BufferMemory::Malloc => ArenaKind::Malloc,
        BufferMemory::Shm => ArenaKind::Shm,
        BufferMemory::ShmHuge => ArenaKind::ShmHuge,
        BufferMemory::Mmap(file) => ArenaKind::Mmap(file.clone()),
        BufferMemory::MmapShared(file) => ArenaKind::MmapShared(file.clone()),
        BufferMemory::MmapHuge(file) => ArenaKind::MmapHuge(file.clone()),
    }
}

/// The engine as a pool of threads.
fn offload(
    worker: &WorkerPlan,
    set: &FileSet,
    context: &WorkerContext<'_>,
) -> Result<Result<Offload, EngineError>, JobError> {
    if let Some(why) = ferrio_engine::offload::refusal(worker.engine) {
        let name = worker.engine.name;
        let text = format!("fio: option io_submit_mode: engine {name} cannot be used with offload: {why}");
        return Err(job_error!(22, "init").explained(text));
    }
    let pool = Offload::new(worker.engine, worker.engine_options());
    let Some(space) = context.board.overlaps().filter(|_| worker.waits_for_other_jobs()) else { return Ok(pool) };
    let n_threads = u64::from(worker.queue().iodepth);
    raise_limit(Resource::Nofile, set.files.len() as u64 + n_threads + N_OTHER_DESCRIPTORS);
    let lockers: ferrio_sys::Result<_> = (0..n_threads).map(|_| space.locker()).collect();
    let lockers = lockers.map_err(|error| {
        job_error!(errno_of(&error), "serialize_overlap").explained(format!("fio: serialize_overlap: {error}"))
    })?;
    Ok(pool.map(|pool| pool.excluding(lockers, &path_numbers(set))))
}

/// The engine, started.
pub(super) fn engine<'a>(
    worker: &WorkerPlan,
    set: &FileSet,
    arena: &Rc<RefCell<Arena>>,
    block_bytes: usize,
    context: &WorkerContext<'a>,
) -> Result<Box<dyn Engine + 'a>, JobError> {
    if worker.spec.durability.atomic && !worker.engine.supports_atomic {
        let message = format!("fio: option atomic: engine {} cannot write atomically", worker.engine.name);
        return Err(job_error!(22, "init").explained(message));
    }
    if worker.spec.durability.end_syncfs && !worker.engine.supports_syncfs {
        let message = format!("{}: I/O engine does not support syncfs", worker.spec.name);
        return Err(job_error!(22, "init").explained(message));
    }
    let failed = |error: EngineError| job_error!(error.errno(), "init").explained(format!("fio: {error}"));
    let mut engine: Box<dyn Engine> = if worker.offloads() {
        Box::new(offload(worker, set, context)?.map_err(failed)?)
    } else {
        (worker.engine.create)(&worker.engine_options()).map_err(failed)?
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
    };
    engine.start(setup).map_err(failed)?;
    if !set.zones.is_empty() && worker.used_directions()[DataDirection::Trim] {
        engine = reset_zones(engine, set.zones.tables().to_vec());
    }
    let engine = lock_files(worker, set, context.board, engine)?;
    if context.trace.has(TraceGroup::Io, worker.thread_number) {
        return Ok(told(engine, context.send));
    }
    Ok(engine)
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
