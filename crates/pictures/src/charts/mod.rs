//! From results to charts: one file a kind of chart, one table of them.
//!
//! Must not know: how charts are drawn. Start reading at [`charts`].

mod depth;
pub(crate) mod distribution;
mod heat;
pub(crate) mod hosts;
pub(crate) mod latency;
pub(crate) mod overlay;
pub(crate) mod rates;
mod syncs;
pub(crate) mod together;

use crate::chart::Chart;
use ferrio_formats::JobResult;

/// Most points of a line, where a chart shows few jobs.
pub const MOST_POINTS: usize = 1000;

/// Makes the charts of one kind of some jobs together, with at most this number of points a line.
type Kind = fn(&[&JobResult], usize) -> Vec<Chart>;

/// The kinds of charts, in the order in which they are shown.
const KINDS: &[Kind] = &[
    rates::iops,
    rates::bandwidth,
    latency::over_time,
    syncs::over_time,
    heat::maps,
    distribution::histogram,
    distribution::cumulative,
    depth::shares,
];

/// All charts of some jobs together for which there are figures.
pub fn charts(jobs: &[&JobResult], most_points: usize) -> Vec<Chart> {
    KINDS.iter().flat_map(|kind| kind(jobs, most_points)).collect()
}

#[cfg(test)]
mod tests;
