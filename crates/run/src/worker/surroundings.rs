//! The surroundings of a job in the kernel: NUMA nodes, control group, scheduler of its devices.
//!
//! Must not know: loops. Start reading at [`adopt_numa`], [`enter_group`], [`set_scheduler`].
//! Facts: reference "Environment options".

use crate::error::{Failure, errno_of, failure};
use crate::events::MessageStream;
use crate::files::FileSet;
use crate::link::context::WorkerContext;
use crate::plan::WorkerPlan;
use ferrio_spec::SurroundingsSpec;
use ferrio_stats::Note;
use ferrio_stats::note::{During, RunNote};
use ferrio_sys::block_device::BlockDevice;
use ferrio_sys::cgroup::Hierarchy;
use ferrio_sys::errno::EINVAL;
use ferrio_sys::numa;
use ferrio_sys::{process, scheduling};
use ferrio_units::NumaMemory;
use std::path::Path;

/// Sets `numa_cpu_nodes`, which wins over `cpus_allowed`, and `numa_mem_policy`.
pub(super) fn adopt_numa(spec: &SurroundingsSpec) -> ferrio_sys::Result<()> {
    if let Some(nodes) = &spec.numa_cpu_nodes {
        let cpus = nodes.iter().map(|node| numa::cpus_of(*node)).collect::<ferrio_sys::Result<Vec<_>>>()?.concat();
        scheduling::set_cpu_affinity(&cpus)?;
    }
    match &spec.numa_memory {
        // The default: memory comes from where the system takes it anyway.
        None | Some(NumaMemory::Default) => Ok(()),
        Some(policy) => numa::set_memory_policy(policy),
    }
}

/// `cgroup`: makes the group if it does not exist, and enters it. The worker leaves it by ending; the supervisor
/// removes it.
pub(super) fn enter_group(plan: &WorkerPlan) -> Result<(), Failure> {
    let spec = &plan.spec.surroundings.cgroup;
    let Some(name) = &spec.name else { return Ok(()) };
    let Ok(groups) = Hierarchy::find() else {
        return Err(failure!(EINVAL, "cgroup").explained(RunNote::NoControlGroups));
    };
    let failed = |error: ferrio_sys::Error| {
        failure!(errno_of(&error), "cgroup").explained(Note::system(During::Nothing, &error))
    };
    let refused = |note: RunNote| Err(failure!(EINVAL, "cgroup").explained(note));
    let job = plan.spec.name.clone();
    if groups.is_v2 && plan.spec.worker.thread {
        return refused(RunNote::ThreadInControlGroup { job });
    }
    groups.create(name).map_err(failed)?;
    match spec.weight {
        Some(_) if groups.is_v2 => return refused(RunNote::NoControlGroupWeight { job }),
        Some(weight) => groups.set_weight(name, weight).map_err(failed)?,
        None => {}
    }
    let task = if groups.is_v2 { process::process_id() } else { process::thread_id() };
    groups.enter(name, task.as_raw_nonzero().get() as u32).map_err(failed)
}

/// `ioscheduler`: sets the scheduler of the devices of the job's files. It stays after the job, and `compat` decides
/// whether it stays after the run.
pub(super) fn set_scheduler(plan: &WorkerPlan, set: &FileSet, context: &WorkerContext<'_>) -> Result<(), Failure> {
    let Some(scheduler) = &plan.spec.surroundings.ioscheduler else { return Ok(()) };
    if !plan.engine.def.targets.are_files() {
        return Ok(());
    }
    let mut seen: Vec<String> = Vec::new();
    for file in &set.files {
        let failed = |error: ferrio_sys::Error| {
            let is_open = matches!(&error, ferrio_sys::Error::Call { operation: "open", .. });
            let step = if is_open { "fopen iosched" } else { "iosched_switch" };
            let note = Note::system(During::Scheduler(scheduler.clone()), &error);
            failure!(errno_of(&error), step).explained(note)
        };
        let Some(device) = device_of(&file.path).map_err(failed)? else { continue };
        if seen.contains(&device.name) {
            continue;
        }
        if !device.set_scheduler(scheduler).map_err(failed)? {
            context.say(MessageStream::Info, RunNote::NoSchedulers { device: device.name.clone() });
        }
        seen.push(device.name);
    }
    Ok(())
}

/// The block device of a file, if it is on one. A file that does not exist yet will be on the device of its directory.
pub(crate) fn device_of(path: &Path) -> ferrio_sys::Result<Option<BlockDevice>> {
    let mut places = path.ancestors().filter(|place| !place.as_os_str().is_empty());
    BlockDevice::behind_path(places.find(|place| place.exists()).unwrap_or(".".as_ref()))
}
