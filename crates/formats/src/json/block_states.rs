//! The object of the blocks that a job trimmed and wrote.
//!
//! Must not know: directions. Start reading at [`write()`].

use super::writer::JsonWriter;
use ferrio_stats::{BlockState, BlockStates, ReportSettings};

pub(super) fn write(writer: &mut JsonWriter, settings: &ReportSettings, states: &BlockStates) {
    writer.object("block", |writer| {
        writer.object("percentiles", |writer| {
            for (percentile, n_trims) in states.percentiles(&settings.percentiles) {
                writer.integer(&format!("{percentile:.6}"), n_trims);
            }
        });
        writer.object("states", |writer| {
            for state in BlockState::ALL {
                writer.integer(name(state), states.count(state));
            }
        });
    });
}

fn name(state: BlockState) -> &'static str {
    match state {
        BlockState::Unwritten => "unwritten",
        BlockState::Trimmed => "trimmed",
        BlockState::Written => "written",
        BlockState::TrimFailure => "trim failure",
        BlockState::WriteFailure => "write failure",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_reference() {
        let mut states = BlockStates::default();
        for (state, n_trims) in [(BlockState::Written, 4), (BlockState::TrimFailure, 7)] {
            states.record(state, n_trims);
        }
        let settings = ReportSettings { percentiles: vec![50.0, 99.9], ..ReportSettings::default() };
        let text = JsonWriter::document(|writer| write(writer, &settings, &states));
        let read: serde_json::Value = serde_json::from_str(&text).expect("valid JSON");
        let expected = serde_json::json!({"block": {
            "percentiles": {"50.000000": 7, "99.900000": 7},
            "states": {"unwritten": 0, "trimmed": 0, "written": 1, "trim failure": 1, "write failure": 0}
        }});
        assert_eq!(read, expected);
    }
}
