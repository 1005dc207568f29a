//! Any bytes as the messages of a fleet: an order, or a report whose outcome is merged with another one and shown, or an error, never a panic.
#![no_main]

use ferrio::fleet::wire::{FleetOrder, FleetReport, MeasuredHost};
use ferrio::fleet::{FleetOutcome, HostOutcome};
use ferrio_formats::jsonl;
use ferrio_stats::{RunRecord, wire};
use libfuzzer_sys::fuzz_target;

/// Memory that a message of the fuzzer may take, bytes.
const MOST_MEMORY_BYTES: u64 = 1 << 28;

fn host(rank: u32, began_ns: u64, outcome: MeasuredHost) -> HostOutcome {
    HostOutcome {
        rank,
        name: format!("h{rank}"),
        began_ns: Some(began_ns),
        clock_offset_ns: 0,
        clock_uncertainty_ns: None,
        is_partial: false,
        outcome,
        refused: None,
        lost: None,
    }
}

fuzz_target!(|data: &[u8]| {
    let _ = wire::from_bytes_within::<FleetOrder>(data, MOST_MEMORY_BYTES);
    let Ok(report) = wire::from_bytes_within::<FleetReport>(data, MOST_MEMORY_BYTES) else { return };
    let again = wire::to_bytes(&report);
    assert!(wire::from_bytes_within::<FleetReport>(&again, MOST_MEMORY_BYTES).is_ok());
    let FleetReport::Over(outcome) = report else { return };
    let other = MeasuredHost {
        record: RunRecord::default(),
        n_failed: 0,
        is_stopped: false,
        n_logs_lost: 0,
        n_intervals_lost: 0,
    };
    let hosts = vec![host(0, 7, other), host(1, u64::MAX, (*outcome).clone()), host(2, 9, *outcome)];
    let outcome = FleetOutcome { hosts, agreed_ns: 7, shared: Vec::new() };
    let merged = outcome.merged();
    jsonl::render(&merged);
    let _ = outcome.session_outcome(merged);
});
