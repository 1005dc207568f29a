//! A device of one file in memory, its journal, and blocks damaged by hand.

use crate::crash::history::{History, Overlap, SyncedRecords};
use crate::crash::judge::{Verdict, judge};
use crate::crash::record::{JournalEvent, JournalRecord, RECORD_BYTES};
use ferrio_spec::{VerifyContentSpec, VerifyMethod};
use ferrio_workload::verify::block::{BlockRules, Write};
use proptest::prelude::*;

pub(super) const BLOCK: usize = 4096;
pub(super) const UNIT: usize = 512;

pub(super) fn rules() -> BlockRules {
    let content = VerifyContentSpec { interval_bytes: 1024, ..VerifyContentSpec::of(VerifyMethod::Crc32c) };
    BlockRules::new(content, 1)
}

pub(super) fn write(sequence: u64, block: u64) -> Write {
    Write { offset_bytes: block * BLOCK as u64, seed: 1000 + sequence * 7919, sequence, start_ns: 50 + sequence }
}

pub(super) fn data(write: &Write) -> Vec<u8> {
    let mut block = vec![0; BLOCK];
    rules().stamp(&mut block, write);
    block
}

pub(super) fn of_write(event: JournalEvent, sequence: u64, block: u64) -> JournalRecord {
    JournalRecord { event, file_index: 0, length_bytes: BLOCK as u32, write: write(sequence, block) }
}

pub(super) fn sync(covers: u64) -> JournalRecord {
    let write = Write { offset_bytes: 0, seed: 0, sequence: 0, start_ns: 0 };
    JournalRecord { event: JournalEvent::Synced { covers }, file_index: 0, length_bytes: 0, write }
}

fn syncs(journal: &[JournalRecord]) -> SyncedRecords {
    let mut syncs = SyncedRecords::default();
    for record in journal {
        syncs.see(record);
    }
    syncs
}

fn history(journal: &[JournalRecord]) -> History {
    let mut history = History::new(syncs(journal), usize::MAX);
    for record in journal {
        history.see(record).expect("blocks lie beside each other");
    }
    history
}

/// Writes 0 and 1 of block 0 and write 2 of block 1 are durable; 3 (block 0) and 4 (block 2) are acknowledged; 5 (block 3)
/// is in flight.
fn journal() -> Vec<JournalRecord> {
    let (issued, done) = (JournalEvent::Issued, JournalEvent::Acknowledged);
    let mut journal = Vec::new();
    for (sequence, block) in [(0, 0), (1, 0), (2, 1)] {
        journal.extend([of_write(issued, sequence, block), of_write(done, sequence, block)]);
    }
    journal.push(sync(6));
    for (sequence, block) in [(3, 0), (4, 2)] {
        journal.extend([of_write(issued, sequence, block), of_write(done, sequence, block)]);
    }
    journal.push(of_write(issued, 5, 3));
    journal
}

fn verdict(block: u64, received: &[u8]) -> Verdict {
    let history = history(&journal());
    let place = &history.places[&(0, block * BLOCK as u64)];
    judge(&rules(), place, history.last, received, UNIT)
}

#[test]
fn counts_are_those_of_the_journal() {
    let history = history(&journal());
    assert_eq!((history.n_issued, history.n_acknowledged, history.n_durable), (6, 5, 3));
}

