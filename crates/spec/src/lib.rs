//! The vocabulary of jobs: [`JobSpec`] is one job as it was asked for, after parsing and checking; [`RunSpec`] is a whole run.
//!
//! Parsers (`job`) and native commands make these types, `workload` and `run` read them. A job without any option is
//! `JobSpec::default()`.
//! Must not know: how text becomes a spec, threads, files on disk. Start reading at [`JobSpec`].
//! Every field says its unit and the option that sets it; defaults are those of the option table.
#![forbid(unsafe_code)]

mod access;
mod defaults;
mod engine;
pub mod engines;
mod pacing;
mod running;
mod targets;
mod values;
mod verify;

use ferrio_units::{ArenaKind, PerDirection};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

pub use access::distribution::SpRandomSpec;
pub use access::distribution::{DistributionZone, RandomDistribution, RankLaw, ZoneLength};
pub use access::durability::{DurabilitySpec, SyncMode};
pub use access::error::{ErrorClasses, ErrorSpec};
pub use access::extent::{BlockRange, BlockShare};
pub use access::extent::{ExtentSpec, SizeSpec};
pub use access::placement::{PlacementChoice, PlacementKind, PlacementSpec};
pub use access::submission::SubmissionSpec;
pub use access::submission::{CommandPrioritySpec, PriorityShare};
pub use access::zone::{SequentialZonesSpec, SizesInZones, StridedSpec, ZoneSkip, ZoneSpec};
pub use defaults::DEFAULT_PERCENTILES;
pub use engine::{EngineSpec, EngineValue, GivenOptions};
pub use pacing::pace::LatencySpec;
pub use pacing::pace::{CatchUp, DrawnTime, FlowSpec, PaceSpec, PauseSpec, RateLatency, RateProcess};
pub use pacing::steady_state::{SteadyCriterion, SteadyMetric, SteadyStateSpec};
pub use running::control::{ControlSettings, IdleDetail, Trigger};
pub use running::debug;
pub use running::format::{
    FormatKind, OUTPUT_FORMAT_NAMES, OUTPUT_FORMATS, OutputFormat, OutputFormatDef, OutputFormats,
};
pub use running::grouping::{ExitWhat, GroupingSpec};
pub use running::log::{LogSpec, WindowValue};
pub use running::reporting::{ReportingSpec, UnifiedReporting};
pub use running::surroundings::{CgroupSpec, SurroundingsSpec};
pub use targets::replay::{MergeSpec, ReplaySpec, SkippedKinds};
pub use targets::target::{DirectoryPer, TargetSpec};
pub use targets::target::{FileLocking, FileService, FileType};
pub use values::decimal_percent::DecimalPercent;
pub use values::option_row::{OptionRow, Secrecy};
pub use values::status::Compatibility;
pub use values::status::{DeviationKind, Deviations, Status};
pub use values::{secret, syntax};
pub use verify::{
    HeaderLayout, TrimBacklogSpec, VERIFY_METHODS, VerifiedWrites, VerifyBacklogSpec, VerifyCompression,
    VerifyContentSpec, VerifyForm, VerifyMethod, VerifyMethodDef, VerifyPattern, VerifySpec,
};

/// A whole run: all jobs in the order in which they were given, clones not yet expanded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// Options that were set for all jobs, canonical name and text as given (JSON `global options`).
    pub global_options: Vec<(String, String)>,
    pub jobs: Vec<JobSpec>,
    /// If the jobs have fio's oddities.
    pub compatibility: Compatibility,
    /// Texts that variables of the environment put into values of the jobs (`${NAME}` in a job file).
    #[serde(default)]
    pub from_environment: Vec<String>,
    /// Sections `[global]` that stand behind jobs, which therefore do not have their options.
    #[serde(default)]
    pub late_globals: Vec<LateGlobal>,
}

/// A section `[global]` with options behind the jobs of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateGlobal {
    /// Number of the jobs of the run that stand before its file.
    pub n_jobs_above: u32,
    /// Number of the jobs of the run that stand before it.
    pub n_jobs_before: u32,
    /// Canonical names and values of its options.
    pub options: Vec<(String, String)>,
    /// Jobs stand behind it, to which its options apply.
    pub has_jobs_behind: bool,
    /// Another section `[global]` with options, of the same file, stands before those jobs.
    pub has_earlier: bool,
}

