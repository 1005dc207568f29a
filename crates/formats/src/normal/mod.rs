//! The report for people (`--output-format=normal`): job blocks, group blocks, devices.
//!
//! Must not know: threads, engines, other formats. Start reading at [`render`], or at `reader`; the other modules below are in the order of
//! the text.

mod block_states;
mod buckets;
mod direction;
mod disk;
mod group;
mod idleness;
mod job;
mod latency;
mod percentiles;
pub(crate) mod reader;
mod steady_state;
mod total;
mod usage;

pub use idleness::calibration;

use crate::LocalTime;
use crate::view::FioView;

/// The blocks of jobs alone.
pub(crate) fn job_block(result: &FioView<'_>, zone: &LocalTime) -> String {
    let mut out = String::new();
    let date = zone.ctime(result.record.timestamp_ms);
    for job in &result.jobs {
        job::write(&mut out, result, job, &date);
    }
    out
}

/// The whole report, in the system's time zone. Begins with an empty line.
pub fn render(result: &FioView<'_>) -> String {
    render_in(result, &LocalTime::system())
}

/// The whole report with dates of a given zone.
pub fn render_in(result: &FioView<'_>, zone: &LocalTime) -> String {
    let mut out = String::from("\n");
    let date = zone.ctime(result.record.timestamp_ms);
    for job in result.jobs.iter().filter(|job| !job.stats.is_idle()) {
        job::write(&mut out, result, job, &date);
    }
    for (group_index, group) in result.groups.iter().enumerate() {
        group::write(&mut out, group_index, group);
    }
    if let Some(total) = &result.total {
        total::write(&mut out, result, total);
    }
    if let Some(disks) = &result.disks {
        disk::write(&mut out, disks);
    }
    if let Some(idleness) = result.record.idleness() {
        idleness::write(&mut out, idleness);
    }
    out
}