#[test]
fn whole_blocks() {
    let zeroes = vec![0; BLOCK];
    for (block, received, expected) in [
        (0, data(&write(3, 0)), Verdict::There),
        (0, data(&write(1, 0)), Verdict::LostLater),
        (0, data(&write(0, 0)), Verdict::Lost { wanted: 1, found: Some(0) }),
        (0, zeroes.clone(), Verdict::Lost { wanted: 1, found: None }),
        // The block holds a write of an earlier run: the same number, but another seed.
        (0, data(&Write { seed: 3, ..write(3, 0) }), Verdict::Lost { wanted: 1, found: Some(3) }),
        // The block holds a write issued after the end of the journal.
        (0, data(&write(9, 0)), Verdict::There),
        // The block holds a write to another block.
        (0, data(&write(2, 1)), Verdict::Lost { wanted: 1, found: None }),
        (1, data(&write(2, 1)), Verdict::There),
        (2, data(&write(4, 2)), Verdict::There),
        (2, zeroes.clone(), Verdict::LostLater),
        (2, vec![7; BLOCK], Verdict::LostLater),
        (3, data(&write(5, 3)), Verdict::There),
        (3, zeroes, Verdict::InFlight),
    ] {
        assert_eq!(verdict(block, &received), expected, "block {block}");
    }
}

/// The first `at` bytes of one block, then the rest of another.
fn mixed(first: &[u8], second: &[u8], at: usize) -> Vec<u8> {
    [&first[..at], &second[at..]].concat()
}

#[test]
fn parts_of_blocks() {
    let (old, durable, newer) = (data(&write(0, 0)), data(&write(1, 0)), data(&write(3, 0)));
    let zeroes = vec![0; BLOCK];
    let torn = |n_bad| Verdict::Torn { n_bad, n_units: 8 };
    for (block, received, expected) in [
        (0, mixed(&newer, &durable, 3 * UNIT), Verdict::Mixed),
        (0, mixed(&newer, &durable, 3 * UNIT + 100), torn(1)),
        (0, mixed(&durable, &old, 3 * UNIT), torn(5)),
        (0, mixed(&durable, &zeroes, 7 * UNIT), torn(1)),
        (2, mixed(&data(&write(4, 2)), &zeroes, UNIT), Verdict::Mixed),
        (2, mixed(&data(&write(4, 2)), &zeroes, UNIT + 64), torn(1)),
        (3, mixed(&data(&write(5, 3)), &[7; BLOCK], 32), torn(1)),
    ] {
        assert_eq!(verdict(block, &received), expected, "block {block}");
    }
    let mut flipped = newer;
    flipped[4000] ^= 1;
    assert_eq!(verdict(0, &flipped), torn(1));
}

/// Two writes to one block were in flight together: each may be the last, durable or not.
#[test]
fn of_writes_in_flight_together_each_may_be_there() {
    let (issued, done) = (JournalEvent::Issued, JournalEvent::Acknowledged);
    let journal = [of_write(issued, 0, 0), of_write(issued, 1, 0), of_write(done, 1, 0), of_write(done, 0, 0), sync(4)];
    let history = history(&journal);
    let place = &history.places[&(0, 0)];
    for (sequence, expected) in [(0, Verdict::LostLater), (1, Verdict::There)] {
        assert_eq!(judge(&rules(), place, history.last, &data(&write(sequence, 0)), UNIT), expected);
    }
}

/// A write acknowledged after a sync was issued is not covered by that sync.
#[test]
fn a_sync_covers_what_was_acknowledged_before_its_issue() {
    let (issued, done) = (JournalEvent::Issued, JournalEvent::Acknowledged);
    let journal = [of_write(issued, 0, 0), of_write(issued, 1, 1), of_write(done, 0, 0), of_write(done, 1, 1), sync(3)];
    let history = history(&journal);
    assert_eq!(history.n_durable, 1);
    assert!(history.places[&(0, 0)].candidates[0].is_durable);
    assert!(!history.places[&(0, BLOCK as u64)].candidates[0].is_durable);
}

/// Writes 1 to 999 of one block are acknowledged after the sync of write 0.
fn hot_journal() -> Vec<JournalRecord> {
    let (issued, done) = (JournalEvent::Issued, JournalEvent::Acknowledged);
    let mut journal = vec![of_write(issued, 0, 0), of_write(done, 0, 0), sync(2)];
    for sequence in 1..1000 {
        journal.extend([of_write(issued, sequence, 0), of_write(done, sequence, 0)]);
    }
    journal
}

