//! Which of the writes of a verified job are trimmed again, and when (`trim_percentage`, `trim_backlog`).
//!
//! Must not know: how trims are done. Start reading at [`TrimBacklog::next`].
//! Facts: the order of I/Os in traces of fio 3.33 (`rw=trimwrite`: other jobs with these options crash there).

use super::pending::{PendingWrite, PendingWrites};
use ferrio_job::spec::TrimBacklogSpec;
use ferrio_units::random::{SeedIndex, SeedTable, Taus88};
use std::collections::VecDeque;

/// The writes that were chosen and are not trimmed yet.
#[derive(Debug)]
pub struct TrimBacklog {
    spec: TrimBacklogSpec,
    draws: Taus88,
    chosen: VecDeque<PendingWrite>,
    /// Trims that may follow at once.
    n_left: u64,
}

impl TrimBacklog {
    /// Nothing is chosen yet.
    pub fn new(spec: TrimBacklogSpec, seeds: &SeedTable) -> Self {
        Self { spec, draws: Taus88::from_table(seeds, SeedIndex::TrimPick), chosen: VecDeque::new(), n_left: 0 }
    }

    /// What is trimmed must read back as zeroes.
    pub fn checks_zeroes(&self) -> bool {
        self.spec.checks_zeroes
    }

    /// A write was issued: one draw decides whether it is to be trimmed.
    pub fn wrote(&mut self, write: PendingWrite) {
        if self.draws.percent() <= self.spec.percent {
            self.chosen.push_back(write);
        }
    }

    /// The write to be trimmed before the next I/O of the job, if there is one.
    ///
    /// Whenever the number of writes that are to be read back is a multiple of the backlog, one trim is due and a batch
    /// besides; what of the batch finds nothing chosen is for those chosen later.
    pub fn next(&mut self, pending: &PendingWrites) -> Option<PendingWrite> {
        while self.chosen.front().is_some_and(|write| !pending.has(write)) {
            self.chosen.pop_front();
        }
        let first = self.chosen.front()?;
        if self.n_left > 0 {
            self.n_left -= 1;
        } else if (pending.len() as u64).is_multiple_of(self.spec.backlog) {
            self.n_left = self.spec.batch;
        } else {
            return None;
        }
        let write = *first;
        self.chosen.pop_front();
        Some(write)
    }

    /// The pass is over: what was not trimmed will not be.
    pub fn end_pass(&mut self) {
        self.chosen.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::pending::WriteNumber;
    use super::*;

    /// Blocks as they are written (`w`) and trimmed (`t`).
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

    /// Traces of fio 3.33 with `rw=trimwrite --randseed=137`, without the trims of the mix.
    #[test]
    fn order_is_that_of_the_peer() {
        let spec = TrimBacklogSpec { percent: 100, backlog: 4, batch: 4, checks_zeroes: true };
        let all = "w0 w1 w2 w3 t0 t1 t2 t3 w4 t4 w5 w6 w7 t5 t6 t7 w8 t8 w9 t9 w10 w11 t10 t11 w12 t12 w13 t13 w14 t14 w15 t15";
        assert_eq!(trace(16, spec), all);
        let in_twos = "w0 w1 w2 w3 t0 t1 t2 t3 w4 t4 w5 t5 w6 w7 t6 t7 w8 t8 w9 w10 w11 t9 t10 t11 w12 w13 w14 w15 t12 t13 t14 t15";
        assert_eq!(trace(16, TrimBacklogSpec { batch: 2, ..spec }), in_twos);
        let half = "w0 w1 w2 w3 t0 t1 t3 w4 t4 w5 w6 w7 t7 w8 w9 w10 w11 w12 w13 w14 w15";
        assert_eq!(trace(16, TrimBacklogSpec { percent: 50, ..spec }), half);
        let forgotten =
            "w0 w1 w2 w3 t0 t1 t2 t3 w4 t4 w5 w6 w7 w8 t5 t6 t7 t8 w9 t9 w10 w11 w12 w13 t10 t11 t12 t13 w14 t14 w15";
        assert_eq!(trace(16, TrimBacklogSpec { checks_zeroes: false, ..spec }), forgotten);
    }

    /// Of 600 writes fio 3.33 trimmed so many, with the same seed.
    #[test]
    fn shares_are_those_of_the_peer() {
        for (percent, n_trimmed) in [(1, 6), (10, 64), (30, 193), (50, 301), (70, 415), (90, 544), (99, 595)] {
            let spec = TrimBacklogSpec { percent, backlog: 1, batch: 1, checks_zeroes: true };
            assert_eq!(trace(600, spec).matches('t').count(), n_trimmed, "{percent}");
        }
    }
}
