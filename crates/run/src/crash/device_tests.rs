//! A device whose cache is lost in a crash: nothing that such a crash may leave is called a fault, and everything else
//! is.

use crate::crash::history::{History, SyncedRecords};
use crate::crash::judge::{Verdict, judge};
use crate::crash::record::{JournalEvent, JournalRecord};
use crate::crash::tests::{BLOCK, UNIT, data, of_write, rules, sync, write};
use proptest::prelude::*;

/// A block of the device.
#[derive(Debug, Clone, Default)]
struct Cached {
    /// Number of the write on the medium; `None`: zeroes.
    durable: Option<u64>,
    /// Number of the write on the medium before that one.
    before: Option<u64>,
    /// Writes acknowledged since the last sync.
    acknowledged: Vec<u64>,
    /// Writes never acknowledged: the device may store them at any time.
    in_flight: Vec<u64>,
}

/// A device of a few blocks, and the journal of its job.
#[derive(Debug, Default)]
struct Device {
    blocks: [Cached; 4],
    journal: Vec<JournalRecord>,
    n_writes: u64,
}

impl Device {
    fn write(&mut self, block: u64, is_acknowledged: bool) {
        let sequence = self.n_writes;
        self.n_writes += 1;
        self.journal.push(of_write(JournalEvent::Issued, sequence, block));
        let cached = &mut self.blocks[block as usize];
        if is_acknowledged {
            self.journal.push(of_write(JournalEvent::Acknowledged, sequence, block));
            cached.acknowledged.push(sequence);
        } else {
            cached.in_flight.push(sequence);
        }
    }

    fn sync(&mut self) {
        self.journal.push(sync(self.journal.len() as u64));
        for cached in &mut self.blocks {
            if let Some(newest) = cached.acknowledged.last().copied() {
                (cached.before, cached.durable) = (cached.durable, Some(newest));
                cached.acknowledged.clear();
            }
        }
    }

    fn verdict(&self, block: u64, received: &[u8]) -> Option<Verdict> {
        let mut syncs = SyncedRecords::default();
        self.journal.iter().for_each(|record| syncs.see(record));
        let mut history = History::new(syncs, usize::MAX);
        for record in &self.journal {
            history.see(record).expect("blocks lie beside each other");
        }
        let place = history.places.get(&(0, block * BLOCK as u64))?;
        Some(judge(&rules(), place, history.last, received, UNIT))
    }
}

fn contents(block: u64, sequence: Option<u64>) -> Vec<u8> {
    sequence.map_or_else(|| vec![0; BLOCK], |sequence| data(&write(sequence, block)))
}

fn after(steps: &[(u8, u64)]) -> Device {
    let mut device = Device::default();
    for (kind, block) in steps {
        match kind {
            0 => device.sync(),
            1 => device.write(*block, false),
            _ => device.write(*block, true),
        }
    }
    device
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// After the crash each block holds the medium's contents, mixed in whole units with any writes from the cache or
    /// in flight.
    #[test]
    fn what_a_crash_may_leave_is_no_fault(
        steps in prop::collection::vec((0u8..7, 0u64..4), 1..40),
        picks in prop::collection::vec(any::<u8>(), BLOCK / UNIT),
        is_whole: bool,
    ) {
        let device = after(&steps);
        for (index, cached) in device.blocks.iter().enumerate() {
            let block = index as u64;
            let mut may_be = vec![contents(block, cached.durable)];
            may_be.extend(cached.acknowledged.iter().chain(&cached.in_flight).map(|of| contents(block, Some(*of))));
            let mut received = Vec::new();
            for (unit, pick) in picks.iter().enumerate() {
                let pick = if is_whole { picks[0] } else { *pick };
                let chosen = &may_be[usize::from(pick) % may_be.len()];
                received.extend_from_slice(&chosen[unit * UNIT..(unit + 1) * UNIT]);
            }
            if let Some(verdict) = device.verdict(block, &received) {
                prop_assert!(!verdict.is_violation(), "{verdict:?} of {cached:?}");
            }
        }
    }

    /// An acknowledged write that a sync covers is replaced by what was there before it: that is a fault, in that block
    /// alone.
    #[test]
    fn a_lost_durable_write_is_found(steps in prop::collection::vec((0u8..9, 0u64..4), 1..40)) {
        let device = after(&steps);
        for (index, cached) in device.blocks.iter().enumerate() {
            let (block, Some(durable)) = (index as u64, cached.durable) else { continue };
            let lost = contents(block, cached.before);
            let verdict = device.verdict(block, &lost);
            let found = verdict.is_some_and(Verdict::is_violation);
            prop_assert!(found, "{verdict:?} of {cached:?}");
            let there = device.verdict(block, &contents(block, Some(durable)));
            prop_assert!(there.is_some_and(|verdict| !verdict.is_violation()), "{there:?} of {cached:?}");
        }
    }
}
