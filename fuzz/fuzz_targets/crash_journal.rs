//! Any bytes as the records of a crash journal: a history and a verdict on each of its blocks, never a panic, and the same
//! with whatever memory.
//!
//! The first two bytes choose method, intervals, atomic unit, memory and durable writes; then come records. Their
//! checksums are computed here, since no fuzzer finds one.
#![no_main]

use ferrio_spec::{HeaderLayout, VERIFY_METHODS, VerifyContentSpec};
use ferrio_units::checksum::crc32c;
use ferrio_workload::verify::block::{BlockRules, Write};
use ferrio_run::crash::history::{History, SyncedRecords, WrittenPlace};
use ferrio_run::crash::judge::judge;
use ferrio_run::crash::record::{JournalRecord, RECORD_BYTES};
use libfuzzer_sys::fuzz_target;

/// The check computes a block for each of its writes, so longer blocks would only take time.
const MAX_BLOCK_BYTES: u32 = 4096;

fn record(body: &[u8]) -> Option<JournalRecord> {
    let bytes: [u8; RECORD_BYTES] = [&crc32c(body).to_le_bytes(), body].concat().try_into().ok()?;
    let record = JournalRecord::decode(&bytes)?;
    assert_eq!(record.encode(), bytes);
    // As in the reader of a journal, an offset must be below the largest length of a file.
    let offset_bytes = record.write.offset_bytes >> 1;
    let write = Write { offset_bytes, ..record.write };
    Some(JournalRecord { length_bytes: record.length_bytes % MAX_BLOCK_BYTES, write, ..record })
}

fuzz_target!(|data: &[u8]| {
    let [choice, shape, rest @ ..] = data else { return };
    let spec = VerifyContentSpec {
        method: VERIFY_METHODS[usize::from(choice >> 2) % VERIFY_METHODS.len()].method,
        layout: HeaderLayout::V3,
        interval_bytes: u32::from(shape & 15) * 128,
        header_at: 0,
        pattern: None,
        pattern_interval_bytes: 0,
        compression: None,
    };
    let rules = BlockRules::new(spec, 1);
    let bodies = rest.chunks_exact(RECORD_BYTES - 4);
    let received = bodies.remainder();
    let records: Vec<JournalRecord> = bodies.filter_map(record).collect();
    let mut syncs = SyncedRecords::new(choice & 1 > 0);
    records.iter().for_each(|record| syncs.see(record));
    let limit_bytes = if shape & 16 > 0 { usize::MAX } else { usize::from(shape >> 5) * 512 };
    let mut part = Some(History::new(syncs, limit_bytes));
    let mut last_key = None;
    while let Some(mut history) = part {
        for record in &records {
            let _ = history.see(record);
        }
        for (key, place) in &history.places {
            assert!(last_key.replace(*key).is_none_or(|last| last < *key));
            judge_blocks(&rules, place, &history, received, if choice & 2 > 0 { 512 } else { 7 });
        }
        part = history.next_part();
    }
});

fn judge_blocks(rules: &BlockRules, place: &WrittenPlace, history: &History, received: &[u8], unit_bytes: usize) {
    let mut block = vec![0; place.length_bytes as usize];
    let _ = judge(rules, place, history.last, &block, unit_bytes);
    if let Some(candidate) = place.candidates.first() {
        rules.stamp(&mut block, &candidate.write);
        let _ = judge(rules, place, history.last, &block, unit_bytes);
    }
    let n_torn = block.len().min(received.len());
    block[..n_torn].copy_from_slice(&received[..n_torn]);
    let _ = judge(rules, place, history.last, &block, unit_bytes);
}
