//! The runs of a load: how many there are, and what is kept of them.
//!
//! Must not know: how runs are made, verdicts. Start reading at [`LoadRuns`].

use crate::fit::tail::FEWEST_TO_FIT;
use crate::fit::together::Bins;
use ferrio_formats::RunResult;
use std::collections::BTreeMap;

/// Runs of a load, which share its time, and the most where they do not decide.
pub(crate) const N_RUNS: u32 = 4;
pub(crate) const MOST_RUNS: u32 = 8;
/// The most runs of a load with a percentile: twice the fewest after which it may fit.
pub(crate) const MOST_TAIL_RUNS: u32 = 2 * FEWEST_TO_FIT;

/// The runs of a load, some times as large or as it is.
#[derive(Debug, Default)]
pub(crate) struct LoadRuns {
    pub(crate) results: Vec<RunResult>,
    /// For each run, the sums of latencies that limits are about, by the index of the limit.
    pub(crate) sums: Vec<BTreeMap<usize, Bins>>,
}
