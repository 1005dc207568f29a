//! Figures of a job over an interval, while the run goes on.
//!
//! Must not know: how a run is followed. Start reading at [`IntervalOfJob`].

use crate::{Io, IoFigures};
use ferrio_stats::{JobFigures, JobIntervalStats};
use std::time::Duration;

/// Figures of a job, all its clones together, over an interval of a run. See [`Runner::follow`](crate::Runner::follow).
#[derive(Debug, Clone)]
pub struct IntervalOfJob {
    stretch: JobIntervalStats,
    figures: JobFigures,
}

impl IntervalOfJob {
    pub(crate) fn new(stretch: JobIntervalStats) -> Self {
        let mut figures = JobFigures::of_stats(&stretch.sum.stats);
        let rates = figures.directions.0.iter_mut().zip(stretch.iops.0.iter().zip(&stretch.bw_bytes.0));
        for (figures, (ios_per_sec, bytes_per_sec)) in rates {
            if let Some(figures) = figures {
                (figures.ios_per_sec, figures.bytes_per_sec) = (*ios_per_sec, *bytes_per_sec);
            }
        }
        Self { stretch, figures }
    }

    /// Name of the job.
    pub fn job(&self) -> &str {
        &self.stretch.sum.job_name
    }

    /// Number of its clones that did I/O in the interval.
    pub fn n_clones(&self) -> u32 {
        self.stretch.n_clones
    }

    /// Start of the interval, since the start of the run.
    pub fn start(&self) -> Duration {
        Duration::from_nanos(self.stretch.sum.start_ns)
    }

    /// End of the interval, since the start of the run. The last interval of a job is shorter than the others.
    pub fn end(&self) -> Duration {
        Duration::from_nanos(self.stretch.sum.end_ns)
    }

    /// Figures of a kind of I/O in this interval; `None`: there was none. Rates are over the length of the interval.
    pub fn figures(&self, kind: Io) -> Option<IoFigures<'_>> {
        self.figures.get(kind).map(IoFigures::new)
    }
}
