//! The number of I/Os in flight.
//!
//! Start reading at [`means_fewer_in_flight`].

pub(crate) mod asynchronous_without_direct;
pub(crate) mod completions_in_batches;
pub(crate) mod depth_beyond_queue;
pub(crate) mod depth_not_reached;
pub(crate) mod depth_of_synchronous_engine;
pub(crate) mod effect_of_parallelism;
pub(crate) mod posixaio_one_file;
pub(crate) mod submission_blocked;

use ferrio_stats::Finding;

/// Findings by which a job had fewer I/Os in flight than its depth.
const FEWER: [&str; 5] = [
    asynchronous_without_direct::RULE.id,
    depth_not_reached::RULE.id,
    depth_of_synchronous_engine::RULE.id,
    posixaio_one_file::RULE.id,
    submission_blocked::RULE.id,
];

/// True if the finding says that fewer I/Os were in flight than the depth has: figures of such a run are those of a smaller depth.
pub fn means_fewer_in_flight(finding: &Finding) -> bool {
    FEWER.contains(&finding.id.as_str())
}
