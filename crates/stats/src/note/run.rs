//! Remarks and refusals of a run and of the set-up of its jobs.
//!
//! Must not know: words. Start reading at [`RunNote`].

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A remark or a refusal of a run, or of the set-up of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RunNote {
    /// `iodepth` above 1 with an engine that does one I/O at a time.
    DepthIsCapped,
    /// Clones verify files that other clones write.
    ClonesOverwrite,
    /// The writes of a job that ends only by time are never read back.
    NeverReadsBack,
    /// A job did not end after the second signal.
    Stuck {
        job: String,
        /// Time for which it was waited for.
        limit_secs: u64,
    },
    /// A job did not end and is ended by force.
    EndedByForce {
        job: String,
        state: u32,
        /// Time for which it was waited for.
        limit_secs: u64,
    },
    EndsBySignal {
        number: i32,
    },
    /// A job ended without sending results.
    NoResults,
    /// A job never started its I/O.
    NeverStarted,
    /// Logs are given up because they cannot be completed.
    LogsStuck,
    LogNotOpened {
        path: String,
        errno: i32,
    },
    LogThreadDied,
    /// Words in the ring of a log that are no record.
    LogIsBroken {
        n_words: usize,
    },
    /// `lockmem` would leave no memory for the machine.
    LockedMemoryIsLimited {
        bytes: u64,
    },
    /// `gtod_cpu` takes the last CPU of a job.
    NoCpuLeft {
        job: String,
    },
    /// `io_submit_mode=offload` with an engine that does not support it.
    NoOffload {
        engine: String,
        why: String,
    },
    /// `atomic` with an engine that does not support it.
    NotAtomic {
        engine: String,
    },
    /// `cgroup` on a machine without the hierarchy.
    NoControlGroups,
    /// A thread would have to enter a group of cgroup2.
    ThreadInControlGroup {
        job: String,
    },
    /// `cgroup_weight` on a machine with cgroup2.
    NoControlGroupWeight {
        job: String,
    },
    /// `end_syncfs` with an engine that does not support it.
    NoSyncfs {
        job: String,
    },
    /// `block_error_percentiles` for more blocks than can be kept.
    TooManyBlockStates {
        job: String,
        /// Number of blocks that can be kept.
        limit: u64,
    },
    /// The job waits for the other end of its connection.
    AwaitsConnection,
    /// A job is connected to its server.
    Connected {
        server: String,
    },
    /// The other end has not connected within the runtime.
    NoConnection {
        job: String,
    },
    /// The server has not answered the last I/Os of a job that ends: they are given up.
    NoAnswer {
        job: String,
    },
    /// A trace needs too much memory for buffers.
    TooManyBuffers {
        depth: u32,
        /// Length of each.
        buffer_bytes: u64,
    },
    /// A command of a job begins (`exec_prerun`, `exec_postrun`).
    SavesOutput {
        job: String,
        /// `prerun`, `postrun`.
        kind: Cow<'static, str>,
        path: String,
    },
    /// `exec_prerun` has failed, and its job does no I/O.
    PrerunFailed {
        job: String,
        /// Its end, in the form of `wait(2)`.
        wait_status: i32,
    },
    /// `ioscheduler` for a device without schedulers.
    NoSchedulers {
        device: String,
    },
    /// An option names a clock that does not exist.
    NoSuchClock {
        option: String,
        id: u32,
    },
}
