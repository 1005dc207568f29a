//! Rates that jobs were asked for, and what was done of them.
//!
//! Must not know: how much less is too little. Start reading at [`RateCourse::of`].

use crate::audit_input::AuditedJob;
use ferrio_spec::RateProcess;
use ferrio_units::DataDirection;

/// A shorter job says nothing of its rate, seconds.
const LEAST_SECS: f64 = 0.2;
/// Standard deviations by which random arrivals may differ from their rate.
const DEVIATIONS: f64 = 5.0;

/// What a rate counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RateUnit {
    /// `rate_iops`.
    Ios,
    /// `rate`.
    Bytes,
}

/// A rate of a direction and what all clones did together, in I/Os or bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RateCourse {
    pub(crate) direction: DataDirection,
    pub(crate) unit: RateUnit,
    pub(crate) wanted_per_sec: f64,
    done: f64,
    /// One I/O of each clone.
    one: f64,
    pub(crate) seconds: f64,
    /// I/Os that the rate wants in this time.
    pub(crate) n_wanted: f64,
}

impl RateCourse {
    /// The rate of this unit; `None`: the direction has none, did nothing, or ran for too short a time to tell.
    pub(crate) fn of(job: &AuditedJob<'_>, direction: DataDirection, unit: RateUnit) -> Option<Self> {
        let (pace, sizes) = (&job.spec.pace, &job.spec.pattern.block_size[direction]);
        let n_clones = job.workers.len() as f64;
        let figures = job.figures(direction)?;
        let seconds = job.seconds(direction);
        let (wanted, done, one, of_one) = match unit {
            // With sizes that differ a rate of I/Os may stand for a rate of bytes.
            RateUnit::Ios if sizes.min_bytes != sizes.max_bytes => return None,
            RateUnit::Ios => (f64::from(pace.ios_per_sec[direction]), figures.n_completed, 1.0, 1.0),
            RateUnit::Bytes => {
                let smallest = sizes.min_bytes.max(1) as f64;
                (pace.bytes_per_sec[direction] as f64, figures.bytes, sizes.max_bytes as f64, smallest)
            }
        };
        if wanted == 0.0 || seconds < LEAST_SECS {
            return None;
        }
        let wanted_per_sec = wanted * n_clones;
        let n_wanted = wanted_per_sec * seconds / of_one;
        Some(Self { direction, unit, wanted_per_sec, done: done as f64, one: one * n_clones, seconds, n_wanted })
    }

    /// A second of what was done.
    pub(crate) fn done_per_sec(&self) -> f64 {
        self.done / self.seconds
    }

    /// The same with one I/O more: the first I/O is due at once, and the last one needs no time after it.
    pub(crate) fn most_per_sec(&self) -> f64 {
        (self.done + self.one) / self.seconds
    }

    /// The same with one I/O less.
    pub(crate) fn least_per_sec(&self) -> f64 {
        (self.done - self.one) / self.seconds
    }

    /// The share of the rate by which random arrivals (`rate_process=poisson`) may differ from it; 0 of others.
    pub(crate) fn chance(&self, job: &AuditedJob<'_>) -> f64 {
        if job.spec.pace.process == RateProcess::Poisson { DEVIATIONS / self.n_wanted.sqrt() } else { 0.0 }
    }
}
