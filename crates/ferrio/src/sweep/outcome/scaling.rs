//! How throughput grows with the number of hosts: for each job, kind of I/O and combination of the other parameters.
//!
//! Must not know: what an efficiency is. Start reading at [`SweepOutcome::find_scalings`].

use super::SweepOutcome;
use super::knees::others;
use crate::sweep::space::{SweepAxis, SweptOption};
use ferrio_formats::IoKind;
use ferrio_insight::scaling::Scaling;
use ferrio_stats::{Confidence, Metric};
use serde::Serialize;

/// The growth of a job's throughput with the number of hosts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweptScaling {
    /// Name of the job.
    pub job: String,
    /// Kind of I/O.
    #[serde(rename = "of")]
    pub kind: IoKind,
    /// The other parameters, as a point writes them; empty: there are none.
    pub others: String,
    /// The growth; its throughput is in I/Os a second.
    #[serde(flatten)]
    pub scaling: Scaling,
}

impl SweepOutcome {
    /// Finds the growth with the number of hosts, where that is a parameter, when all points are there.
    pub(super) fn find_scalings(&mut self) {
        let is_of_hosts = |axis: &SweepAxis| axis.options.iter().any(SweptOption::is_number_of_hosts);
        let Some(along) = self.axes.iter().position(is_of_hosts) else { return };
        let mut scalings = Vec::new();
        for (job_index, job, kind) in self.jobs() {
            for line in self.lines(along) {
                let rates = line.iter().filter_map(|point| {
                    let rate = point.figure(job_index, kind, Metric::Iops)?;
                    let [low, high] = rate.interval.unwrap_or([rate.mean; 2]);
                    let n_hosts = point.point.n_hosts().ok().flatten()?;
                    Some((n_hosts, Confidence { value: rate.mean, low, high }))
                });
                let mut rates: Vec<(u32, Confidence)> = rates.collect();
                rates.sort_by_key(|(n_hosts, _)| *n_hosts);
                if let Some(scaling) = Scaling::of(&rates) {
                    scalings.push(SweptScaling {
                        job: job.clone(),
                        kind,
                        others: others(line[0], &self.axes[along]),
                        scaling,
                    });
                }
            }
        }
        self.scalings = scalings;
    }
}
