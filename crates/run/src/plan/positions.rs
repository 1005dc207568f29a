//! Positions of streams that several workers move together (`shared_stream`), in memory that all processes of the run share.
//!
//! Must not know: what the blocks are. Start reading at [`Positions::new`].

use crate::error::RunError;
use ferrio_spec::JobSpec;
use ferrio_sys::SharedMemory;
use ferrio_workload::{BlockCounter, CommonPosition};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The positions of a run, by the names of their streams.
#[derive(Debug, Default)]
pub struct Positions(BTreeMap<String, CommonPosition>);

/// A single entry: the number of the next block.
#[derive(Debug)]
struct SharedCounter(SharedMemory<AtomicU64>);

impl BlockCounter for SharedCounter {
    fn take(&self) -> u64 {
        self.0[0].fetch_add(1, Ordering::Relaxed)
    }
}

impl Positions {
    /// A position for each stream that jobs share.
    ///
    /// # Errors
    /// Two jobs share a stream and have different blocks, or there is no memory.
    pub(super) fn new(jobs: &[JobSpec]) -> Result<Self, RunError> {
        let mut positions = BTreeMap::new();
        for (index, job) in jobs.iter().enumerate() {
            let Some(name) = &job.grouping.shared_stream else { continue };
            let first = jobs[..index].iter().find(|other| other.grouping.shared_stream == job.grouping.shared_stream);
            if first.is_some_and(|first| !has_same_blocks(first, job)) {
                return Err(RunError::SharedStream { job: job.name.clone(), stream: name.clone() });
            }
            if !positions.contains_key(name) {
                positions.insert(name.clone(), CommonPosition(Arc::new(SharedCounter(SharedMemory::new(1)?))));
            }
        }
        Ok(Self(positions))
    }

    /// The position of a job; `None`: it shares none.
    pub(crate) fn of(&self, job: &JobSpec) -> Option<CommonPosition> {
        self.0.get(job.grouping.shared_stream.as_ref()?).cloned()
    }
}

/// True if all that decides on the blocks is alike. Each such job has one file, one direction and one block size.
fn has_same_blocks(one: &JobSpec, other: &JobSpec) -> bool {
    let blocks = |job: &JobSpec| {
        let direction =
            job.pattern.mix.directions().iter().find(|(_, is_used)| **is_used).map(|(direction, _)| direction);
        direction.map(|direction| job.pattern.block_size[direction].min_bytes)
    };
    let limits = |job: &JobSpec| (job.limits.time_based, job.limits.loops);
    one.target.filenames == other.target.filenames
        && one.target.directories == other.target.directories
        && (&one.extent.size, &one.extent.offset) == (&other.extent.size, &other.extent.offset)
        && blocks(one) == blocks(other)
        && limits(one) == limits(other)
}