/// One job (a section of a job file, or a `--name` of the command line).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JobSpec {
    pub name: String,
    /// Name of its section: its data files, and all clones but the first, are named after it.
    pub section: String,
    pub description: Option<String>,
    /// Options of this job, canonical name and text as given, in order (JSON `job options`).
    pub given_options: Vec<(String, String)>,
    /// `numjobs`: number of clones, at least 1.
    pub numjobs: u32,
    pub target: TargetSpec,
    /// Amount of I/O.
    pub extent: ExtentSpec,
    /// Creation and removal of files.
    pub layout: LayoutSpec,
    /// Order and direction of I/O.
    pub pattern: PatternSpec,
    pub zones: ZoneSpec,
    /// Depth and batches.
    pub queue: QueueSpec,
    /// The way in which I/Os are submitted, and which of them wait for each other.
    pub submission: SubmissionSpec,
    /// Engine and its private options.
    pub engine: EngineSpec,
    /// Start and end of the job.
    pub limits: LimitSpec,
    /// Rates and pauses.
    pub pace: PaceSpec,
    /// Limits for the latency of I/Os.
    pub latency: LatencySpec,
    /// Search for a steady state, which ends the job early.
    pub steady_state: SteadyStateSpec,
    /// Direct, synchronous, and syncs between I/Os.
    pub durability: DurabilitySpec,
    /// Contents and place of the I/O buffers.
    pub buffers: BufferSpec,
    /// The process or thread that does the I/O.
    pub worker: WorkerSpec,
    /// Commands and settings of the kernel around the I/O.
    pub surroundings: SurroundingsSpec,
    /// Order between jobs and groups.
    pub grouping: GroupingSpec,
    pub errors: ErrorSpec,
    /// Measurements and their presentation.
    pub reporting: ReportingSpec,
    pub logs: LogSpec,
    /// Verification of written data.
    pub verify: Option<VerifySpec>,
    /// `write_iolog`: append a version 3 trace to this file.
    #[serde(default, with = "crate::targets::path_bytes::optional")]
    pub write_iolog: Option<PathBuf>,
    pub replay: ReplaySpec,
}

impl JobSpec {
    /// The job writes or trims: its files are opened for that, and may be made.
    pub fn changes_files(&self) -> bool {
        self.pattern.mix != DirectionMix::Read && !self.is_verify_only()
    }

    /// True if the job reads back the writes of an earlier run, and writes nothing.
    pub fn is_verify_only(&self) -> bool {
        self.verify.as_ref().is_some_and(|verify| verify.reads == VerifiedWrites::OfEarlierRun)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fallocate {
    /// No preallocation.
    None,
    /// `fallocate(2)` mode 0; errors are ignored.
    Native,
    /// `posix_fallocate(3)`.
    Posix,
    /// `fallocate(2)` with `FALLOC_FL_KEEP_SIZE`.
    Keep,
    /// `ftruncate(2)` to the size.
    Truncate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FadviseHint {
    /// No advice.
    None,
    /// By the kind of workload: sequential or random.
    ByWorkload,
    /// Always random.
    Random,
    /// Always sequential.
    Sequential,
    /// `POSIX_FADV_NOREUSE`.
    NoReuse,
}

/// Creation and removal of files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LayoutSpec {
    pub fallocate: Fallocate,
    pub fadvise_hint: FadviseHint,
    pub create_serialize: bool,
    pub create_fsync: bool,
    pub create_on_open: bool,
    pub create_only: bool,
    pub overwrite: bool,
    pub pre_read: bool,
    pub invalidate: bool,
    pub unlink: bool,
    pub unlink_each_loop: bool,
}

/// The directions of a workload (`rw` without its order).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DirectionMix {
    /// Only reads.
    Read,
    /// Only writes.
    Write,
    /// Only trims.
    Trim,
    /// Reads and writes by `rwmixread`.
    ReadWrite,
    /// Each range trimmed, then written.
    TrimWrite,
}

impl DirectionMix {
    pub const fn directions(self) -> PerDirection<bool> {
        PerDirection(match self {
            Self::Read => [true, false, false],
            Self::Write => [false, true, false],
            Self::Trim => [false, false, true],
            Self::ReadWrite => [true, true, false],
            Self::TrimWrite => [false, true, true],
        })
    }
}

/// One of the patterns that a job mixes (`patterns`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PatternPart {
    /// Blocks are drawn at random; else they follow each other.
    pub random: bool,
    /// Writes; else reads.
    pub writes: bool,
    pub block_bytes: u64,
    /// Share of the job's I/Os, 1 to 100; those of all patterns are 100 together.
    pub percent: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RwSequencer {
    /// The I/Os of a run follow each other.
    Sequential,
    /// The I/Os of a run repeat the offset.
    Identical,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RandomGenerator {
    /// taus88, 32 bit.
    Tausworthe,
    /// taus258, 64 bit.
    Tausworthe64,
    /// Linear feedback shift register: each block once.
    Lfsr,
}

/// Order and direction of I/O.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PatternSpec {
    /// Directions of `rw`.
    pub mix: DirectionMix,
    /// `rw` was one of the `rand` kinds.
    pub random: bool,
    /// Postfix of `rw`: run length of a random kind (at least 1; default 1), or bytes skipped after each block of a
    /// sequential kind (may be negative; default 0).
    pub rw_postfix: i64,
    pub rw_sequencer: RwSequencer,
    /// `rwmixread` in percent.
    pub rwmix_read: u32,
    /// `bs`, `bsrange`, and the smallest and largest of `bssplit`.
    pub block_size: PerDirection<BlockRange>,
    /// `bssplit`, by ascending share; empty: not given.
    pub block_split: PerDirection<Vec<BlockShare>>,
    pub bs_unaligned: bool,
    pub bs_is_seq_rand: bool,
    /// `blockalign`; `None`: the smallest block size of the direction.
    pub block_align: PerDirection<Option<u64>>,
    pub percentage_random: PerDirection<u32>,
    pub randrepeat: bool,
    /// `randseed`; `None`: the default 0x89 with reseeding between loops.
    pub randseed: Option<u64>,
    pub norandommap: bool,
    pub softrandommap: bool,
    /// `random_generator`; `None`: the default, which may switch to 64 bit by itself.
    pub random_generator: Option<RandomGenerator>,
    /// `random_distribution`.
    pub distribution: RandomDistribution,
    /// `sprandom`; `None`: blocks are written once, or as they are drawn.
    pub sprandom: Option<SpRandomSpec>,
}

impl PatternSpec {
    /// Largest block of any direction, also of those that the job does not use, bytes.
    pub fn largest_block_bytes(&self) -> u64 {
        self.block_size.0.iter().map(|range| range.max_bytes).max().unwrap_or(0)
    }
}

/// Depth and batches, in I/Os.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct QueueSpec {
    /// `iodepth`, at least 1.
    pub iodepth: u32,
    /// `iodepth_batch`; 1 to `iodepth`.
    pub batch_submit: u32,
    /// `iodepth_batch_complete_min`; 0 with a maximum of 0: poll.
    pub batch_complete_min: u32,
    /// `iodepth_batch_complete_max`, at least the minimum.
    pub batch_complete_max: u32,
    /// `iodepth_low`; 1 to `iodepth`.
    pub low: u32,
}

