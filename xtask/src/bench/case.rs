//! Definition of a case: its target, its amount of work, its goals.
//!
//! Must not know: which cases there are (`cases.rs`). Start reading at [`Case`].

/// A case: options that both programs get, and goals.
pub(super) struct Case {
    /// Its name on the command line.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// The file or device that it uses.
    pub(super) target: Target,
    /// Options of both programs, separated by blanks; `{target}` stands for the path of the target.
    pub(super) options: &'static str,
    /// Options whose cost is the subject: both programs are also measured without them.
    pub(super) extra: &'static str,
    /// The unit and amount of work.
    pub(super) work: Work,
    /// Arguments of the bare loop for the same I/Os, without their number.
    pub(super) bare: Option<&'static str>,
    /// A program, with its arguments, that does the same without measuring: it runs once for each pair.
    pub(super) beside: Option<&'static str>,
    /// Peak memory of the whole process tree is measured too.
    pub(super) measures_memory: bool,
    /// Figures to reach.
    pub(super) goals: &'static [Goal],
}

impl Case {
    /// Name of the third program in the comparison, if there is one.
    pub(super) fn beside_name(&self) -> Option<&'static str> {
        self.beside?.split_whitespace().next()
    }

    /// I/Os that the long run does more than that with a quarter of them.
    pub(super) fn n_ios_beyond_quarter(&self) -> f64 {
        if let Work::Quarter { n_ios } = self.work { (n_ios - n_ios / 4) as f64 } else { 0.0 }
    }
}

/// The file or device of a case.
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
    /// As before, but the latency logs of the first job go to `/dev/null`: written pages of files would count as memory
    /// of the programs.
    NullLogs,
    /// A name on the file system of temporary files; a file of that name is removed before each run.
    NewFile,
}

/// The unit and amount of work.
#[derive(Debug, Clone, Copy)]
pub(super) enum Work {
    /// The I/Os between a run with a tenth of this number and one with all of it.
    PerIo {
        /// I/Os of the long run.
        n_ios: u64,
    },
    /// The same for a pass with a fixed number of I/Os: compares a run of a tenth of the passes with one of all.
    PerPass {
        /// Passes of the long run.
        n_passes: u64,
        /// I/Os of each.
        n_ios: u64,
    },
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
    SecondsBelow(f64),
    /// Gigabytes (10^9) a second of blocks of this many bytes.
    GigabytesAtLeast {
        gigabytes: f64,
        block_bytes: f64,
    },
    /// CPU time per I/O as a multiple of the bare loop's.
    BareCpuBelow(f64),
    /// I/Os a second as a part of the bare loop's.
    BareSpeedAtLeast(f64),
    /// Nanoseconds by which the mean completion latency that ferrio reports is below fio's, i.e. the tool's own share
    /// of it. If even the bare loop's latency is not that much lower, ferrio's may be at most 5 ns above the bare
    /// loop's.
    ClatLowerBy(f64),
    /// Share of its I/Os per second that ferrio loses by the extra options.
    LossBelow(f64),
    /// Time per I/O that the extra options cost ferrio, relative to their cost for fio.
    ExtraTimeBelow(f64),
    /// Percentage by which the reached rate differs from the requested one.
    RateWithin {
        ios_per_sec: f64,
        percent: f64,
    },
    /// CPU time as a part of the wall time, percent.
    CoreBelow(f64),
    /// Speed relative to the third program, pair by pair.
    BesideSpeedAtLeast(f64),
    /// Peak memory of the long run as a multiple of that with a quarter of the I/Os.
    GrowthBelow(f64),
    /// Bytes of peak memory per row of logs, from the difference between a quarter of the I/Os and all of them.
    RowBytesBelow {
        bytes: f64,
        rows_per_io: f64,
    },
}

/// Defaults of a row: no target, no extra options, no bare loop, no third program, no memory measurement.
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
