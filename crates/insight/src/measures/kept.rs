//! Measures that are computed once for a case, because they take time and several rules ask for them.
//!
//! Must not know: the case, so that the case can own them. Start reading at [`MeasureCache`].

use ferrio_inference::Change;
use ferrio_units::DataDirection;
use std::cell::OnceCell;

/// The measures that were asked for so far.
#[derive(Default)]
pub(crate) struct MeasureCache {
    pub(super) shortfalls: OnceCell<Vec<Shortfall>>,
    pub(super) courses: OnceCell<Vec<FreeCourse>>,
}

/// Work of jobs that the devices of a level have not seen.
pub(crate) struct Shortfall {
    /// Number of levels above this one.
    pub(crate) depth: usize,
    pub(crate) direction: DataDirection,
    /// Names of the devices.
    pub(crate) level: Vec<String>,
    /// Names of the devices of the level above, for which these have worked.
    pub(crate) upper: Option<Vec<String>>,
    /// Positions of the jobs in the run.
    pub(crate) job_indices: Vec<usize>,
    pub(crate) claimed_bytes: u64,
    pub(crate) device_bytes: u64,
}

/// The course of a job that nothing holds back on purpose.
pub(crate) struct FreeCourse {
    pub(crate) job_index: usize,
    pub(crate) interval_secs: f64,
    /// I/Os in each interval.
    pub(crate) ios: Vec<f64>,
    /// The place at which a steady rate changed to another steady one.
    pub(crate) change: Option<Change>,
}

impl FreeCourse {
    /// A change to a lower rate.
    pub(crate) fn fall(&self) -> Option<Change> {
        self.change.filter(|change| change.after < change.before)
    }

    /// A change to a higher rate.
    pub(crate) fn rise(&self) -> Option<Change> {
        self.change.filter(|change| change.after > change.before)
    }
}
