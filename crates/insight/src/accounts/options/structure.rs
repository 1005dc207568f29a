//! Options that name or arrange something.
//!
//! Start reading at [`EFFECTS`].

use super::{OptionEffect, Seen};
use crate::accounts::asked::Asked;
use ferrio_spec::DirectoryPer;

pub(super) const EFFECTS: &[OptionEffect] = &[
    OptionEffect::of(NAMES, Seen::Structure),
    OptionEffect::of(ORDER, Seen::Structure),
    OptionEffect::of(REPORTS, Seen::Structure),
    OptionEffect::of(OF_LOGS, Seen::Structure).in_vain_if(|asked| {
        let logs = &asked.spec().logs;
        let has_rates = logs.bw.is_some() || logs.iops.is_some() || logs.latency.is_some();
        let has_other = has_rates || logs.histogram.is_some() && asked.name != "log_avg_msec";
        // Logs of each job are what there is without the option.
        let asks = asked.is_on() != (asked.name == "per_job_logs");
        if asks && !has_other {
            return Some("the job writes no log".to_owned());
        }
        let limits = &asked.spec().limits;
        let is_long = asked.name == "log_avg_msec"
            && asked.repeats_until_runtime()
            && limits.runtime_drawn.is_none()
            && asked.value.parse::<u64>().is_ok_and(|msec| msec.saturating_mul(1000) >= limits.runtime_us);
        is_long.then(|| "it is as long as the runtime, so that the log has one row".to_owned())
    }),
    OptionEffect::of(&["log_hist_msec", "log_hist_coarseness"], Seen::Structure).in_vain_if(|asked| {
        (asked.is_on() && asked.spec().logs.histogram.is_none()).then(|| "there is no write_hist_log".to_owned())
    }),
    OptionEffect::of(&["percentile_list"], Seen::Structure).in_vain_if(|asked| {
        let reporting = &asked.spec().reporting;
        let has_any = reporting.clat_percentiles || reporting.lat_percentiles || reporting.slat_percentiles;
        match () {
            () if !has_any => Some("no percentiles are reported".to_owned()),
            () if reporting.disable_clat
                && !reporting.gtod_reduce
                && !reporting.lat_percentiles
                && !reporting.slat_percentiles =>
            {
                Some("disable_clat measures no completion latencies".to_owned())
            }
            () if !reporting.lat_percentiles && !reporting.slat_percentiles => without_latencies(asked),
            () => None,
        }
    }),
    OptionEffect::of(&["write_lat_log", "write_hist_log"], Seen::Structure).in_vain_if(without_latencies),
    OptionEffect::of(&["exit_what"], Seen::Structure).in_vain_if(|asked| {
        let has_exit = asked.spec().grouping.exitall || asked.spec().grouping.exitall_on_error;
        (!has_exit).then(|| "there is no exitall".to_owned())
    }),
    OptionEffect::of(&["flow_id"], Seen::Structure)
        .in_vain_if(|asked| (asked.spec().pace.flow.weight == 0).then(|| "there is no flow".to_owned())),
    OptionEffect::of(&["cgroup_nodelete"], Seen::Structure).in_vain_if(without_group),
    OptionEffect::of(&["filename"], Seen::Structure)
        .in_vain_if(|asked| asked.spec().replay.is_set().then(|| "the trace names the files".to_owned())),
    OptionEffect::of(&["filename_format"], Seen::Structure)
        .in_vain_if(|asked| (!asked.spec().target.filenames.is_empty()).then(|| "filename names the files".to_owned())),
    OptionEffect::of(&["directory", "directory_per"], Seen::Structure).in_vain_if(|asked| {
        let names = &asked.spec().target.filenames;
        let is_passed = !names.is_empty() && names.iter().all(|name| name.starts_with('/'));
        is_passed.then(|| "filename has the whole path".to_owned()).or_else(|| directories_left_out(asked))
    }),
    OptionEffect::of(&["verify_dump", "verify_fatal"], Seen::Structure)
        .in_vain_if(|asked| (asked.is_on() && asked.spec().verify.is_none()).then(|| "there is no verify".to_owned())),
];

/// No latency of any kind is measured.
fn without_latencies(asked: &Asked<'_, '_>) -> Option<String> {
    let reporting = &asked.spec().reporting;
    let has_none = reporting.disable_lat && reporting.disable_clat && reporting.disable_slat;
    match () {
        () if reporting.gtod_reduce => Some("gtod_reduce measures no latencies".to_owned()),
        () if has_none => Some("disable_lat, disable_clat and disable_slat measure no latencies".to_owned()),
        () => None,
    }
}

/// A list of directories that is longer than what takes them in turn.
fn directories_left_out(asked: &Asked<'_, '_>) -> Option<String> {
    let target = &asked.spec().target;
    let n_takers = match target.directory_per {
        DirectoryPer::Clone => asked.job.n_clones as usize,
        DirectoryPer::File => usize::try_from(asked.n_files()?).ok()?,
    };
    let left = target.directories.get(n_takers..).filter(|left| !left.is_empty() && n_takers > 0)?;
    let names: Vec<String> = left.iter().take(3).map(|path| path.display().to_string()).collect();
    let more = if left.len() > names.len() { ", ..." } else { "" };
    let cure = match target.directory_per {
        DirectoryPer::Clone => "each clone (numjobs) takes one directory: directory_per=file divides the files",
        DirectoryPer::File => "each file takes one directory",
    };
    Some(format!("nothing is in {}{more}: {cure}", names.join(", ")))
}

/// The option is about a control group, and the job enters none.
pub(super) fn without_group(asked: &Asked<'_, '_>) -> Option<String> {
    asked.spec().surroundings.cgroup.name.is_none().then(|| "there is no cgroup".to_owned())
}

/// The form of performance logs.
const OF_LOGS: &[&str] = &[
    "per_job_logs",
    "log_avg_msec",
    "log_window_value",
    "log_offset",
    "log_prio",
    "log_issue_time",
    "log_compression",
    "log_compression_cpus",
    "log_store_compressed",
    "log_alternate_epoch",
    "log_alternate_epoch_clock_id",
];

/// Names of jobs, files and processes.
const NAMES: &[&str] = &[
    "name",
    "description",
    "comm",
    "unique_filename",
    "opendir",
    "filetype",
    "profile",
    "write_iolog",
    "ioengine",
    // Which of all random streams it is.
    "randrepeat",
    "randseed",
    "random_generator",
];

/// The order of jobs, and what they do together.
const ORDER: &[&str] = &[
    "wait_for",
    "stonewall",
    "new_group",
    "exitall",
    "exitall_on_error",
    "thread",
    "group_reporting",
    "shared_stream",
];

/// What is measured and reported, and how.
const REPORTS: &[&str] = &[
    "stats",
    "write_bw_log",
    "bwavgtime",
    "write_iops_log",
    "iopsavgtime",
    "log_entries",
    "block_error_percentiles",
    "clat_percentiles",
    "lat_percentiles",
    "slat_percentiles",
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
