//! The object of a latency.
//!
//! Must not know: directions. Start reading at [`write()`].

use super::Detail;
use super::writer::JsonWriter;
use crate::direction_block::min_ns;
use ferrio_stats::histogram::bucket_latency_ns;
use ferrio_stats::{Histogram, LatencyStat, ReportSettings, percentiles};

/// Writes a latency; percentiles (and bins) only if `settings` asks for them and there are samples and a distribution.
pub(super) fn write(
    writer: &mut JsonWriter,
    key: &str,
    stat: &LatencyStat,
    settings: Option<&ReportSettings>,
    detail: Detail,
) {
    writer.object(key, |writer| {
        moments(writer, stat);
        if let (Some(settings), Some(histogram), 1..) = (settings, &stat.histogram, stat.n_samples) {
            distribution(writer, histogram, settings, detail);
        }
    });
}

/// Writes the figures of a latency that need no distribution.
pub(super) fn moments(writer: &mut JsonWriter, stat: &LatencyStat) {
    writer.integer("min", min_ns(stat));
    writer.integer("max", stat.max_ns);
    writer.float("mean", stat.mean_ns());
    writer.float("stddev", stat.standard_deviation_ns());
    writer.integer("N", stat.n_samples);
}

pub(super) fn percentile_object(writer: &mut JsonWriter, latencies_ns: &[(f64, u64)]) {
    writer.object("percentile", |writer| {
        for (percentile, latency_ns) in latencies_ns {
            writer.integer(&format!("{percentile:.6}"), *latency_ns);
        }
    });
}

fn distribution(writer: &mut JsonWriter, histogram: &Histogram, settings: &ReportSettings, detail: Detail) {
    percentile_object(writer, &percentiles(histogram, &settings.percentiles));
    if detail == Detail::WithBins {
        writer.object("bins", |writer| {
            for (index, count) in histogram.folded() {
                writer.integer(&bucket_latency_ns(index).to_string(), count);
            }
        });
    }
}
