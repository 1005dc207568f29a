//! Options that name or arrange something.
//!
//! Start reading at [`EFFECTS`].

use super::{OptionEffect, Seen};

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::of(NAMES, Seen::Structure),
    OptionEffect::of(ORDER, Seen::Structure),
    OptionEffect::of(REPORTS, Seen::Structure),
];

/// Names of jobs, files and processes.
const NAMES: &[&str] = &[
    "name",
    "description",
    "comm",
    "filename",
    "directory",
    "directory_per",
    "filename_format",
    "unique_filename",
    "opendir",
    "filetype",
    "profile",
    "write_iolog",
    "verify_dump",
    "ioengine",
];

/// The order of jobs, and what they do together.
const ORDER: &[&str] = &[
    "wait_for",
    "stonewall",
    "new_group",
    "exitall",
    "exit_what",
    "exitall_on_error",
    "thread",
    "group_reporting",
    "per_job_logs",
    "flow_id",
    "cgroup_nodelete",
    "shared_stream",
];

/// What is measured and reported, and how.
const REPORTS: &[&str] = &[
    "stats",
    "write_bw_log",
    "bwavgtime",
    "write_lat_log",
    "write_iops_log",
    "iopsavgtime",
    "log_entries",
    "log_avg_msec",
    "log_hist_msec",
    "log_hist_coarseness",
    "write_hist_log",
    "log_window_value",
    "log_offset",
    "log_prio",
    "log_issue_time",
    "log_compression",
    "log_compression_cpus",
    "log_store_compressed",
    "log_alternate_epoch",
    "log_alternate_epoch_clock_id",
    "block_error_percentiles",
    "clat_percentiles",
    "lat_percentiles",
    "slat_percentiles",
    "percentile_list",
    "significant_figures",
    "disk_util",
    "gtod_reduce",
    "disable_lat",
    "disable_clat",
    "disable_slat",
    "disable_bw_measurement",
    "gtod_cpu",
    "job_start_clock_id",
    "unified_rw_reporting",
    "error_dump",
    "kb_base",
    "unit_base",
    "report_total",
    "clocksource",
    "continue_on_error",
    "ignore_error",
    "rate_latency",
];
