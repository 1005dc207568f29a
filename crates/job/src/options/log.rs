//! Logs.
//!
//! Rows only. Must not know: how values are parsed; what a row does is in its `apply` part.

use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_most, between, choice};

const LOG_WINDOW_VALUE: &[Choice] = &[
    choice("avg", "Mean of the window"),
    choice("max", "Maximum of the window"),
    choice("both", "Mean and maximum"),
    choice("0", "Same as 'avg'"),
    choice("1", "Same as 'max'"),
];

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("per_job_logs", Kind::Bool, "Number in log file names; 0 = one shared file appended to")
        .default("1")
        .place(Category::Log, ""),
    option("write_bw_log", Kind::OptionalText, "Bandwidth log, value = name prefix (default job name)")
        .place(Category::Log, ""),
    option("write_lat_log", Kind::OptionalText, "lat, slat and clat logs, value = name prefix")
        .place(Category::Log, ""),
    option("write_iops_log", Kind::OptionalText, "IOPS log, value = name prefix").place(Category::Log, ""),
    option("log_entries", Kind::Int(between(1024, 1_048_576)), "First allocation, in entries, of each log")
        .default("1024")
        .place(Category::Log, ""),
    option("log_avg_msec", Kind::Int(ANY), "Window length for averaged log rows (0 = row per I/O)")
        .default("0")
        .place(Category::Log, ""),
    option("log_hist_msec", Kind::Int(ANY), "Interval between histogram rows").default("0").place(Category::Log, ""),
    option("log_hist_coarseness", Kind::Int(at_most(6)), "Merge 2^n neighbouring histogram bins")
        .default("0")
        .place(Category::Log, ""),
    option("write_hist_log", Kind::OptionalText, "Completion latency histogram log, value = name prefix")
        .place(Category::Log, ""),
    option("log_window_value", Kind::Choice(LOG_WINDOW_VALUE), "Windowed rows carry mean, maximum, or both")
        .aliases(&["log_max_value"])
        .default("avg")
        .place(Category::Log, ""),
    option("log_offset", Kind::Bool, "Add byte offset column").default("0").place(Category::Log, ""),
    option("log_prio", Kind::Bool, "Log full ioprio value instead of the RT flag")
        .default("0")
        .place(Category::Log, ""),
    option("log_issue_time", Kind::Bool, "Add issue time column (needs write_lat_log and log_offset)")
        .default("0")
        .place(Category::Log, ""),
    option("log_compression", Kind::Int(between(1024, 536_870_912)), "Compress in-memory log chunks above this size")
        .neutral("0")
        .place(Category::Log, ""),
    option("log_compression_cpus", Kind::CpuList, "CPU list for the compression thread")
        .under("log_compression")
        .place(Category::Log, ""),
    option("log_store_compressed", Kind::Bool, "Keep the log file compressed (.fz suffix)").place(Category::Log, ""),
    option("log_alternate_epoch", Kind::Bool, "Log times as absolute ms of the given clock")
        .aliases(&["log_unix_epoch"])
        .place(Category::Log, ""),
    option("log_alternate_epoch_clock_id", Kind::Int(ANY), "clock_gettime id used by log_alternate_epoch")
        .place(Category::Log, ""),
    option("block_error_percentiles", Kind::Bool, "Trim lifetime statistics per block")
        .default("0")
        .place(Category::Log, ""),
    option("bwavgtime", Kind::Int(ANY), "Sampling window of the bw summary line (ms)")
        .default("500")
        .under("write_bw_log")
        .place(Category::Log, "")
        .applies(Apply::U64(|draft| &mut draft.job.reporting.bw_window_ms)),
    option("iopsavgtime", Kind::Int(ANY), "Sampling window of the iops summary line (ms)")
        .default("500")
        .under("write_iops_log")
        .place(Category::Log, "")
        .applies(Apply::U64(|draft| &mut draft.job.reporting.iops_window_ms)),
];
