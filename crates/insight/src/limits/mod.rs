//! Limits of figures: whether the values of several runs are within one.
//!
//! Must not know: recipes, jobs, what runs next. Start reading at [`judge()`], then [`FitBound`].

mod bound;
mod judge;

pub use bound::{FitBound, FitVerdict};
pub use judge::{CLEAR, certain_interval, error_of_look, judge};

use serde::{Deserialize, Serialize};

/// Runs at a value near the limit before it can be decided.
pub const FEWEST_RUNS: usize = 3;

/// What the runs at a value tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitVerdict {
    /// All limits certainly hold.
    Within,
    /// A limit certainly does not hold.
    Beyond,
    /// The runs do not decide.
    Undecided,
}

/// Where a limit comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitSource {
    pub title: String,
    pub url: String,
    /// When it said so.
    pub year: u32,
    /// What it says, in other words.
    pub says: String,
}
