//! Data for the ETA line: a snapshot of a running run.
//!
//! Must not know: formats, how an ETA is computed. Start reading at [`EtaSnapshot`].

use ferrio_units::PerDirection;

/// Limits that jobs set to their own rate, summed over the running jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EtaLimits {
    /// `rate_min` and `rate`, if any job has one of them.
    BytesPerSec {
        /// Sum of `rate_min`.
        min: u64,
        /// Sum of `rate`.
        max: u64,
    },
    /// `rate_iops_min` and `rate_iops`, if any job has one of them and none has the others.
    Ios {
        /// Sum of `rate_iops_min`.
        min: u64,
        /// Sum of `rate_iops`.
        max: u64,
    },
}

/// State of a run at a certain time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EtaSnapshot {
    /// Number of running jobs, including those in their ramp time.
    pub n_running: u32,
    /// Number of files that they have open, without jobs in their ramp time.
    pub n_open_files: u64,
    /// Their rate limits, if any.
    pub limits: Option<EtaLimits>,
    /// An ETA is known, or 3 s have passed without one: the following fields are shown.
    pub shows_progress: bool,
    /// A letter for the state of each job, in job order: `P` not started, `C` created, `I` setting up, `p` pre-reading,
    /// `/` ramp, `R r` sequential and random read, `W w` write, `M m` mixed, `D d` trim, `V` verifying, `F` syncing,
    /// `f` finishing, `E` exited, `_` reaped, `X` reaped with an error, `K` killed.
    pub states: Vec<char>,
    /// Elapsed time in percent of elapsed and remaining time; `None` if unknown.
    pub percent_done: Option<f64>,
    /// No job does counted I/O: all are in their ramp time or before it, so rates mean nothing yet.
    pub only_ramps: bool,
    /// Bandwidth since the last snapshot, bytes per second.
    pub bytes_per_sec: PerDirection<u64>,
    /// I/Os per second since the last snapshot.
    pub ios_per_sec: PerDirection<u64>,
    /// Latency of 99 % of the I/Os since the last snapshot, nanoseconds; `None` where it is not shown, as in fio.
    pub p99_ns: Option<u64>,
    /// Seconds left; `None` if unknown.
    pub eta_secs: Option<u64>,
    /// `kb_base` of the first job: 1024 or 1000.
    pub kb_base: u32,
    /// Rates are shown in bits (`unit_base` of the first job).
    pub unit_bits: bool,
}
