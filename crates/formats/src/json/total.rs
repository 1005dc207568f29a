//! `total`: the sum of the jobs of all groups (`report_total`).
//!
//! Must not know: how groups are summed. Start reading at [`write()`].

use super::writer::JsonWriter;
use super::{Detail, direction, latency};
use crate::direction_block::DirectionBlock;
use crate::view::FioView;

/// Writes the key; none if no job asks for it.
pub(super) fn write(writer: &mut JsonWriter, result: &FioView<'_>, detail: Detail) {
    let Some(total) = &result.total else { return };
    let settings = &total.job.settings;
    writer.object("total", |writer| {
        writer.integer("jobs", total.job.n_members);
        writer.integer("groups", total.n_groups);
        for block in DirectionBlock::of_total(result, total) {
            writer.object(block.name, |writer| direction::figures(writer, settings, &block.stats, detail));
        }
        let has_percentiles = settings.clat_percentiles || settings.lat_percentiles;
        writer.object("sync", |writer| {
            writer.integer("total_ios", total.job.stats.n_syncs_issued);
            latency::write(writer, "lat_ns", &total.job.stats.sync, has_percentiles.then_some(&**settings), detail);
        });
    });
}
