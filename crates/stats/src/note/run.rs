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
        /// Name of the job.
        job: String,
        /// Time for which it was waited for.
        limit_secs: u64,
    },
    /// A job did not end and is ended by force.
    EndedByForce {
        /// Name of the job.
        job: String,
        /// Number of its state.
        state: u32,
        /// Time for which it was waited for.
        limit_secs: u64,
    },
    /// A signal ends the run.
    EndsBySignal {
        /// The signal.
        number: i32,
    },
    /// A job ended without sending results.
    NoResults,
    /// A job never started its I/O.
    NeverStarted,
    /// Logs are given up because they cannot be completed.
    LogsStuck,
    /// A log cannot be opened.
    LogNotOpened {
        /// Its path.
        path: String,
        /// The answer.
        errno: i32,
    },
    /// The thread that writes logs has died.
    LogThreadDied,
    /// Words in the ring of a log that are no record.
    LogIsBroken {
        /// Number of words.
        n_words: usize,
    },
    /// `lockmem` would leave no memory for the machine.
    LockedMemoryIsLimited {
        /// Bytes that are locked.
        bytes: u64,
    },
    /// `gtod_cpu` takes the last CPU of a job.
    NoCpuLeft {
        /// Name of the job.
        job: String,
    },
    /// `io_submit_mode=offload` with an engine that does not support it.
    NoOffload {
        /// Name of the engine.
        engine: String,
        /// The reason.
        why: String,
    },
    /// `atomic` with an engine that does not support it.
    NotAtomic {
        /// Name of the engine.
        engine: String,
    },
    /// `cgroup` on a machine without the hierarchy.
    NoControlGroups,
    /// A thread would have to enter a group of cgroup2.
    ThreadInControlGroup {
        /// Name of the job.
        job: String,
    },
    /// `cgroup_weight` on a machine with cgroup2.
    NoControlGroupWeight {
        /// Name of the job.
        job: String,
    },
    /// `end_syncfs` with an engine that does not support it.
    NoSyncfs {
        /// Name of the job.
        job: String,
    },
    /// `block_error_percentiles` for more blocks than can be kept.
    TooManyBlockStates {
        /// Name of the job.
        job: String,
        /// Number of blocks that can be kept.
        limit: u64,
    },
    /// The job waits for the other end of its connection.
    AwaitsConnection,
    /// A job is connected to its server.
    Connected {
        /// Kind of the server.
        server: String,
    },
    /// The other end has not connected within the runtime.
    NoConnection {
        /// Name of the job.
        job: String,
    },
    /// The server has not answered the last I/Os of a job that ends: they are given up.
    NoAnswer {
        /// Name of the job.
        job: String,
    },
    /// A trace needs too much memory for buffers.
    TooManyBuffers {
        /// Number of buffers.
        depth: u32,
        /// Length of each.
        buffer_bytes: u64,
    },
    /// A command of a job begins (`exec_prerun`, `exec_postrun`).
    SavesOutput {
        /// Name of the job.
        job: String,
        /// `prerun`, `postrun`.
        kind: Cow<'static, str>,
        /// File for its output.
        path: String,
    },
    /// `exec_prerun` has failed, and its job does no I/O.
    PrerunFailed {
        /// Name of the job.
        job: String,
        /// Its end, in the form of `wait(2)`.
        wait_status: i32,
    },
    /// `ioscheduler` for a device without schedulers.
    NoSchedulers {
        /// Name of the device.
        device: String,
    },
    /// An option names a clock that does not exist.
    NoSuchClock {
        /// The option.
        option: String,
        /// Number of the clock.
        id: u32,
    },
}
