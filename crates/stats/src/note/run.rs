//! Remarks and refusals of a run and of the set-up of its jobs.
//!
//! Must not know: words. Start reading at [`RunNote`].

use serde::{Deserialize, Serialize};

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