#[test]
fn of_many_later_writes_each_may_be_there() {
    let history = history(&hot_journal());
    let place = &history.places[&(0, 0)];
    let of = |received: &[u8]| judge(&rules(), place, history.last, received, UNIT);
    let whole = |sequence| data(&write(sequence, 0));
    assert_eq!(
        [of(&whole(999)), of(&whole(500)), of(&whole(0))],
        [Verdict::There, Verdict::LostLater, Verdict::LostLater]
    );
    let parts = mixed(&whole(3), &mixed(&whole(500), &whole(0), 5 * UNIT), 2 * UNIT);
    assert_eq!(of(&parts), Verdict::Mixed);
    assert_eq!(of(&mixed(&whole(3), &whole(0), 2 * UNIT + 100)), Verdict::Torn { n_bad: 1, n_units: 8 });
    assert_eq!(of(&[0; BLOCK]), Verdict::Lost { wanted: 0, found: None });
}

/// One block has more writes than fit into memory: the verdicts say less, but none is wrong.
#[test]
fn writes_beyond_memory_are_left_out() {
    let mut history = History::new(syncs(&hot_journal()), 4096);
    for record in hot_journal() {
        history.see(&record).expect("one place");
    }
    let place = &history.places[&(0, 0)];
    assert!(place.has_more && place.candidates.len() < 64 && history.n_most_bytes() < 16384);
    let of = |received: &[u8]| judge(&rules(), place, history.last, received, UNIT);
    let whole = |sequence| data(&write(sequence, 0));
    assert_eq!(
        [of(&whole(999)), of(&whole(500)), of(&whole(0))],
        [Verdict::There, Verdict::LostLater, Verdict::LostLater]
    );
    assert_eq!(of(&mixed(&whole(3), &whole(0), 2 * UNIT)), Verdict::Mixed);
    assert_eq!(of(&[0; BLOCK]), Verdict::Lost { wanted: 0, found: None });
    let mut flipped = whole(999);
    flipped[3 * UNIT] ^= 1;
    assert_eq!(of(&flipped), Verdict::Mixed);
    // Without the last header, no write explains these units.
    assert_eq!(of(&mixed(&flipped, &[0; BLOCK], 6 * UNIT)), Verdict::Torn { n_bad: 3, n_units: 8 });
    assert!(history.next_part().is_none());
}

/// Overlaps are found wherever a part ends, even between the two writes that overlap.
#[test]
fn overlaps_are_found_across_parts() {
    let at = |sequence, offset_bytes| JournalRecord {
        event: JournalEvent::Issued,
        file_index: 0,
        length_bytes: 4096,
        write: Write { offset_bytes, ..write(sequence, 0) },
    };
    let places = [[0].as_slice(), &[6144; 8], &[0; 8], &[4096]].concat();
    let journal: Vec<JournalRecord> = (0..).zip(places).map(|(sequence, place)| at(sequence, place)).collect();
    let mut firsts = Vec::new();
    for limit_bytes in (0..4000).step_by(16) {
        let mut found = None;
        let mut part = Some(History::new(SyncedRecords::default(), limit_bytes));
        while let (Some(mut history), None) = (part, found) {
            found = journal.iter().find_map(|record| history.see(record).err());
            part = history.next_part();
        }
        let Overlap { first, second, .. } = found.expect("they do");
        assert_eq!(first.min(second)..first.max(second), 4096..6144);
        firsts.push(first);
    }
    assert!(firsts.contains(&4096) && firsts.contains(&6144), "found within a part, and across two");
}

#[test]
fn writes_over_parts_of_others_are_refused() {
    let mut history = History::new(SyncedRecords::default(), usize::MAX);
    let at = |offset_bytes| JournalRecord {
        event: JournalEvent::Issued,
        file_index: 0,
        length_bytes: 4096,
        write: Write { offset_bytes, ..write(0, 0) },
    };
    assert_eq!(history.see(&at(8192)), Ok(()));
    assert_eq!(history.see(&at(4096)), Ok(()));
    assert_eq!(history.see(&at(0)), Ok(()));
    assert_eq!(history.see(&at(6144)), Err(Overlap { file_index: 0, first: 6144, second: 8192 }));
    assert_eq!(history.see(&at(10240)), Err(Overlap { file_index: 0, first: 10240, second: 8192 }));
}

