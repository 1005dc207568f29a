//! The places that this host's jobs will use, for the coordinator, which compares them with those of the other hosts before anything is
//! written; and the part of this host where files are divided.
//!
//! Files may be on a server that does not answer: they are looked at in a thread of its own, which nobody waits for once the coordinator
//! has gone. Must not know: other hosts. Start reading at [`found`].

use super::link::CoordinatorLink;
use super::refusal::WorkRefusal;
use ferrio_run::Handle;
use ferrio_run::places::{HostSlice, partitioned, places_of_jobs};
use ferrio_spec::{Compatibility, RunSpec};
use ferrio_stats::{HostPlaces, PartitionedRange};
use ferrio_sys::system_info::boot_id;
use std::fs;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Time between two looks whether the coordinator still waits.
const LOOK: Duration = Duration::from_millis(50);

/// The work of this host, as it was found out.
pub(super) struct FoundWork {
    /// The jobs as this host runs them.
    pub(super) jobs: RunSpec,
    pub(super) places: HostPlaces,
    /// The hosts will make the files that they divide.
    pub(super) makes_parts: bool,
}

/// The jobs as this host runs them, and their places; `None`: the run does not take place.
///
/// # Errors
/// The jobs cannot be planned or divided.
pub(super) fn found(
    jobs: RunSpec,
    rank: u32,
    n_parts: Option<u32>,
    handle: &Handle,
    link: &CoordinatorLink,
) -> Result<Option<FoundWork>, WorkRefusal> {
    let (done, all) = mpsc::channel();
    let its_handle = handle.clone();
    let slice = n_parts.map(|n_slices| HostSlice { index: rank, n_slices });
    let thread = std::thread::Builder::new().name("ferrio-places".to_owned());
    let thread = thread.spawn(move || {
        let _ = done.send(look(jobs, slice, &|| its_handle.is_stopping()));
    })?;
    loop {
        match all.recv_timeout(LOOK) {
            Ok(found) => {
                // Jobs are forked later, and the thread must not be there then.
                let _ = thread.join();
                return found.map(Some);
            }
            Err(RecvTimeoutError::Disconnected) => return Err(WorkRefusal::Places),
            Err(RecvTimeoutError::Timeout) if link.is_over() || handle.is_stopping() => return Ok(None),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn look(jobs: RunSpec, slice: Option<HostSlice>, stop: &dyn Fn() -> bool) -> Result<FoundWork, WorkRefusal> {
    let jobs = RunSpec { compatibility: Compatibility::Native, ..jobs };
    // The coordinator has left that to each host.
    let absent = jobs.jobs.iter().flat_map(|job| &job.target.directories).find(|directory| !directory.is_dir());
    if let Some(directory) = absent {
        return Err(WorkRefusal::NoDirectory(directory.clone()));
    }
    let (jobs, partitioned) = match slice {
        Some(slice) => partitioned(jobs, slice, stop)?,
        None => (jobs, Vec::new()),
    };
    let places = places_of_jobs(jobs.clone(), stop)?;
    let holds_data =
        |part: &PartitionedRange| fs::metadata(&part.path).is_ok_and(|about| about.is_file() && about.len() > 0);
    let makes_parts = !partitioned.is_empty() && !partitioned.iter().any(holds_data);
    Ok(FoundWork { jobs, places: HostPlaces { machine: boot_id(), places, partitioned }, makes_parts })
}
