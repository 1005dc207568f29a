//! Trims of a verified job's writes (`trim_percentage`, `trim_backlog`): which writes are trimmed again, and when.
//!
//! Must not know: how trims are done. Start reading at [`TrimBacklog::next`].
//! Facts: the order of I/Os in traces of fio 3.41.

use super::pending::{PendingWrite, PendingWrites};
use ferrio_spec::TrimBacklogSpec;
use ferrio_units::random::{SeedIndex, SeedTable, Taus88};
use std::collections::VecDeque;

/// Writes that were chosen and are not trimmed yet.
#[derive(Debug)]
pub struct TrimBacklog {
    spec: TrimBacklogSpec,
    draws: Taus88,
    chosen: VecDeque<PendingWrite>,
    /// Number of trims left in the present batch.
    n_left: u64,
    /// The last I/O was a trim, so no batch begins now.
    was_trim: bool,
}

impl TrimBacklog {
    /// An empty backlog.
    pub fn new(spec: TrimBacklogSpec, seeds: &SeedTable) -> Self {
        let draws = Taus88::from_table(seeds, SeedIndex::TrimPick);
        Self { spec, draws, chosen: VecDeque::new(), n_left: 0, was_trim: false }
    }

    /// True if trimmed blocks must read back as zeroes.
    pub fn checks_zeroes(&self) -> bool {
        self.spec.checks_zeroes
    }

    /// Called after a write was issued: one draw decides whether it is to be trimmed.
    pub fn wrote(&mut self, write: PendingWrite) {
        self.was_trim = false;
        if self.draws.percent() <= self.spec.percent {
            self.chosen.push_back(write);
        }
    }

    /// Called after a read or a trim of the job itself was issued.
    pub fn issued(&mut self, is_trim: bool) {
        self.was_trim = is_trim;
    }

    /// The write to be trimmed before the next I/O of the job, if there is one.
    ///
    /// A batch begins after any I/O except for a trim, if the number of writes to read back is a multiple of the
    /// backlog. It ends early if no chosen write is left.
    pub fn next(&mut self, pending: &PendingWrites) -> Option<PendingWrite> {
        self.forget_overwritten(pending);
        let Some(write) = self.chosen.front().copied() else {
            self.n_left = 0;
            return None;
        };
        if self.n_left == 0 {
            if self.was_trim || !(pending.len() as u64).is_multiple_of(self.spec.backlog) {
                return None;
            }
            self.n_left = self.spec.batch;
        }
        self.n_left -= 1;
        self.was_trim = true;
        self.chosen.pop_front();
        Some(write)
    }

    /// True if writes wait for their trim and a batch for all of them will come: as in fio, the job does not end before
    /// that.
    pub fn has_waiting(&mut self, pending: &PendingWrites) -> bool {
        self.forget_overwritten(pending);
        !self.chosen.is_empty() && self.spec.batch >= self.spec.backlog
    }

    /// Forgets chosen writes that were overwritten or read back since.
    fn forget_overwritten(&mut self, pending: &PendingWrites) {
        while self.chosen.front().is_some_and(|write| !pending.has(write)) {
            self.chosen.pop_front();
        }
    }

