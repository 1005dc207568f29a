//! A job while its options are being read: the [`JobSpec`] as far as it is known, and what is decided only at the end.
//!
//! Must not know: option strings, files. The defaults here are those of the option table (a test holds them together).
//! Start reading at [`Draft`].

use crate::environment::Environment;
use crate::message::Messages;
use crate::options::apply_replay::MergeDraft;
use crate::options::command_priority::CommandPriorityDraft;
use crate::options::sprandom::SpRandomDraft;
use crate::options::verification::VerifyDraft;
use crate::options::zone_mode::ZoneDraft;
use crate::profiles::ProfileDraft;
use crate::spec::{
    BlockRange, BufferMemory, BufferSpec, CatchUp, CommandPrioritySpec, CpuPolicy, DirectionMix, DurabilitySpec,
    EngineSpec, ErrorClasses, ErrorSpec, ExitWhat, ExtentSpec, FadviseHint, Fallocate, FileLocking, FileService,
    GroupingSpec, JobSpec, LatencySpec, LayoutSpec, LimitSpec, LogSpec, PaceSpec, PatternSpec, QueueSpec, ReplaySpec,
    ReportingSpec, RwSequencer, SizeSpec, SteadyStateMetric, SteadyStateSpec, SubmissionSpec, SyncMode, TargetSpec,
    UnifiedReporting, WorkerSpec, ZoneSpec,
};
use ferrio_units::{KbBase, PerDirection};

/// A job while its options are being read.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Fields that an option sets once and for all; the others have their defaults until the lowering.
    pub job: JobSpec,
    /// Values that depend on others.
    pub open: Open,
}

/// Values that the lowering decides when all options are known.
#[derive(Debug, Clone, Default)]
pub struct Open {
    /// `iodepth`, where it was given.
    pub iodepth: Option<u32>,
    /// `iodepth_batch`.
    pub batch_submit: Option<u32>,
    /// `iodepth_batch_complete_min`.
    pub batch_complete_min: Option<u32>,
    /// `iodepth_batch_complete_max`.
    pub batch_complete_max: Option<u32>,
    /// `iodepth_low`.
    pub low: Option<u32>,
    /// `bsrange` or `bssplit`, which count whatever `bs` says before or after it.
    pub block_range: PerDirection<Option<BlockRange>>,
    /// The `cmdprio` options.
    pub command_priority: CommandPriorityDraft,
    /// `zonemode` and its sizes.
    pub zones: ZoneDraft,
    /// `sprandom` and its kin.
    pub sprandom: SpRandomDraft,
    /// `random_sequence_stride`.
    pub random_sequence_stride: bool,
    /// `rate_catch_up`.
    pub catch_up: Option<CatchUp>,
    /// Postfix of `rw`.
    pub rw_postfix: Option<i64>,
    /// `dedupe_percentage`.
    pub dedupe_percent: Option<u32>,
    /// `dedupe_mode=working_set`.
    pub dedupe_working_set: bool,
    /// `dedupe_working_set_percentage`.
    pub dedupe_working_set_percent: Option<u32>,
    /// `bwavgtime`, milliseconds.
    pub bw_window_ms: Option<u32>,
    /// `iopsavgtime`, milliseconds.
    pub iops_window_ms: Option<u32>,
    /// The options of verification.
    pub verify: VerifyDraft,
    /// The options of merging traces.
    pub merge: MergeDraft,
    /// The options of the profile, where they are being read.
    pub profile: ProfileDraft,
}

/// What an option may ask while it is applied.
pub struct ApplyContext<'a> {
    /// The machine.
    pub environment: &'a dyn Environment,
    /// `--readonly` was given before.
    pub readonly: bool,
    /// Lines to print even though the option is accepted.
    pub messages: &'a mut Messages,
}

impl Draft {
    /// A job without any option.
    pub fn new() -> Self {
        Self { job: default_job(), open: Open::default() }
    }

    /// What a `k` is worth in the values that follow.
    pub const fn kb_base(&self) -> KbBase {
        if self.job.reporting.kb_base == 1000 { KbBase::Decimal } else { KbBase::Binary }
    }
}

impl Default for Draft {
    fn default() -> Self {
        Self::new()
    }
}

fn default_job() -> JobSpec {
    JobSpec {
        name: String::new(),
        description: None,
        given_options: Vec::new(),
        numjobs: 1,
        target: default_target(),
        extent: default_extent(),
        layout: default_layout(),
        pattern: default_pattern(),
        zones: ZoneSpec::None,
        submission: SubmissionSpec::default(),
        queue: QueueSpec { iodepth: 1, batch_submit: 1, batch_complete_min: 1, batch_complete_max: 1, low: 1 },
        engine: EngineSpec {
            name: "psync".to_owned(),
            options: Vec::new(),
            command_priority: CommandPrioritySpec::default(),
        },
        limits: LimitSpec {
            startdelay_us: (0, 0),
            runtime_us: 0,
            time_based: false,
            ramp_time_us: 0,
            ramp_bytes: 0,
            loops: 1,
        },
        pace: PaceSpec::default(),
        latency: LatencySpec::default(),
        steady_state: default_steady_state(),
        durability: default_durability(),
        buffers: default_buffers(),
        worker: default_worker(),
        surroundings: crate::spec::SurroundingsSpec::default(),
        grouping: default_grouping(),
        errors: ErrorSpec { continue_on: ErrorClasses::default(), ignore: [None, None, None], dump: false },
        reporting: default_reporting(),
        logs: LogSpec::default(),
        verify: None,
        write_iolog: None,
        replay: ReplaySpec::default(),
    }
}

