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
    /// What a job writes for all of its time is never read back.
    NeverReadsBack,
    /// A job did not end after the second signal.
    Stuck {
        /// Name of the job.
        job: String,
        /// How long it was waited for.
        limit_secs: u64,
    },
    /// A job did not end and is ended by force.
    EndedByForce {
        /// Name of the job.
        job: String,
        /// Number of its state.
        state: u32,
        /// How long it was waited for.
        limit_secs: u64,
    },
    /// A job ended and handed over nothing.
    NoResults,
    /// A job was never let go.
    NeverStarted,
    /// Logs are given up that cannot be written to their end.
    LogsStuck,
    /// The thread that writes logs has died.
    LogThreadDied,
    /// Words of a log that are none of a record.
    LogIsBroken {
        /// How many.
        n_words: usize,
    },
    /// `lockmem` would leave the machine nothing.
    LockedMemoryIsLimited {
        /// What is locked.
        bytes: u64,
    },
    /// `gtod_cpu` takes the last CPU of a job.
    NoCpuLeft {
        /// Name of the job.
        job: String,
    },
    /// `io_submit_mode=offload` with an engine that cannot.
    NoOffload {
        /// Name of the engine.
        engine: String,
        /// Why it cannot.
        why: String,
    },
    /// `atomic` with an engine that cannot.
    NotAtomic {
        /// Name of the engine.
        engine: String,
    },
    /// `cgroup` without the hierarchy.
    NoControlGroups,
    /// A thread is to enter a group of cgroup2.
    ThreadInControlGroup {
        /// Name of the job.
        job: String,
    },
    /// `cgroup_weight` where the hierarchy is cgroup2.
    NoControlGroupWeight {
        /// Name of the job.
        job: String,
    },
    /// `end_syncfs` with an engine that cannot.
    NoSyncfs {
        /// Name of the job.
        job: String,
    },
    /// `block_error_percentiles` of more blocks than are kept.
    TooManyBlockStates {
        /// Name of the job.
        job: String,
        /// How many are kept.
        limit: u64,
    },
    /// Another end is waited for.
    AwaitsConnection,
    /// The other end has not come within the runtime.
    NoConnection {
        /// Name of the job.
        job: String,
    },
    /// The buffers that a trace asks for are too much.
    TooManyBuffers {
        /// How many.
        depth: u32,
        /// Bytes of each.
        buffer_bytes: u64,
    },
    /// A command of a job begins (`exec_prerun`, `exec_postrun`).
    SavesOutput {
        /// Name of the job.
        job: String,
        /// `prerun`, `postrun`.
        kind: Cow<'static, str>,
        /// Where what it prints goes.
        path: String,
    },
    /// `exec_prerun` has failed, and its job does no I/O.
    PrerunFailed {
        /// Name of the job.
        job: String,
        /// How it ended, in the form of `wait(2)`.
        wait_status: i32,
    },
    /// `ioscheduler` for a device without any.
    NoSchedulers {
        /// Name of the device.
        device: String,
    },
    /// A clock that an option names is none.
    NoSuchClock {
        /// The option.
        option: String,
        /// Number of the clock.
        id: u32,
    },
}
