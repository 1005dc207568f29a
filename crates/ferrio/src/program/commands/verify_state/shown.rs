//! A state as text, which is that of fio's program, and as JSON.
//!
//! Must not know: files. Start reading at [`text`]. As seen on the programs of fio 3.33 and 3.41: both list the last
//! entry first, and the number after `Thread` counts the states in a file, of which there is one.

use super::ReadState;
use ferrio_workload::OffsetState;
use ferrio_workload::verify::state::LastWrites;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A slot without a write in flight.
const NO_WRITE: u64 = u64::MAX;

/// Columns from one tab stop to the next.
const TAB: usize = 8;

pub(super) fn text(shown: &ReadState<'_>) -> String {
    let mut text = String::new();
    for (name, value) in rows(shown) {
        // A string takes everything.
        let _ = writeln!(text, "{name}{}{value}", if name.len() < TAB { "\t\t" } else { "\t" });
    }
    match &shown.state.last {
        LastWrites::AllBut { in_flight, failed } => {
            text += "Inflight writes:\n";
            for number in in_flight.iter().chain(failed).rev() {
                let _ = match *number {
                    NO_WRITE => writeln!(text, "\tNot inflight"),
                    number => writeln!(text, "\t{number}"),
                };
            }
        }
        LastWrites::Only { places, .. } => {
            text += "Completions:\n";
            for (file, offset_bytes) in places.iter().rev() {
                let _ = writeln!(text, "\t(file={file:2}) {offset_bytes}");
            }
        }
    }
    text
}

/// The lines before the list of writes.
fn rows(shown: &ReadState<'_>) -> Vec<(&'static str, String)> {
    let ReadState { head, state, .. } = shown;
    let mut rows = vec![
        ("Version:", format!("0x{:x}", head.version)),
        ("Size:", head.size_bytes.to_string()),
        ("CRC:", format!("0x{:x}", head.crc)),
        ("Thread:", "0".to_owned()),
        // A name from a file may contain anything, also what a terminal takes for a command.
        ("Name:", state.job_name.chars().flat_map(visible).collect()),
    ];
    match &state.last {
        LastWrites::AllBut { in_flight, failed } => {
            rows.push(("Depth:", (in_flight.len() + failed.len()).to_string()));
        }
        LastWrites::Only { depth, places, .. } => {
            rows.push(("Completions:", places.len().to_string()));
            rows.push(("Depth:", depth.to_string()));
        }
    }
    rows.push(("Number IOs:", state.n_writes.to_string()));
    rows.push(("Index:", state.job_index.to_string()));
    rows
}

/// A character, or its escape if it is a control character.
fn visible(symbol: char) -> impl Iterator<Item = char> {
    let escape = symbol.is_control().then(|| symbol.escape_default());
    let plain = escape.is_none().then_some(symbol);
    escape.into_iter().flatten().chain(plain)
}

pub(super) fn document(states: &[ReadState<'_>]) -> Value {
    json!({ "states": states.iter().map(object).collect::<Vec<_>>() })
}

fn object(shown: &ReadState<'_>) -> Value {
    let ReadState { file, head, state } = shown;
    let mut object = json!({
        "file": file.display().to_string(),
        "version": head.version,
        "size_bytes": head.size_bytes,
        "crc32c": head.crc,
        "job_name": state.job_name,
        "job_index": state.job_index,
        "n_writes": state.n_writes,
        "generator": generator(&state.offsets),
    });
    object["last_writes"] = match &state.last {
        LastWrites::AllBut { in_flight, failed } => {
            let numbers: Vec<u64> =
                in_flight.iter().chain(failed).filter(|number| **number != NO_WRITE).copied().collect();
            json!({ "n_slots": in_flight.len() + failed.len(), "in_flight_or_failed": numbers })
        }
        LastWrites::Only { depth, n_files, places } => {
            let place = |(file, offset_bytes): &(u64, u64)| json!({ "file_index": file, "offset_bytes": offset_bytes });
            json!({ "depth": depth, "n_files": n_files, "completed": places.iter().map(place).collect::<Vec<_>>() })
        }
    };
    object
}

/// The generator of the offsets; null: there is none.
fn generator(state: &OffsetState) -> Value {
    match state {
        OffsetState::None => Value::Null,
        OffsetState::Taus88(words) => json!({ "kind": "tausworthe", "words": words }),
        OffsetState::Taus258(words) => json!({ "kind": "tausworthe64", "words": words }),
    }
}
