//! Provenance of a run's figures: the facts about machine, storage and jobs that every result carries.
//!
//! Must not know: formats. Start reading at [`collect`]; files, file systems and devices are in `storage`. It costs
//! about 0.3 ms once a run, because each device and file system is looked at once, however many jobs use it.

mod limits;
mod storage;

pub(in crate::evidence) use limits::io_limits;

use crate::evidence::ProbedWorker;
use ferrio_spec::secret::without_secrets;
use ferrio_stats::Provenance;
use ferrio_stats::provenance::{ClockFacts, CpuFacts, JobOptions};
use ferrio_sys::clock::{CPU_COUNTER, kernel_clock_source};
use ferrio_sys::scheduling::{cpu_affinity, format_cpu_list};
use ferrio_sys::system_info::{SystemInfo, cpu_model, memory_bytes};
use ferrio_sys::{Clock, ClockKind};
use storage::StorageFacts;

/// Collects the facts about the machine and about the storage of all workers' files, before these are laid out.
/// `look_at` is called with the index of each worker before its files are looked at. The facts about the jobs are not included.
pub(crate) fn collect(
    workers: &[ProbedWorker<'_>],
    command_line: &[String],
    clock: &Clock,
    look_at: &dyn Fn(usize),
) -> Provenance {
    let info = SystemInfo::read();
    let storage = StorageFacts::of_workers(workers, look_at);
    let memory_bytes = memory_bytes();
    let secrets: Vec<_> = workers.iter().flat_map(|worker| worker.spec.engine.secrets()).cloned().collect();
    Provenance {
        ferrio_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: without_secrets(command_line, &secrets),
        from_environment: Vec::new(),
        late_globals: Vec::new(),
        obstacles: Vec::new(),
        cpu: cpu_facts(&info),
        host_name: info.host_name,
        kernel_release: info.kernel_release,
        architecture: info.architecture,
        memory_bytes,
        limits: limits::collect(&storage.devices, memory_bytes),
        clock: clock_facts(clock),
        file_systems: storage.file_systems,
        devices: storage.devices,
        jobs: Vec::new(),
    }
}

/// The facts of a run together with the options of its jobs.
pub(crate) fn with_jobs(facts: &Provenance, workers: &[ProbedWorker<'_>]) -> Box<Provenance> {
    let jobs = workers.chunk_by(|worker, next| worker.job_index == next.job_index).map(job_options).collect();
    Box::new(Provenance { jobs, ..facts.clone() })
}

fn cpu_facts(info: &SystemInfo) -> CpuFacts {
    let allowed = cpu_affinity().unwrap_or_default();
    CpuFacts {
        model: cpu_model(),
        n_online: info.n_online_cpus,
        n_allowed: allowed.len() as u32,
        allowed: format_cpu_list(&allowed),
    }
}

fn clock_facts(clock: &Clock) -> ClockFacts {
    let source = match clock.kind() {
        ClockKind::CpuCounter => CPU_COUNTER,
        ClockKind::Monotonic => "monotonic",
        ClockKind::Virtual => "virtual",
    };
    ClockFacts { source: source.to_owned(), kernel_source: kernel_clock_source(), look_ns: look_ns(clock) }
}

/// Time of one look at the clock: the least of a few tries, because others may have the CPU in between.
fn look_ns(clock: &Clock) -> Option<u64> {
    const N_LOOKS: u64 = 64;
    const N_TRIES: u32 = 4;
    let one_try = |_| {
        let first = clock.stamp();
        let last = (0..N_LOOKS).fold(first, |_, _| clock.stamp());
        clock.between_ns(first, last) / N_LOOKS
    };
    (0..N_TRIES).map(one_try).min().filter(|_| clock.kind() != ClockKind::Virtual)
}

/// Options of a job, from its clones, of which there is at least one.
fn job_options(clones: &[ProbedWorker<'_>]) -> JobOptions {
    let first = &clones[0];
    JobOptions {
        name: first.spec.name.clone(),
        group: first.group_index,
        first_number: first.number,
        n_clones: clones.len() as u32,
        options: Some(Box::new(first.spec.clone())),
    }
}
