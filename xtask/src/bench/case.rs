//! What a case is: what it runs on, what is counted, what has to be reached.
//!
//! Must not know: which cases there are (`cases.rs`). Start reading at [`Case`].

/// A case: options that both programs get, and goals.
pub(super) struct Case {
    /// Its name on the command line.
    pub(super) name: &'static str,
    /// What it shows.
    pub(super) about: &'static str,
    /// What it runs on.
    pub(super) target: Target,
    /// Options of both programs, parted by blanks; `{target}` stands for the path of the target.
    pub(super) options: &'static str,
    /// Options whose cost is the subject: both programs are also measured without them.
    pub(super) extra: &'static str,
    /// What is counted.
    pub(super) work: Work,
    /// Arguments of the bare loop that does the same, without the number of I/Os.
    pub(super) bare: Option<&'static str>,
    /// A program, with its arguments, that does the same without measuring: it runs once for each pair.
    pub(super) beside: Option<&'static str>,
    /// Peak memory of the whole process tree is measured too.
    pub(super) measures_memory: bool,
    /// What has to be reached.
    pub(super) goals: &'static [Goal],
}

impl Case {
    /// Name of the program beside it.
    pub(super) fn beside_name(&self) -> Option<&'static str> {
        self.beside?.split_whitespace().next()
    }

    /// I/Os that the long run does more than that with a quarter of them.
    pub(super) fn n_ios_beyond_quarter(&self) -> f64 {
        if let Work::Quarter { n_ios } = self.work { (n_ios - n_ios / 4) as f64 } else { 0.0 }
    }
}

/// What a case runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// Nothing: the engine moves no data.
    None,
    /// A file of 1 GiB on tmpfs, full of data.
    Tmpfs,
    /// A compressed RAM device of 2 GiB, never written: every page is read as zeroes without decompression, so that the
    /// device costs as little as a block device can.
    Zram,
    /// `/dev/zero`: reads and writes cost a system call and the clearing of memory.
    DevZero,
    /// A file of 1 GiB on the file system of temporary files, full of data.
    DiskFile,
    /// A loop device over such a file.
    Loop,
    /// A job file with 2,000 sections.
    JobFile,
    /// A directory for logs on the file system of temporary files.
    Directory,
    /// The same, but what is written to the logs of latencies of the first job goes nowhere: written pages of files
    /// would count as memory of the programs.
    NullLogs,
    /// A name on the file system of temporary files; what is there is removed before each run.
    NewFile,
}

/// What is counted.
#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    /// The I/Os between a run with a tenth of this number and one with all of it.
    PerIo {
        /// I/Os of the long run.
        n_ios: u64,
    },
    /// The same where a pass over the file has a fixed number of I/Os: of a run with a tenth of the passes and one with all.
    PerPass {
        /// Passes of the long run.
        n_passes: u64,
        /// I/Os of each.
        n_ios: u64,
    },
    /// The run as a whole.
    WholeRun,
    /// The run as a whole with this number of I/Os, and beside it one with a quarter of them.
    Quarter {
        /// I/Os of the long run.
        n_ios: u64,
    },
}

/// A goal, over the median of the pairs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Goal {
    /// Speed (I/Os a second, or runs a second) as a multiple of fio's.
    SpeedAtLeast(f64),
    /// User CPU time, as a part of fio's, over all pairs together: most kernels count user and system time by ticks, so
    /// that a single run says little.
    UserCpuBelow(f64),
    /// Instructions in user mode per I/O, as a part of fio's. Counted, not measured: noise does not touch it.
    InstructionsBelow(f64),
    /// User and system CPU time, as a part of fio's.
    CpuBelow(f64),
    /// Peak memory, as a part of fio's.
    MemoryBelow(f64),
    /// Seconds of a run.
    SecondsBelow(f64),
    /// Gigabytes (10^9) a second of blocks of this many bytes.
    GigabytesAtLeast { gigabytes: f64, block_bytes: f64 },
    /// CPU time per I/O as a multiple of the bare loop's.
    BareCpuBelow(f64),
    /// I/Os a second as a part of the bare loop's.
    BareSpeedAtLeast(f64),
    /// Nanoseconds by which the mean completion latency that ferrio reports is below fio's: the tool's own share of it.
    /// Where the bare loop's is not that much lower either: no more than 5 ns above the bare loop's.
    ClatLowerBy(f64),
    /// Part of its I/Os a second that ferrio loses by the extra options.
    LossBelow(f64),
    /// Time per I/O that the extra options cost ferrio, as a part of what they cost fio.
    ExtraTimeBelow(f64),
    /// Percent by which the rate that was reached differs from the one that was asked for.
    RateWithin { ios_per_sec: f64, percent: f64 },
    /// CPU time as a part of the wall time, percent.
    CoreBelow(f64),
    /// Speed as a multiple of that of the program beside it, pair by pair.
    BesideSpeedAtLeast(f64),
    /// Peak memory of the long run as a multiple of that with a quarter of the I/Os.
    GrowthBelow(f64),
    /// Bytes of peak memory that each row of logs adds from a quarter of the I/Os to all of them.
    RowBytesBelow { bytes: f64, rows_per_io: f64 },
}

/// What a row has that says nothing else: no target, no extra options, no bare loop, nothing beside it, no memory.
pub(super) const PLAIN: Case = Case {
    name: "",
    about: "",
    target: Target::None,
    options: "",
    extra: "",
    work: Work::WholeRun,
    bare: None,
    beside: None,
    measures_memory: false,
    goals: &[],
};
