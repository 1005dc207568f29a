//! The defaults of a job: `JobSpec::default()`. A native command begins with them and sets fields.
//!
//! Must not know: option strings. The defaults are those of the option table; a test of the crate `job` holds them together.

use crate::{
    BlockRange, BufferSpec, CommandPrioritySpec, CpuPolicy, DirectionMix, DirectoryPer, DurabilitySpec, EngineSpec,
    ErrorSpec, ExitWhat, ExtentSpec, FadviseHint, Fallocate, FileLocking, FileService, GivenOptions, GroupingSpec,
    JobSpec, LatencySpec, LayoutSpec, LimitSpec, LogSpec, PaceSpec, PatternSpec, PlacementSpec, QueueSpec,
    RandomDistribution, ReplaySpec, ReportingSpec, RwSequencer, SizeSpec, SteadyCriterion, SteadyMetric,
    SteadyStateSpec, SubmissionSpec, SurroundingsSpec, SyncMode, TargetSpec, UnifiedReporting, WorkerSpec, ZoneSpec,
};
use ferrio_units::{ArenaKind, PerDirection};

/// The percentiles that are reported when `percentile_list` is not given.
pub const DEFAULT_PERCENTILES: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

impl Default for JobSpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            section: String::new(),
            description: None,
            given_options: Vec::new(),
            numjobs: 1,
            target: TargetSpec::default(),
            extent: ExtentSpec::default(),
            layout: LayoutSpec::default(),
            pattern: PatternSpec::default(),
            zones: ZoneSpec::None,
            submission: SubmissionSpec::default(),
            queue: QueueSpec::default(),
            engine: EngineSpec::default(),
            limits: LimitSpec::default(),
            pace: PaceSpec::default(),
            latency: LatencySpec::default(),
            steady_state: SteadyStateSpec::default(),
            durability: DurabilitySpec::default(),
            buffers: BufferSpec::default(),
            worker: WorkerSpec::default(),
            surroundings: SurroundingsSpec::default(),
            grouping: GroupingSpec::default(),
            errors: ErrorSpec::default(),
            reporting: ReportingSpec::default(),
            logs: LogSpec::default(),
            verify: None,
            write_iolog: None,
            replay: ReplaySpec::default(),
        }
    }
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self { iodepth: 1, batch_submit: 1, batch_complete_min: 1, batch_complete_max: 1, low: 1 }
    }
}

impl Default for LimitSpec {
    fn default() -> Self {
        Self {
            startdelay_us: (0, 0),
            runtime_us: 0,
            runtime_drawn: None,
            time_based: false,
            ramp_time_us: 0,
            ramp_bytes: 0,
            loops: 1,
        }
    }
}

impl Default for TargetSpec {
    fn default() -> Self {
        Self {
            filenames: Vec::new(),
            opendirs: Vec::new(),
            directories: Vec::new(),
            directory_per: DirectoryPer::default(),
            filename_format: None,
            unique_filename: true,
            nrfiles: 1,
            openfiles: 0,
            filetype: None,
            file_service: FileService::RoundRobin,
            file_service_count: 1,
            locking: FileLocking::None,
            allow_file_create: true,
            allow_mounted_write: false,
            placement: PlacementSpec::default(),
        }
    }
}

impl Default for ExtentSpec {
    fn default() -> Self {
        Self {
            size: None,
            io_size: None,
            filesize: None,
            filesize_split: Vec::new(),
            patterns: Vec::new(),
            whole_files: false,
            offset: SizeSpec::Bytes(0),
            offset_align: 0,
            offset_increment: SizeSpec::Bytes(0),
            number_ios: 0,
            ranges_per_trim: 1,
            fill_device: false,
            file_append: false,
        }
    }
}

impl Default for LayoutSpec {
    fn default() -> Self {
        Self {
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
}

impl Default for PatternSpec {
    fn default() -> Self {
        Self {
            mix: DirectionMix::Read,
            random: false,
            rw_postfix: 0,
            rw_sequencer: RwSequencer::Sequential,
            rwmix_read: 50,
            block_size: PerDirection::all(BlockRange::one(4096)),
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
            distribution: RandomDistribution::Uniform,
            sprandom: None,
        }
    }
}

impl Default for SteadyStateSpec {
    fn default() -> Self {
        Self {
            criterion: SteadyCriterion { metric: SteadyMetric::Iops, is_slope: true, limit: 0.01, is_percent: true },
            duration_us: 0,
            ramp_us: 0,
            interval_us: 1_000_000,
        }
    }
}

impl Default for DurabilitySpec {
    fn default() -> Self {
        Self {
            expects_memory: false,
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
}

impl Default for BufferSpec {
    fn default() -> Self {
        Self {
            memory: ArenaKind::Malloc,
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
}

impl Default for WorkerSpec {
    fn default() -> Self {
        Self {
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
}

impl Default for GroupingSpec {
    fn default() -> Self {
        Self {
            stonewall: false,
            new_group: false,
            wait_for: None,
            exitall: false,
            exitall_on_error: false,
            exit_what: ExitWhat::Group,
            group_reporting: false,
            report_total: false,
            shared_stream: None,
        }
    }
}

impl Default for ReportingSpec {
    fn default() -> Self {
        Self {
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
            unit_bits: None,
            block_error_percentiles: false,
            disk_util: true,
            bw_window_ms: 500,
            iops_window_ms: 500,
        }
    }
}

impl Default for EngineSpec {
    fn default() -> Self {
        Self {
            name: "psync".to_owned(),
            options: GivenOptions::default(),
            secret_names: Vec::new(),
            command_priority: CommandPrioritySpec::default(),
        }
    }
}
