//! The number of workers that a machine can carry, looked at before any of them is made.
//!
//! Must not know: the work of workers. Start reading at [`check`].

use crate::error::{RunError, TooManyJobs};
use ferrio_spec::JobSpec;
use ferrio_sys::limits::{Resource, soft_limit};
use ferrio_sys::process_limits::ProcessLimit;
use ferrio_sys::system_info::memory_bytes;

/// Memory that a worker takes at least, also before it starts and when it has ended: more than 3,200 bytes were counted.
const BYTES_A_WORKER: u64 = 3 << 10;
/// Memory that a worker takes at least while it is a thread: 90 KiB were counted.
const BYTES_A_THREAD: u64 = 64 << 10;
/// Memory that a worker takes at least while it is a process: 360 KiB were counted.
const BYTES_A_PROCESS: u64 = 256 << 10;

/// So many workers are made without a look at the limits, which costs each start some system calls.
const FEW: u64 = 256;

#[derive(Debug, Clone, Copy)]
struct WorkerRoom {
    memory_bytes: u64,
    /// Memory that this process may take.
    own_bytes: u64,
    processes: Option<ProcessLimit>,
}

/// Workers that are there at the same time, or at all.
#[derive(Debug, Clone, Copy, Default)]
struct WorkerLoad {
    n_threads: u64,
    n_processes: u64,
}

impl WorkerLoad {
    fn of_job(job: &JobSpec) -> Self {
        let n_workers = u64::from(job.numjobs);
        if job.worker.thread {
            Self { n_threads: n_workers, n_processes: 0 }
        } else {
            Self { n_threads: 0, n_processes: n_workers }
        }
    }

    fn add(&mut self, other: Self) {
        self.n_threads += other.n_threads;
        self.n_processes += other.n_processes;
    }

    fn n_workers(self) -> u64 {
        self.n_threads + self.n_processes
    }
}

/// Refuses more workers than this machine can carry for sure. Fewer may still be too many, which the system says when they start.
pub(super) fn check(jobs: &[JobSpec]) -> Result<(), RunError> {
    if jobs.iter().map(|job| u64::from(job.numjobs)).sum::<u64>() <= FEW {
        return Ok(());
    }
    let memory_bytes = memory_bytes();
    let own_bytes = soft_limit(Resource::As).unwrap_or(u64::MAX).min(memory_bytes);
    check_in(jobs, WorkerRoom { memory_bytes, own_bytes, processes: ProcessLimit::find() })
        .map_err(RunError::TooManyJobs)
}

fn check_in(jobs: &[JobSpec], room: WorkerRoom) -> Result<(), TooManyJobs> {
    let mut all = WorkerLoad::default();
    let mut together = WorkerLoad::default();
    for job in jobs {
        let load = WorkerLoad::of_job(job);
        all.add(load);
        check_memory(all.n_workers(), BYTES_A_WORKER, room.own_bytes)?;
        if job.grouping.stonewall {
            together = WorkerLoad::default();
        }
        if job.grouping.wait_for.is_some() || job.limits.startdelay_us.1 > 0 {
            // Its clones need not be there together with those of other jobs, or with each other.
            continue;
        }
        together.add(load);
        if let Some(ProcessLimit { n_processes, setting }) = room.processes
            && together.n_workers() > n_processes
        {
            return Err(TooManyJobs::Processes { n_jobs: together.n_workers(), limit: n_processes, setting });
        }
        check_memory(together.n_threads, BYTES_A_THREAD, room.own_bytes)?;
        check_memory(together.n_processes, BYTES_A_PROCESS, room.memory_bytes)?;
    }
    Ok(())
}

fn check_memory(n_jobs: u64, bytes_a_job: u64, limit_bytes: u64) -> Result<(), TooManyJobs> {
    let needed_bytes = n_jobs.saturating_mul(bytes_a_job);
    if needed_bytes <= limit_bytes {
        return Ok(());
    }
    Err(TooManyJobs::Memory { n_jobs, needed_bytes, limit_bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: WorkerRoom = WorkerRoom {
        memory_bytes: 16 << 30,
        own_bytes: 4 << 30,
        processes: Some(ProcessLimit { n_processes: 100_000, setting: "kernel.pid_max" }),
    };

    fn jobs(all: &[(u32, bool)]) -> Vec<JobSpec> {
        let job = |(numjobs, thread): &(u32, bool)| {
            let mut job = JobSpec { numjobs: *numjobs, ..JobSpec::default() };
            job.worker.thread = *thread;
            job
        };
        all.iter().map(job).collect()
    }

    #[test]
    fn each_limit_is_heeded() {
        use TooManyJobs::{Memory, Processes};
        let ids = |n_jobs| Some(Processes { n_jobs, limit: 100_000, setting: "kernel.pid_max" });
        let memory = |n_jobs, a_job, limit_bytes| Some(Memory { n_jobs, needed_bytes: n_jobs * a_job, limit_bytes });
        for (given, expected) in [
            (&[(65_536, false)][..], None),
            (&[(65_536, true)], None),
            (&[(65_537, false)], memory(65_537, BYTES_A_PROCESS, 16 << 30)),
            (&[(65_537, true)], memory(65_537, BYTES_A_THREAD, 4 << 30)),
            (&[(50_000, true), (50_000, false)], None),
            (&[(50_000, true), (50_001, false)], ids(100_001)),
            (&[(2_000_000, false)], memory(2_000_000, BYTES_A_WORKER, 4 << 30)),
        ] {
            assert_eq!(check_in(&jobs(given), ROOM).err(), expected, "{given:?}");
        }
    }

    #[test]
    fn jobs_that_follow_each_other_share_the_room() {
        let mut both = jobs(&[(60_000, false), (60_000, false)]);
        assert!(check_in(&both, ROOM).is_err());
        both[1].grouping.stonewall = true;
        assert!(check_in(&both, ROOM).is_ok());
        both[1].grouping.stonewall = false;
        both[1].grouping.wait_for = Some("a".to_owned());
        assert!(check_in(&both, ROOM).is_ok());
    }

    #[test]
    fn an_unknown_limit_is_none() {
        let room = WorkerRoom { processes: None, memory_bytes: u64::MAX, own_bytes: u64::MAX };
        assert!(check_in(&jobs(&[(1_000_000, false)]), room).is_ok());
    }
}
