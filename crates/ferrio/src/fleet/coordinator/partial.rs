//! The record of a host that was lost: what it had told in its intervals.

use super::MeasuredHost;
use crate::fleet::interval_sums::add_in_time;
use crate::session::VERSION;
use ferrio_stats::{IntervalStats, RunRecord, WorkerFate, WorkerRecord};
use std::collections::BTreeMap;

/// The figures of a host so far, by the number of the job's clone.
#[derive(Debug, Default)]
pub(super) struct PartialRecord {
    workers: BTreeMap<u32, WorkerRecord>,
    elapsed_ns: u64,
    epoch_ms: u64,
}

impl PartialRecord {
    /// Counts an interval.
    pub(super) fn add(&mut self, interval: &IntervalStats) {
        self.elapsed_ns = self.elapsed_ns.max(interval.end_ns);
        self.epoch_ms = interval.run_epoch_ms;
        let worker = self.workers.entry(interval.job_number).or_insert_with(|| WorkerRecord {
            name: interval.job_name.clone(),
            number: interval.job_number,
            job_index: interval.job_number.saturating_sub(1),
            group_index: interval.group_index,
            directions: interval.directions,
            fate: WorkerFate { was_let_go: true, is_cut_short: true, ..WorkerFate::default() },
            ..WorkerRecord::default()
        });
        add_in_time(&mut worker.stats, &interval.stats, interval.end_ns.saturating_sub(interval.start_ns));
    }

    /// The outcome of a host that has told no other.
    pub(super) fn into_outcome(self) -> MeasuredHost {
        let n_failed = self.workers.len() as u32;
        let record = RunRecord {
            version: VERSION.to_owned(),
            elapsed_ns: self.elapsed_ns,
            timestamp_ms: self.epoch_ms.saturating_add(self.elapsed_ns / 1_000_000),
            workers: self.workers.into_values().collect(),
            ..RunRecord::default()
        };
        MeasuredHost { record, n_failed, is_stopped: true, n_logs_lost: 0, n_intervals_lost: 0 }
    }
}
