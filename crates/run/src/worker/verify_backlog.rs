//! `verify_backlog`: what was written is read back between writes.
//!
//! Must not know: blocks, loops. Start reading at [`Backlog`], then [`Worker::read_backlog`].
//! Facts: reference "Verify"; order of reads among writes as traced by fio 3.33 with one I/O at a time.

use super::verify::Verifier;
use super::{Stop, Worker};
use ferrio_job::spec::VerifyBacklogSpec;
use ferrio_workload::verify::pending::PendingWrite;
use ferrio_workload::workload::StreamCopy;

/// How far a job is between two rounds of reading back.
#[derive(Debug)]
pub(super) struct Backlog {
    spec: VerifyBacklogSpec,
    /// Blocks of the present batch that are still to be read back, as far as there are any.
    n_left: u64,
    /// A write was made since.
    is_due: bool,
}

impl Backlog {
    pub(super) fn new(spec: VerifyBacklogSpec) -> Self {
        Self { spec, n_left: 0, is_due: false }
    }

    /// There was a write; with it so many wait. A batch begins where a multiple of the backlog waits; one that found too few
    /// goes on with each write.
    pub(super) fn wrote(&mut self, n_pending: u64) {
        if self.n_left == 0 && n_pending > 0 && n_pending.is_multiple_of(self.spec.blocks) {
            self.n_left = self.spec.batch;
        }
        self.is_due = self.n_left > 0;
    }

    pub(super) fn is_due(&self) -> bool {
        self.is_due
    }

    pub(super) fn n_wanted(&self) -> usize {
        usize::try_from(self.n_left).unwrap_or(usize::MAX)
    }

    pub(super) fn took(&mut self, n: u64) {
        self.n_left -= n;
        self.is_due = false;
    }
}

impl Verifier {
    /// What was written is to be read back before the next I/O.
    pub(super) fn is_backlog_due(&self) -> bool {
        self.backlog.as_ref().is_some_and(Backlog::is_due)
    }

    /// What is to be read back now, of what is remembered.
    fn take_backlog(&mut self) -> Vec<PendingWrite> {
        let n_wanted = self.backlog.as_ref().map_or(0, Backlog::n_wanted);
        let writes = self.take_some(n_wanted);
        if let Some(backlog) = &mut self.backlog {
            backlog.took(writes.len() as u64);
        }
        writes
    }
}

impl Worker<'_> {
    /// When the loop looks up: reads back what is due. What is in flight is waited for, so that it is there. `Some`: the pass
    /// ends.
    pub(super) fn read_backlog(&mut self) -> Option<Stop> {
        if !self.verifier.as_ref().is_some_and(|verifier| verifier.is_backlog_due()) {
            return None;
        }
        if let Err(stop) = self.drain() {
            return Some(stop);
        }
        let copy = self.take_due_copy();
        let writes = match (&copy, &mut self.verifier) {
            (None, Some(verifier)) => verifier.take_backlog(),
            _ => Vec::new(),
        };
        let writes = self.up_to_state(writes);
        if copy.is_none() && writes.is_empty() {
            return None;
        }
        let now_ns = self.clock.now_ns();
        self.end_of_pass(now_ns);
        let stop = match copy {
            Some((copy, n_writes)) => self.read_back(|workload| workload.regenerate(copy, n_writes)),
            None => self.read_back(|workload| workload.read_back(writes)),
        };
        if stop == Stop::PassEnd { None } else { Some(stop) }
    }

    /// Where nothing is remembered: what makes the writes once more, and how many of them are due.
    fn take_due_copy(&mut self) -> Option<(StreamCopy, u64)> {
        let (copy, n_waiting) = self.take_copy()?;
        let backlog = self.verifier.as_mut()?.backlog.as_mut()?;
        let n_due = n_waiting.min(backlog.n_left);
        backlog.took(n_due);
        Some((copy, n_due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_workload::verify::pending::{PendingWrites, WriteNumber};

    /// The sequence of a job that writes: what it does, by number of the block.
    fn order(n_writes: u64, blocks: u64, batch: u64) -> String {
        let mut backlog = Backlog::new(VerifyBacklogSpec { blocks, batch });
        let (mut n_read, mut words) = (0, Vec::new());
        for block in 0..n_writes {
            words.push(format!("w{block}"));
            backlog.wrote(block + 1 - n_read);
            if backlog.is_due() {
                let n = (backlog.n_wanted() as u64).min(block + 1 - n_read);
                words.extend((n_read..n_read + n).map(|block| format!("r{block}")));
                n_read += n;
                backlog.took(n);
            }
        }
        words.join(" ")
    }

    /// What waits stays below a small limit, in order and where writes lie over each other; without a backlog it does not.
    #[test]
    fn a_backlog_bounds_what_is_remembered() {
        for overlap in [false, true] {
            for (blocks, batch) in [(4, 4), (4, 1), (3, 7), (1, 1)] {
                let mut pending = PendingWrites::with_limit(overlap, 8);
                let mut backlog = Backlog::new(VerifyBacklogSpec { blocks, batch });
                for sequence in 0..1_000 {
                    pending.push(write(sequence)).expect("the backlog makes room");
                    backlog.wrote(pending.len() as u64);
                    if backlog.is_due() {
                        backlog.took(pending.take_some(backlog.n_wanted()).len() as u64);
                    }
                }
                assert!(pending.n_most() <= 8, "{overlap} {blocks} {batch}");
            }
            let mut pending = PendingWrites::with_limit(overlap, 8);
            let n_kept = (0..1_000).take_while(|sequence| pending.push(write(*sequence)).is_ok()).count();
            assert_eq!((n_kept, pending.n_most()), (8, 8));
        }
    }

    fn write(sequence: u64) -> PendingWrite {
        let number = WriteNumber::new(sequence);
        PendingWrite { file_index: 0, length_bytes: 4096, offset_bytes: sequence * 4096, seed: 0, number }
    }

    // As traced by fio 3.33: rw=write, ioengine=psync and libaio at a depth of 1.
    #[test]
    fn the_order_is_that_of_the_peer() {
        assert_eq!(order(8, 4, 4), "w0 w1 w2 w3 r0 r1 r2 r3 w4 w5 w6 w7 r4 r5 r6 r7");
        assert_eq!(order(8, 4, 2), "w0 w1 w2 w3 r0 r1 w4 w5 r2 r3 w6 w7 r4 r5");
        assert_eq!(order(8, 2, 4), "w0 w1 r0 r1 w2 r2 w3 r3 w4 w5 r4 r5 w6 r6 w7 r7");
        assert_eq!(order(7, 3, 3), "w0 w1 w2 r0 r1 r2 w3 w4 w5 r3 r4 r5 w6");
    }
}
