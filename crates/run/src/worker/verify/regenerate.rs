//! Writes that the stream makes again, instead of remembering them (`experimental_verify`).
//!
//! Must not know: slots, loops. Start reading at [`Regeneration`].

use super::expect::Expectations;
use super::stamp::Stamping;
use ferrio_engine::IoUnit;
use ferrio_units::random::Taus88;
use ferrio_workload::Workload;
use ferrio_workload::verify::block::Expected;
use ferrio_workload::workload::StreamCopy;
use std::collections::BTreeSet;

/// Makes the writes of a pass again.
pub(crate) struct Regeneration {
    copy: Option<StreamCopy>,
    seeds: Taus88,
    /// Number of the next write.
    sequence: u64,
    /// Numbers of the writes that failed.
    failed: BTreeSet<u64>,
}

impl Regeneration {
    /// For a pass that begins now.
    pub(crate) fn new(workload: &Workload, stamping: &Stamping) -> Self {
        Self { copy: workload.copy(), seeds: stamping.seeds(), sequence: stamping.n_writes(), failed: BTreeSet::new() }
    }

    /// Number of the pass's writes that were not made again yet; `n_writes`: all writes of the job.
    pub(crate) fn n_waiting(&self, n_writes: u64) -> u64 {
        n_writes.saturating_sub(self.sequence)
    }

    /// Called after a write has failed: it will not be checked.
    pub(crate) fn forget(&mut self, number: u64) {
        self.failed.insert(number);
    }

    /// The expected result of the next read; `None`: anything.
    pub(crate) fn next(
        &mut self,
        read: &IoUnit,
        stamping: &mut Stamping,
        expectations: &Expectations,
    ) -> Option<Expected> {
        let (seed, sequence) = (self.seeds.buffer_seed(), self.sequence);
        self.sequence += 1;
        stamping.prepare_regenerated(seed, read.length_bytes, &self.seeds);
        let expected = expectations.of_numbers(read.offset_bytes, seed, sequence);
        (!self.failed.contains(&sequence)).then_some(expected)
    }

    /// The stream that makes the writes again, and how many of them are left; `None`: none.
    pub(crate) fn take_copy(&mut self, n_writes: u64) -> Option<(StreamCopy, u64)> {
        let n_left = self.n_waiting(n_writes);
        self.copy.take().filter(|_| n_left > 0).map(|copy| (copy, n_left))
    }

    /// Called when the job continues: keeps the stream that makes its writes again, in its present state.
    pub(crate) fn keep_copy(&mut self, copy: Option<StreamCopy>) {
        self.copy = copy;
    }
}
