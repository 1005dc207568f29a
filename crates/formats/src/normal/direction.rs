//! The lines of one direction: rate, latencies, percentiles, samples.
//!
//! Must not know: other directions. Start reading at [`write()`].

use crate::compat;
use crate::direction_block::{self, DirectionBlock};
use crate::normal::{latency, percentiles};
use crate::text::put;
use crate::view::JobReport;
use ferrio_stats::{PriorityStat, ReportSettings};

/// Appends the lines of a direction; none if it did not run.
pub(super) fn write(out: &mut String, job: &JobReport<'_>, block: &DirectionBlock<'_>) {
    let (settings, stats) = (&job.settings, &*block.stats);
    if stats.bytes == 0 || stats.runtime_ms() == 0 {
        return;
    }
    rates(out, settings, block, job.is_sum_of_clients, job.stats.features.zone_resets);
    for (name, stat) in
        [("slat", &stats.slat), ("clat", &stats.clat), ("lat", &stats.lat), ("response", &stats.response)]
    {
        latency::write(out, name, stat);
    }
    let priorities = stats.priorities.shown();
    for stat in &priorities {
        latency::write(out, &priority_name(settings, stat), &stat.latency);
    }
    let kinds = [
        ("slat", &stats.slat, settings.slat_percentiles),
        ("clat", &stats.clat, settings.clat_percentiles),
        ("lat", &stats.lat, settings.lat_percentiles),
        ("response", &stats.response, true),
    ];
    for (name, stat, _) in kinds.into_iter().filter(|(_, _, wanted)| *wanted) {
        percentiles::write(out, name, stat, settings);
    }
    if settings.clat_percentiles || settings.lat_percentiles {
        for stat in &priorities {
            let percent = 100.0 * stat.latency.n_samples as f64 / stats.priorities.n_samples() as f64;
            let name = format!("{} ({percent:3.2}% of IOs)", priority_name(settings, stat));
            percentiles::write(out, &name, &stat.latency, settings);
        }
    }
    samples(out, settings, block);
}

/// `clat prio CLASS/LEVEL/HINT`.
fn priority_name(settings: &ReportSettings, stat: &PriorityStat) -> String {
    let kind = if settings.lat_percentiles { "lat" } else { "clat" };
    format!("{kind} prio {}/{}/{}", stat.class(), stat.level(), stat.hint())
}

fn rates(
    out: &mut String,
    settings: &ReportSettings,
    block: &DirectionBlock<'_>,
    is_sum_of_clients: bool,
    zone_resets: Option<u64>,
) {
    let stats = &*block.stats;
    let style = direction_block::style(settings.kb_base, settings.unit_bits, settings.significant_figures);
    let mut bw = style.rate(stats.bw_bytes_per_sec());
    if block.is_extra || is_sum_of_clients {
        compat::without_unit(&mut bw, stats.bw_bytes_per_sec(), style);
    }
    put!(
        out,
        "  {}: IOPS={}, BW={} ({})({}/{}msec)",
        block.name,
        style.count(stats.whole_ios_per_sec()),
        bw.primary,
        bw.alternate,
        style.amount(stats.bytes).primary,
        stats.runtime_ms()
    );
    if let Some(n_resets) = zone_resets {
        put!(out, "; {n_resets} zone resets");
    }
    put!(out, "\n");
}

fn samples(out: &mut String, settings: &ReportSettings, block: &DirectionBlock<'_>) {
    let (bw, iops) = (&block.stats.bw, &block.stats.iops);
    if bw.n_samples > 0 {
        let (divisor, label) = compat::sample_unit(bw.mean, settings.kb_base);
        put!(
            out,
            "   bw ({label:>5}/s): min={:5}, max={:5}, per={:3.2}%, avg={:5.2}, stdev={:5.2}, samples={}\n",
            bw.min / divisor,
            bw.max / divisor,
            block.percent_of_group(),
            bw.mean / divisor as f64,
            bw.standard_deviation() / divisor as f64,
            bw.n_samples
        );
    }
    if iops.n_samples > 0 {
        put!(
            out,
            "   iops        : min={:5}, max={:5}, avg={:5.2}, stdev={:5.2}, samples={}\n",
            iops.min,
            iops.max,
            iops.mean,
            iops.standard_deviation(),
            iops.n_samples
        );
    }
}