    /// Ends the pass: writes that are not trimmed yet will not be.
    pub fn end_pass(&mut self) {
        self.chosen.clear();
        self.n_left = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::super::pending::WriteNumber;
    use super::*;

    /// Writes (`w`) and trims (`t`), each with its block.
    fn trace(n_writes: u64, spec: TrimBacklogSpec) -> String {
        // The seed of the traces of the peer.
        let mut trims = TrimBacklog::new(spec, &SeedTable::new(137, 1));
        let mut pending = PendingWrites::new(false);
        let mut trace = Vec::new();
        for block in 0..n_writes {
            let number = WriteNumber::new(block);
            let write = PendingWrite { file_index: 0, length_bytes: 1, offset_bytes: block, seed: 0, number };
            trace.push(format!("w{block}"));
            pending.push(write).expect("there is room");
            trims.wrote(write);
            while let Some(write) = trims.next(&pending) {
                trace.push(format!("t{}", write.offset_bytes));
                pending.trim(&write, spec.checks_zeroes);
            }
        }
        trace.join(" ")
    }

    /// Traces of fio 3.41 with `rw=write --randseed=137`.
    #[test]
    fn order_is_that_of_the_peer() {
        let all = TrimBacklogSpec { percent: 100, backlog: 4, batch: 4, checks_zeroes: true };
        let eight = TrimBacklogSpec { percent: 50, backlog: 8, batch: 4, checks_zeroes: true };
        let zeroes = TrimBacklogSpec { percent: 30, backlog: 3, batch: 5, checks_zeroes: true };
        for (spec, expected) in [
            (
                all,
                "w0 w1 w2 w3 t0 t1 t2 t3 w4 w5 w6 w7 t4 t5 t6 t7 w8 w9 w10 w11 t8 t9 t10 t11 w12 w13 w14 w15 t12 t13 t14 t15",
            ),
            (
                TrimBacklogSpec { batch: 2, ..all },
                "w0 w1 w2 w3 t0 t1 w4 w5 w6 w7 t2 t3 w8 w9 w10 w11 t4 t5 w12 w13 w14 w15 t6 t7",
            ),
            (
                eight,
                "w0 w1 w2 w3 w4 w5 w6 w7 t0 t1 t3 t4 w8 w9 w10 w11 w12 w13 w14 w15 t7 w16 w17 w18 w19 w20 w21 w22 w23 t16 t20 \
                 t21 t22 w24 w25 w26 w27 w28 w29 w30 w31 t24 t25 t27 t28",
            ),
            (
                zeroes,
                "w0 w1 w2 t0 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12 w13 w14 w15 w16 w17 t16 w18 w19 w20 t20 w21 w22 w23 t21 w24 \
                 w25 w26 t24 t25 w27 w28 w29 t28 w30 w31",
            ),
            (
                TrimBacklogSpec { checks_zeroes: false, ..zeroes },
                "w0 w1 w2 t0 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12 w13 w14 w15 w16 w17 w18 t16 w19 w20 w21 w22 t20 t21 w23 w24 \
                 t24 w25 t25 w26 w27 w28 w29 t28 w30 w31",
            ),
        ] {
            let n_writes = expected.matches('w').count() as u64;
            assert_eq!(trace(n_writes, spec), expected);
        }
    }

    /// A batch also begins after a read, but not after a trim of the mix.
    #[test]
    fn batches_begin_after_other_ios() {
        let spec = TrimBacklogSpec { percent: 100, backlog: 2, batch: 1, checks_zeroes: true };
        let mut trims = TrimBacklog::new(spec, &SeedTable::new(137, 1));
        let mut pending = PendingWrites::new(false);
        for block in 0..2 {
            let number = WriteNumber::new(block);
            let write = PendingWrite { file_index: 0, length_bytes: 1, offset_bytes: block, seed: 0, number };
            pending.push(write).expect("there is room");
            trims.wrote(write);
        }
        let mut next = || trims.next(&pending).map(|write| write.offset_bytes);
        assert_eq!([next(), next()], [Some(0), None]);
        trims.issued(true);
        assert!(trims.next(&pending).is_none());
        trims.issued(false);
        assert_eq!(trims.next(&pending).map(|write| write.offset_bytes), Some(1));
    }

    /// Expected values: the number of trims that fio 3.41 makes of 600 writes with the same seed.
    #[test]
    fn shares_are_those_of_the_peer() {
        for (percent, n_trimmed) in [(1, 6), (10, 64), (30, 193), (50, 301), (70, 415), (90, 544), (99, 595)] {
            let spec = TrimBacklogSpec { percent, backlog: 1, batch: 1, checks_zeroes: true };
            assert_eq!(trace(600, spec).matches('t').count(), n_trimmed, "{percent}");
        }
    }
}
