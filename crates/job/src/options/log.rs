//! Logs.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::apply_log as apply;
use crate::options::definition::{Apply, Category, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, at_most, between, choice};
use ferrio_spec::DeviationKind::{Different, Mended, Stricter};

const LOG_WINDOW_VALUE: &[Choice] = &[
    choice("avg", "Mean of the window"),
    choice("max", "Maximum of the window"),
    choice("both", "Mean and maximum"),
    choice("0", "Same as 'avg'"),
    choice("1", "Same as 'max'"),
];

const LIVE: &str = "The log is written while the job runs, not at its end.";

const UNWRITTEN: &str =
    "A log that cannot be opened or completed is named and counts as a failed job in the exit code.";

pub(crate) const OPTIONS: &[OptionDef] = &[
    option("per_job_logs", Kind::Bool, "Number in log file names; 0 = one shared file appended to")
        .default("1")
        .place(Category::Log, "")
        .applies(Apply::With(apply::per_job_logs))
        .deviates(
            Different,
            "Rows of several jobs in one log come by time, not job by job.",
        ),
    option("write_bw_log", Kind::OptionalText, "Bandwidth log, value = name prefix (default job name)")
        .place(Category::Log, "")
        .applies(Apply::Path(|draft| &mut draft.job.logs.bw))
        .takes_bytes()
        .deviates(Different, LIVE)
        .deviates(Stricter, UNWRITTEN),
    option("write_lat_log", Kind::OptionalText, "lat, slat and clat logs, value = name prefix")
        .place(Category::Log, "")
        .applies(Apply::Path(|draft| &mut draft.job.logs.latency))
        .takes_bytes()
        .deviates(Different, LIVE)
        .deviates(Stricter, UNWRITTEN),
    option("write_iops_log", Kind::OptionalText, "IOPS log, value = name prefix")
        .place(Category::Log, "")
        .applies(Apply::Path(|draft| &mut draft.job.logs.iops))
        .takes_bytes()
        .deviates(Different, LIVE)
        .deviates(Stricter, UNWRITTEN),
    option("log_entries", Kind::Int(between(1024, 1_048_576)), "First allocation, in entries, of each log")
        .default("1024")
        .place(Category::Log, "")
        .applies(Apply::Nothing),
    option("log_avg_msec", Kind::Int(ANY), "Window length for averaged log rows (0 = row per I/O)")
        .default("0")
        .place(Category::Log, "")
        .applies(Apply::U32(|draft| &mut draft.job.logs.window_ms)),
    option("log_hist_msec", Kind::Int(ANY), "Interval between histogram rows")
        .default("0")
        .place(Category::Log, "")
        .applies(Apply::U32(|draft| &mut draft.job.logs.histogram_ms))
        .long("0: one row at the end of the job.")
        .deviates(Mended, "The I/Os after the last whole interval have a row at the end of the job; in fio they are in none. Without an interval, all have one row."),
    option("log_hist_coarseness", Kind::Int(at_most(6)), "Merge 2^n neighbouring histogram bins")
        .default("0")
        .place(Category::Log, "")
        .applies(Apply::U32(|draft| &mut draft.job.logs.histogram_coarseness)),
    option("write_hist_log", Kind::OptionalText, "Completion latency histogram log, value = name prefix")
        .place(Category::Log, "")
        .applies(Apply::Path(|draft| &mut draft.job.logs.histogram))
        .takes_bytes()
        .deviates(Different, LIVE)
        .deviates(Stricter, UNWRITTEN),
    option("log_window_value", Kind::Choice(LOG_WINDOW_VALUE), "Windowed rows carry mean, maximum, or both")
        .aliases(&["log_max_value"])
        .default("avg")
        .place(Category::Log, "")
        .applies(Apply::With(apply::log_window_value)),
    option("log_offset", Kind::Bool, "Add byte offset column")
        .default("0")
        .place(Category::Log, "")
        .applies(Apply::Bool(|draft| &mut draft.job.logs.offset)),
    option("log_prio", Kind::Bool, "Log full ioprio value instead of the RT flag")
        .default("0")
        .place(Category::Log, "")
        .applies(Apply::Bool(|draft| &mut draft.job.logs.full_priority)),
    option("log_issue_time", Kind::Bool, "Add issue time column (needs write_lat_log and log_offset)")
        .default("0")
        .place(Category::Log, "")
        .applies(Apply::Bool(|draft| &mut draft.job.logs.issue_time)),
    option("log_compression", Kind::Int(between(1024, 536_870_912)), "Compress in-memory log chunks above this size")
        .neutral("0")
        .place(Category::Log, "")
        .applies(Apply::U32(|draft| &mut draft.job.logs.compression_bytes)),
    option("log_compression_cpus", Kind::CpuList, "CPU list for the compression thread")
        .under("log_compression")
        .place(Category::Log, "")
        .applies(Apply::With(apply::log_compression_cpus))
        .deviates(Stricter, "A value that is no list of CPUs is refused; fio reads it as CPU 0."),
    option("log_store_compressed", Kind::Bool, "Keep the log file compressed (.fz suffix)")
        .place(Category::Log, "")
        .applies(Apply::Bool(|draft| &mut draft.job.logs.store_compressed))
        .deviates(Different, "Histogram logs stay text."),
    option("log_alternate_epoch", Kind::Bool, "Log times as absolute ms of the given clock")
        .aliases(&["log_unix_epoch"])
        .place(Category::Log, "")
        .applies(Apply::Bool(|draft| &mut draft.job.logs.alternate_epoch)),
    option("log_alternate_epoch_clock_id", Kind::Int(ANY), "clock_gettime id used by log_alternate_epoch")
        .place(Category::Log, "")
        .applies(Apply::U32(|draft| &mut draft.job.logs.epoch_clock_id))
        .deviates(Stricter, "A clock that does not exist ends the job with an error; fio ignores it."),
    option("block_error_percentiles", Kind::Bool, "Trim lifetime statistics per block")
        .default("0")
        .place(Category::Log, "")
        .applies(Apply::Bool(|draft| &mut draft.job.reporting.block_error_percentiles))
        .deviates(
            Mended,
            "Blocks are counted; fio ends with a failed assertion. A job may have at most 16,777,216 blocks.",
        ),
    option("bwavgtime", Kind::Int(ANY), "Sampling window of the bw summary line (ms)")
        .default("500")
        .under("write_bw_log")
        .place(Category::Log, "")
        .applies(Apply::OptionalU32(|draft| &mut draft.open.bw_window_ms)),
    option("iopsavgtime", Kind::Int(ANY), "Sampling window of the iops summary line (ms)")
        .default("500")
        .under("write_iops_log")
        .place(Category::Log, "")
        .applies(Apply::OptionalU32(|draft| &mut draft.open.iops_window_ms)),
];
