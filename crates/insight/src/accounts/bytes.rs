//! Bytes of a job on their way: what it has counted, what the kernel has done for it, what each level of devices below has moved.
//!
//! Excess tells as much as lack: a journal that writes data twice, parts of blocks that are read before they are written. Must not know: causes. Start
//! reading at [`account`].

use crate::audit_input::{AuditInput, AuditedJob, is_in_memory, sum};
use crate::stack::Level;
use ferrio_spec::engines::{Data, Measures};
use ferrio_stats::{BytesAccount, LevelBytes, WorkerIo};
use ferrio_units::DataDirection;

/// The bytes that a job has read and those that it has written.
pub(crate) fn account(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Vec<BytesAccount> {
    if job.engine.is_device_of_its_own() {
        return moved_nowhere(job, "has no storage");
    }
    // It allocates or shortens files.
    if job.engine.measures == Measures::Ios && job.engine.data == Data::Untouched && job.has_files() {
        return moved_nowhere(job, "moves no data");
    }
    if !job.has_files() || !job.moves_data() {
        return Vec::new();
    }
    [DataDirection::Read, DataDirection::Write]
        .into_iter()
        .filter_map(|direction| of_direction(case, job, direction))
        .collect()
}

/// The bytes of the engine are numbers.
fn moved_nowhere(job: &AuditedJob<'_>, why: &str) -> Vec<BytesAccount> {
    let account = |direction: DataDirection| {
        let figures = job.figures(direction)?;
        Some(BytesAccount {
            direction: direction.name().to_owned(),
            n_ios: figures.n_completed,
            bytes: figures.bytes,
            kernel_bytes: Some(0),
            levels: Vec::new(),
            unseen: Some(format!("the engine {} {why}", job.engine.name)),
        })
    };
    [DataDirection::Read, DataDirection::Write].into_iter().filter_map(account).collect()
}

fn of_direction(case: &AuditInput<'_>, job: &AuditedJob<'_>, direction: DataDirection) -> Option<BytesAccount> {
    let figures = job.figures(direction)?;
    let levels = case.levels(job);
    let is_shared = |level: &Level<'_>| {
        let mut others =
            case.jobs.iter().filter(|other| other.index != job.index && other.figures(direction).is_some());
        others.any(|other| case.levels(other).iter().any(|its| !its.is_disjoint(level)))
    };
    let level = |level: &Level<'_>| {
        Some(LevelBytes {
            devices: level.iter().map(|&name| name.to_owned()).collect(),
            bytes: case.level_bytes(level, direction)?,
            n_requests: requests(case, level, direction),
            is_shared: is_shared(level),
        })
    };
    let all: Vec<LevelBytes> = levels.iter().map_while(level).collect();
    // The devices have counted what the job did before its figures began.
    let has_left_out = leaves_out(job) && all.iter().any(|level| level.bytes > figures.bytes);
    let known = if has_left_out { Vec::new() } else { all };
    let is_memory = !job.places.is_empty() && job.places.iter().all(is_in_memory);
    let unseen = match () {
        () if is_memory => Some("the files are in memory".to_owned()),
        () if has_left_out => Some("the devices have counted the ramp, or the search for a depth, too".to_owned()),
        () if known.is_empty() => Some("the devices below are not known, or are not counted".to_owned()),
        () => None,
    };
    let kernel_bytes =
        if direction == DataDirection::Read { job.own_reads(case).map(|own| own.least) } else { written(case, job) };
    Some(BytesAccount {
        direction: direction.name().to_owned(),
        n_ios: figures.n_completed,
        bytes: figures.bytes,
        kernel_bytes,
        levels: known,
        unseen,
    })
}

/// The figures of the job are those of a part of its work.
fn leaves_out(job: &AuditedJob<'_>) -> bool {
    let limits = &job.spec.limits;
    limits.ramp_time_us > 0 || limits.ramp_bytes > 0 || job.spec.latency.target_us > 0
}

/// Requests that the devices of a level have done; `None`: not counted for all of them.
fn requests(case: &AuditInput<'_>, level: &Level<'_>, direction: DataDirection) -> Option<u64> {
    let disks = case.record.disks()?;
    let index = usize::from(direction != DataDirection::Read);
    let of_device = |name: &&str| Some(disks.iter().find(|disk| disk.name == **name)?.counters.ios[index]);
    Some(sum(level.iter().map(of_device).collect::<Option<Vec<u64>>>()?))
}

/// Bytes that the kernel has written for a job, or will; `None`: not known of all its clones.
fn written(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<u64> {
    let accounts = &case.record.evidence.process_io.as_ref()?.workers;
    let of_worker = |number: u32| {
        let account: Option<&WorkerIo> = accounts.iter().find(|account| account.number == number);
        Some(account?.counters.value()?.write_bytes)
    };
    let all: Option<Vec<u64>> = job.workers.iter().map(|worker| of_worker(worker.number)).collect();
    all.filter(|all| !all.is_empty()).map(sum)
}
