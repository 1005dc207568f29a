//! The object of a job, or of the jobs of a group summed.
//!
//! Must not know: devices. Start reading at [`write()`].

use super::writer::JsonWriter;
use super::{Detail, block_states, direction, latency, options, steady_state};
use crate::direction_block::{
    BATCH_LABELS, DEPTH_LABELS, DirectionBlock, LATENCY_LABELS, cpu_percent, depth_percents, latency_percent, whole_ms,
};
use crate::view::{FioView, JobReport};
use ferrio_stats::ThreadStats;
use ferrio_units::DataDirection;

/// Where a job has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JobPlace {
    Here,
    /// On a server of `--client`, whose clock is not that of the report.
    Server,
}

/// Writes the members of a job's object.
pub(super) fn write(
    writer: &mut JsonWriter,
    result: &FioView<'_>,
    job: &JobReport<'_>,
    place: JobPlace,
    detail: Detail,
) {
    writer.string("jobname", &job.name);
    writer.integer("groupid", job.group_index);
    writer.integer("job_start", job.stats.job_start_ms);
    writer.integer("error", job.stats.errno);
    if place == JobPlace::Here {
        writer.integer("eta", result.eta_secs);
        writer.integer("elapsed", result.elapsed_secs);
    }
    options(writer, "job options", &job.given_options);
    io(writer, result, job, detail);
    usage(writer, &job.stats);
    depths(writer, &job.stats);
    latency_buckets(writer, &job.stats);
    if job.settings.show_errors {
        writer.integer("total_err", job.stats.tolerated.n_total);
        writer.integer("first_error", job.stats.tolerated.first_errno);
    }
    latency_target(writer, job);
    if let Some(description) = &job.description {
        writer.string("desc", description);
    }
    if let Some(states) = &job.stats.features.block_states {
        block_states::write(writer, &job.settings, states);
    }
    if let Some(state) = &job.steady_state {
        steady_state::write(writer, state);
    }
    // A job that only trims zones has no figures of trims here; only the text mentions them.
    let directions = &job.stats.directions;
    let only_trims = directions[DataDirection::Trim].n_issued > 0 && directions[DataDirection::Write].n_issued == 0;
    if let Some(n_resets) = job.stats.features.zone_resets.filter(|_| !only_trims) {
        writer.integer("zone_resets", n_resets);
    }
    if let Some(host) = &job.host {
        writer.string("hostname", host);
    }
}

/// The directions and the syncs; the sum of the directions comes after the syncs.
fn io(writer: &mut JsonWriter, result: &FioView<'_>, job: &JobReport<'_>, detail: Detail) {
    let blocks = DirectionBlock::all(result, job);
    for block in blocks.iter().filter(|block| !block.is_extra) {
        writer.object(block.name, |writer| direction::write(writer, &job.settings, block, detail));
    }
    if !job.settings.unified_mixed {
        let has_percentiles = job.settings.clat_percentiles || job.settings.lat_percentiles;
        writer.object("sync", |writer| {
            writer.integer("total_ios", job.stats.n_syncs_issued);
            latency::write(writer, "lat_ns", &job.stats.sync, has_percentiles.then_some(&job.settings), detail);
        });
    }
    for block in blocks.iter().filter(|block| block.is_extra) {
        writer.object(block.name, |writer| direction::write(writer, &job.settings, block, detail));
    }
}

fn usage(writer: &mut JsonWriter, stats: &ThreadStats) {
    writer.integer("job_runtime", whole_ms(stats.total_runtime_ns));
    writer.float("usr_cpu", cpu_percent(stats.usage.user_ns, stats.total_runtime_ns));
    writer.float("sys_cpu", cpu_percent(stats.usage.system_ns, stats.total_runtime_ns));
    writer.integer("ctx", stats.usage.context_switches);
    writer.integer("majf", stats.usage.major_faults);
    writer.integer("minf", stats.usage.minor_faults);
}

fn depths(writer: &mut JsonWriter, stats: &ThreadStats) {
    let mut shares = |key: &str, labels: [&str; 7], percents: [f64; 7]| {
        writer.object(key, |writer| {
            for (label, percent) in labels.iter().zip(percents) {
                writer.float(label, percent);
            }
        });
    };
    shares("iodepth_level", DEPTH_LABELS, depth_percents(&stats.depth.0, stats.n_issued()));
    shares("iodepth_submit", BATCH_LABELS, depth_percents(&stats.submit.0, stats.submit.n_calls()));
    shares("iodepth_complete", BATCH_LABELS, depth_percents(&stats.complete.0, stats.complete.n_calls()));
}

fn latency_buckets(writer: &mut JsonWriter, stats: &ThreadStats) {
    let buckets = &stats.latency_buckets;
    let units: [(&str, &[u64]); 3] =
        [("latency_ns", &buckets.ns), ("latency_us", &buckets.us), ("latency_ms", &buckets.ms)];
    for (key, counts) in units {
        writer.object(key, |writer| {
            for (label, count) in LATENCY_LABELS.iter().zip(counts) {
                writer.float(label, latency_percent(*count, stats.n_issued()));
            }
        });
    }
}

/// Several keys have the same value, because fio keeps older names.
fn latency_target(writer: &mut JsonWriter, job: &JobReport<'_>) {
    if job.latency_depth == 0 {
        return;
    }
    let target = &job.stats.latency_search.target;
    writer.integer("latency_depth", job.latency_depth);
    writer.integer("latency_target", target.target_ns);
    writer.integer("latency_target_ns", target.target_ns);
    writer.float("latency_percentile", target.percentile);
    writer.integer("latency_window", target.window_ns / 1000);
    writer.integer("latency_window_us", target.window_ns / 1000);
}