fn default_target() -> TargetSpec {
    TargetSpec {
        filenames: Vec::new(),
        opendirs: Vec::new(),
        directories: Vec::new(),
        filename_format: None,
        nrfiles: 1,
        openfiles: 0,
        filetype: None,
        file_service: FileService::RoundRobin,
        file_service_count: 1,
        locking: FileLocking::None,
        allow_file_create: true,
        allow_mounted_write: false,
    }
}

fn default_extent() -> ExtentSpec {
    ExtentSpec {
        size: None,
        io_size: None,
        filesize: None,
        offset: SizeSpec::Bytes(0),
        offset_align: 0,
        offset_increment: SizeSpec::Bytes(0),
        number_ios: 0,
        fill_device: false,
        file_append: false,
    }
}

fn default_layout() -> LayoutSpec {
    LayoutSpec {
        fallocate: Fallocate::Native,
        fadvise_hint: FadviseHint::ByWorkload,
        create_serialize: true,
        create_fsync: true,
        create_on_open: false,
        create_only: false,
        overwrite: false,
        pre_read: false,
        invalidate: true,
        unlink: false,
        unlink_each_loop: false,
    }
}

fn default_pattern() -> PatternSpec {
    PatternSpec {
        mix: DirectionMix::Read,
        random: false,
        rw_postfix: 0,
        rw_sequencer: RwSequencer::Sequential,
        rwmix_read: 50,
        block_size: PerDirection::all(BlockRange { min_bytes: 4096, max_bytes: 4096 }),
        block_split: PerDirection::default(),
        bs_unaligned: false,
        bs_is_seq_rand: false,
        block_align: PerDirection::all(None),
        percentage_random: PerDirection::all(100),
        randrepeat: true,
        randseed: None,
        norandommap: false,
        softrandommap: false,
        random_generator: None,
        distribution: crate::spec::RandomDistribution::Uniform,
        sprandom: None,
    }
}

fn default_steady_state() -> SteadyStateSpec {
    SteadyStateSpec {
        metric: SteadyStateMetric::Iops,
        is_slope: true,
        limit: 0.01,
        is_percent: true,
        duration_us: 0,
        ramp_us: 0,
        interval_us: 1_000_000,
    }
}

fn default_durability() -> DurabilitySpec {
    DurabilitySpec {
        direct: false,
        atomic: false,
        sync: SyncMode::None,
        fsync_blocks: 0,
        fdatasync_blocks: 0,
        sync_file_range: None,
        end_fsync: false,
        fsync_on_close: false,
        end_syncfs: false,
        write_hint: None,
    }
}

fn default_buffers() -> BufferSpec {
    BufferSpec {
        memory: BufferMemory::Malloc,
        align_bytes: 0,
        hugepage_bytes: 2 * 1024 * 1024,
        zero: false,
        refill: false,
        scramble: None,
        pattern: None,
        compress_percent: 0,
        compress_chunk_bytes: 512,
        dedupe: None,
        dedupe_global: false,
    }
}

fn default_worker() -> WorkerSpec {
    WorkerSpec {
        thread: false,
        cpus_allowed: None,
        cpus_allowed_policy: CpuPolicy::Shared,
        gtod_cpu: None,
        nice: 0,
        prio: None,
        prioclass: None,
        priohint: None,
        uid: None,
        gid: None,
        comm: None,
        lockmem_bytes: 0,
    }
}

fn default_grouping() -> GroupingSpec {
    GroupingSpec {
        stonewall: false,
        new_group: false,
        wait_for: None,
        exitall: false,
        exitall_on_error: false,
        exit_what: ExitWhat::Group,
        group_reporting: false,
    }
}

/// The percentiles reported when `percentile_list` is not given.
const DEFAULT_PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

fn default_reporting() -> ReportingSpec {
    ReportingSpec {
        stats: true,
        job_start_clock_id: 0,
        disable_lat: false,
        disable_clat: false,
        disable_slat: false,
        disable_bw: false,
        gtod_reduce: false,
        clat_percentiles: true,
        lat_percentiles: false,
        slat_percentiles: false,
        percentiles: DEFAULT_PERCENTILES.to_vec(),
        percentile_digits: 2,
        significant_figures: 4,
        unified: UnifiedReporting::None,
        kb_base: 1024,
        unit_bits: false,
        block_error_percentiles: false,
        disk_util: true,
        bw_window_ms: 500,
        iops_window_ms: 500,
    }
}