proptest! {
    #[test]
    fn records_come_back(kind in 0..4, numbers in any::<[u64; 4]>(), file_index: u32, length_bytes: u32) {
        let [offset_bytes, seed, sequence, start_ns] = numbers;
        let event = match kind {
            0 => JournalEvent::Issued,
            1 => JournalEvent::Acknowledged,
            2 => JournalEvent::Failed,
            _ => JournalEvent::Synced { covers: seed },
        };
        let sequence = if kind == 3 { 0 } else { sequence };
        let record = JournalRecord { event, file_index, length_bytes, write: Write { offset_bytes, seed, sequence, start_ns } };
        prop_assert_eq!(JournalRecord::decode(&record.encode()), Some(record));
        let mut bytes = record.encode();
        bytes[(start_ns % RECORD_BYTES as u64) as usize] ^= 1 << (seed % 8);
        prop_assert_eq!(JournalRecord::decode(&bytes), None, "one bit is enough");
    }

    /// Any records and any block give a verdict, never a panic.
    #[test]
    fn nothing_makes_it_panic(
        records in prop::collection::vec((1_u32..5, 0_u64..6, 0_u64..4, 0_u64..20), 0..40),
        received in prop::collection::vec(any::<u8>(), 0..600),
        unit_bytes in 1_usize..5000,
    ) {
        let record = |(kind, sequence, block, covers): &(u32, u64, u64, u64)| match kind {
            1 => of_write(JournalEvent::Issued, *sequence, *block),
            2 => of_write(JournalEvent::Acknowledged, *sequence, *block),
            3 => of_write(JournalEvent::Failed, *sequence, *block),
            _ => sync(*covers),
        };
        let records: Vec<JournalRecord> = records.iter().map(record).collect();
        let mut history = History::new(syncs(&records), usize::MAX);
        for record in &records {
            let _ = history.see(record);
        }
        for place in history.places.values() {
            let _ = judge(&rules(), place, history.last, &received, unit_bytes);
        }
    }

    /// Parts that each fit into memory give the same result as the whole.
    #[test]
    fn parts_are_the_whole(
        blocks in prop::collection::vec((0_u64..12, 0_u8..8), 1..120),
        limit_bytes in 0_usize..4000,
    ) {
        let mut journal = Vec::new();
        for (sequence, (block, kind)) in blocks.iter().enumerate() {
            journal.push(of_write(JournalEvent::Issued, sequence as u64, *block));
            match kind {
                0 => {}
                1 => journal.push(sync(journal.len() as u64)),
                _ => journal.push(of_write(JournalEvent::Acknowledged, sequence as u64, *block)),
            }
        }
        let whole = history(&journal);
        let mut part = Some(History::new(syncs(&journal), limit_bytes));
        let mut places = Vec::new();
        while let Some(mut history) = part {
            for record in &journal {
                history.see(record).expect("blocks lie beside each other");
            }
            prop_assert!(history.n_most_bytes() <= limit_bytes || history.places.len() == 1);
            prop_assert_eq!(
                (history.n_issued, history.n_acknowledged, history.n_durable, history.last),
                (whole.n_issued, whole.n_acknowledged, whole.n_durable, whole.last)
            );
            places.extend(history.places.iter().map(|(key, place)| (*key, place.clone())));
            part = history.next_part();
        }
        prop_assert!(places.iter().map(|(key, _)| key).eq(whole.places.keys()));
        for (key, place) in &places {
            let of_whole = &whole.places[key];
            prop_assert!(place.has_more || place.candidates == of_whole.candidates);
        }
    }
}
