//! `verify_backlog`: written blocks are read back between writes.
//!
//! Must not know: blocks, loops. Start reading at [`Backlog`].
//! Facts: reference "Verify"; order of reads among writes as traced by fio 3.41 with one I/O at a time.

use ferrio_spec::VerifyBacklogSpec;

/// Progress of a job between two batches of reads.
#[derive(Debug)]
pub(crate) struct Backlog {
    /// Number of blocks that are written before some are read back.
    n_between: u64,
    /// Number of blocks that are read back then.
    n_in_batch: u64,
    /// Number of blocks of the present batch still to be read back, if there are as many.
    n_left: u64,
    /// There was a write since the last batch.
    is_due: bool,
}

impl Backlog {
    pub(crate) fn new(spec: VerifyBacklogSpec) -> Self {
        Self { n_between: spec.blocks, n_in_batch: spec.batch, n_left: 0, is_due: false }
    }

    /// Counts a write; `n_pending` writes then wait. A batch begins when that is a multiple of the backlog. A batch
    /// that found too few blocks continues after each write.
    pub(crate) fn wrote(&mut self, n_pending: u64) {
        if self.n_left == 0 && n_pending > 0 && n_pending.is_multiple_of(self.n_between) {
            self.n_left = self.n_in_batch;
        }
        self.is_due = self.n_left > 0;
    }

    pub(crate) fn is_due(&self) -> bool {
        self.is_due
    }

    pub(crate) fn n_wanted(&self) -> usize {
        usize::try_from(self.n_left).unwrap_or(usize::MAX)
    }

    /// Number of blocks of the present batch still to be read back, if there are as many.
    pub(crate) fn n_left(&self) -> u64 {
        self.n_left
    }

    pub(crate) fn took(&mut self, n: u64) {
        debug_assert!(n <= self.n_left, "no more blocks are read back than were wanted");
        self.n_left -= n;
        self.is_due = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_workload::verify::pending::{PendingWrite, PendingWrites, WriteNumber};

    /// The sequence of reads and writes of a job that writes, by block number.
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

    /// The number of waiting writes stays small, in order and if writes overlap; without a backlog it does not.
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

    // Expected: traces of fio 3.41 with rw=write, ioengine=psync, and libaio at a depth of 1.
    #[test]
    fn the_order_is_that_of_the_peer() {
        assert_eq!(order(8, 4, 4), "w0 w1 w2 w3 r0 r1 r2 r3 w4 w5 w6 w7 r4 r5 r6 r7");
        assert_eq!(order(8, 4, 2), "w0 w1 w2 w3 r0 r1 w4 w5 r2 r3 w6 w7 r4 r5");
        assert_eq!(order(8, 2, 4), "w0 w1 r0 r1 w2 r2 w3 r3 w4 w5 r4 r5 w6 r6 w7 r7");
        assert_eq!(order(7, 3, 3), "w0 w1 w2 r0 r1 r2 w3 w4 w5 r3 r4 r5 w6");
    }
}
