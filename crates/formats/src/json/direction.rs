//! The object of a direction; directions without I/O have one too, with zeroes.
//!
//! Must not know: jobs. Start reading at [`write()`].

use super::writer::JsonWriter;
use super::{Detail, latency};
use crate::direction_block::{DirectionBlock, min_sample};
use ferrio_stats::{DirectionStats, ReportSettings};

/// Writes the members of a direction's object.
pub(super) fn write(writer: &mut JsonWriter, settings: &ReportSettings, block: &DirectionBlock<'_>, detail: Detail) {
    let stats = &*block.stats;
    figures(writer, settings, stats, detail);
    priorities(writer, settings, stats, detail);
    samples(writer, block);
}

/// Writes the counts and the latencies of a direction.
pub(super) fn figures(writer: &mut JsonWriter, settings: &ReportSettings, stats: &DirectionStats, detail: Detail) {
    counts(writer, stats);
    let kinds = [
        ("slat_ns", &stats.slat, settings.slat_percentiles),
        ("clat_ns", &stats.clat, settings.clat_percentiles),
        ("lat_ns", &stats.lat, settings.lat_percentiles),
    ];
    for (key, stat, has_percentiles) in kinds {
        latency::write(writer, key, stat, has_percentiles.then_some(settings), detail);
    }
}

/// All priorities of a group are of the same kind; a check before the run ensures that.
fn priorities(writer: &mut JsonWriter, settings: &ReportSettings, stats: &DirectionStats, detail: Detail) {
    let shown = stats.priorities.shown();
    if shown.is_empty() {
        return;
    }
    let key = if settings.lat_percentiles { "lat_ns" } else { "clat_ns" };
    let has_percentiles = settings.lat_percentiles || settings.clat_percentiles;
    writer.array("prios", |writer| {
        for stat in shown {
            writer.element(|writer| {
                writer.integer("prioclass", stat.class());
                writer.integer("prio", stat.level());
                writer.integer("priohint", stat.hint());
                latency::write(writer, key, &stat.latency, has_percentiles.then_some(settings), detail);
            });
        }
    });
}

fn counts(writer: &mut JsonWriter, stats: &DirectionStats) {
    let bw_bytes_per_sec = stats.bw_bytes_per_sec();
    writer.integer("io_bytes", stats.bytes);
    writer.integer("io_kbytes", stats.bytes >> 10);
    writer.integer("bw_bytes", bw_bytes_per_sec);
    writer.integer("bw", bw_bytes_per_sec / 1024);
    writer.float("iops", stats.ios_per_sec());
    writer.integer("runtime", stats.runtime_ms());
    writer.integer("total_ios", stats.n_issued);
    writer.integer("short_ios", stats.n_short);
    writer.integer("drop_ios", stats.n_dropped);
}

fn samples(writer: &mut JsonWriter, block: &DirectionBlock<'_>) {
    let (bw, iops) = (&block.stats.bw, &block.stats.iops);
    writer.integer("bw_min", min_sample(bw));
    writer.integer("bw_max", bw.max);
    writer.float("bw_agg", block.percent_of_group());
    writer.float("bw_mean", bw.mean);
    writer.float("bw_dev", bw.standard_deviation());
    writer.integer("bw_samples", bw.n_samples);
    writer.integer("iops_min", min_sample(iops));
    writer.integer("iops_max", iops.max);
    writer.float("iops_mean", iops.mean);
    writer.float("iops_stddev", iops.standard_deviation());
    writer.integer("iops_samples", iops.n_samples);
}
