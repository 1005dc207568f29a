//! Figures as text, in units that can't be misread.
//!
//! Must not know: charts. Start reading at [`rate`].

use ferrio_formats::RunResult;
use ferrio_units::humanize::{duration_text, three_digits};

/// I/Os per second.
pub(super) fn rate(per_second: f64) -> String {
    three_digits(per_second)
}

/// Bytes per second, in millions.
pub(super) fn bandwidth(bytes_per_sec: f64) -> String {
    three_digits(bytes_per_sec / 1e6)
}

/// A latency.
pub(super) fn latency(nanoseconds: f64) -> String {
    duration_text(nanoseconds)
}

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