/// Start and end of the job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LimitSpec {
    /// `startdelay`: low and high bound, microseconds.
    pub startdelay_us: (u64, u64),
    /// `runtime`, microseconds, or the mean of lengths that are drawn; 0: none.
    pub runtime_us: u64,
    /// `runtime` as a distribution, from which each clone draws its own.
    pub runtime_drawn: Option<DrawnTime>,
    pub time_based: bool,
    /// `ramp_time`, microseconds; 0: none.
    pub ramp_time_us: u64,
    /// `ramp_size`, bytes; 0: none.
    pub ramp_bytes: u64,
    /// `loops`, at least 1.
    pub loops: u32,
}

/// Contents and place of the I/O buffers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BufferSpec {
    /// `mem`.
    pub memory: ArenaKind,
    /// `iomem_align`, bytes.
    pub align_bytes: u64,
    /// `hugepage-size`, bytes.
    pub hugepage_bytes: u64,
    /// `zero_buffers`.
    pub zero: bool,
    /// `refill_buffers`.
    pub refill: bool,
    /// `scramble_buffers`; `None`: not given (on, but off under `zero_buffers`).
    pub scramble: Option<bool>,
    /// `buffer_pattern`; not empty.
    pub pattern: Option<Vec<u8>>,
    /// `buffer_compress_percentage`, 0 to 100.
    pub compress_percent: u32,
    /// `buffer_compress_chunk`, bytes; 0: the whole buffer.
    pub compress_chunk_bytes: u64,
    /// `dedupe_percentage`, 1 to 100, and `dedupe_mode`; `None`: every buffer is new.
    pub dedupe: Option<(u32, DedupeMode)>,
    /// `dedupe_global`: the fixed set is shared with the other jobs that say so.
    pub dedupe_global: bool,
}

/// `dedupe_mode`: the contents that a repeated buffer has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DedupeMode {
    /// The last one that was new.
    Repeat,
    /// Contents of a fixed set.
    WorkingSet {
        /// `dedupe_working_set_percentage`: size of the set in percent of the job's size, 0 to 100.
        percent: u32,
    },
}

/// `cpus_allowed_policy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CpuPolicy {
    /// Every clone may use all CPUs of the list.
    Shared,
    /// One CPU per clone, round robin.
    Split,
}

/// The process or thread that does the I/O.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkerSpec {
    /// `thread`: a thread instead of a process.
    pub thread: bool,
    /// `cpus_allowed` or `cpumask`; `None`: not set.
    pub cpus_allowed: Option<Vec<u32>>,
    pub cpus_allowed_policy: CpuPolicy,
    /// `gtod_cpu`: no job of the run may run there.
    pub gtod_cpu: Option<u32>,
    /// `nice`; 0: unchanged.
    pub nice: i32,
    /// `prio`: level 0 to 7.
    pub prio: Option<u32>,
    /// `prioclass`: 0 none, 1 real time, 2 best effort, 3 idle.
    pub prioclass: Option<u32>,
    pub priohint: Option<u32>,
    pub uid: Option<u32>,
    pub gid: Option<u32>,
    /// `comm`: name of the process.
    pub comm: Option<String>,
    /// `lockmem`, bytes; 0: none.
    pub lockmem_bytes: u64,
}
