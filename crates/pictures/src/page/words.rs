//! The source of a result as text.
//!
//! Must not know: charts. Start reading at [`source`].

use ferrio_formats::RunResult;

/// The program and the time of a result.
pub(super) fn source(result: &RunResult) -> String {
    let program = if result.program.is_empty() { "an unknown program" } else { &result.program };
    let time = result
        .timestamp_ms
        .and_then(|ms| i64::try_from(ms).ok())
        .and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    match time {
        Some(time) => format!("Measured by {program}, report of {} UTC.", time.strftime("%Y-%m-%d %H:%M:%S")),
        None => format!("Measured by {program}."),
    }
}
