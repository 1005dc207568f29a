//! What the ETA line is made from: a look at a running run.
//!
//! Must not know: formats, how an ETA is found. Start reading at [`EtaSnapshot`].

use ferrio_units::PerDirection;

/// The bounds that jobs set to their own rate, summed over the jobs that run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EtaLimits {
    /// `rate_min` and `rate`, when any job has one of them.
    BytesPerSec {
        /// Sum of `rate_min`.
        min: u64,
        /// Sum of `rate`.
        max: u64,
    },
    /// `rate_iops_min` and `rate_iops`, when any job has one of them and none the others.
    Ios {
        /// Sum of `rate_iops_min`.
        min: u64,
        /// Sum of `rate_iops`.
        max: u64,
    },
}

/// State of a running run at one instant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EtaSnapshot {
    /// Jobs that run, those in their ramp time included.
    pub n_running: u32,
    /// Files that they have open; those of jobs in their ramp time do not count.
    pub n_open_files: u64,
    /// Their rate limits, if any.
    pub limits: Option<EtaLimits>,
    /// An ETA is known or has been waited for long enough (3 s): show what follows.
    pub shows_progress: bool,
    /// A letter for the state of each job, in job order: `P` not started, `C` created, `I` setting up, `p` pre-reading,
    /// `/` ramp, `R r` sequential and random read, `W w` write, `M m` mixed, `D d` trim, `V` verifying, `F` syncing,
    /// `f` finishing, `E` exited, `_` reaped, `X` reaped with an error, `K` killed.
    pub states: Vec<char>,
    /// Elapsed time in percent of elapsed and remaining time; `None` when it is not known.
    pub percent_done: Option<f64>,
    /// No job does what counts: all are in their ramp time or before it, and rates mean nothing yet.
    pub only_ramps: bool,
    /// Bandwidth since the last look, bytes per second.
    pub bytes_per_sec: PerDirection<u64>,
    /// I/Os per second since the last look.
    pub ios_per_sec: PerDirection<u64>,
    /// Seconds left; `None` when they are not known.
    pub eta_secs: Option<u64>,
    /// `kb_base` of the first job: 1024 or 1000.
    pub kb_base: u32,
    /// Bits instead of bytes (`unit_base` of the first job).
    pub unit_bits: bool,
}
