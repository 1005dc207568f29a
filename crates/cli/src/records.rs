//! Records of a run as lines (`--output-format=jsonl`), each written when it is known.
//!
//! Must not know: how a record looks. Start reading at [`event`].

use crate::console::Console;
use crate::version::VERSION;
use ferrio_report::jsonl;
use ferrio_run::{RunEvent, Stream};
use ferrio_stats::MessageStream;
use ferrio_sys::clock::wall_clock_ms;
use std::time::Duration;

/// Length of an interval where `--status-interval` gives none.
pub(crate) const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

/// Something happened: a line for what has a record.
pub(crate) fn event(console: &mut Console, event: &RunEvent) {
    match event {
        RunEvent::Recording { provenance, run_epoch_ms, interval } => {
            let interval_ms = interval.as_secs_f64() * 1e3;
            console.report(&jsonl::run(provenance, VERSION, *run_epoch_ms, interval_ms));
            collected(console);
        }
        RunEvent::Interval(stretch) => console.report(&jsonl::interval(stretch)),
        RunEvent::JobEnded(end) => console.report(&jsonl::job(end)),
        RunEvent::Message(Stream::Info, text) => message(console, MessageStream::Info, text),
        RunEvent::Message(Stream::Error, text) => message(console, MessageStream::Error, text),
        _ => {}
    }
}

/// The last line.
pub(crate) fn end(console: &mut Console, exit: u8, signal: Option<i32>, elapsed: Duration) {
    let elapsed_ms = elapsed.as_micros() as f64 / 1e3;
    console.report(&jsonl::end(exit, signal, elapsed_ms, wall_clock_ms()));
}

/// A line for a message.
pub(crate) fn message(console: &mut Console, stream: MessageStream, text: &str) {
    console.report(&jsonl::message(stream, text, wall_clock_ms()));
}

/// What was said before the run began comes after its first line.
fn collected(console: &mut Console) {
    let lines: Vec<String> = console.messages().map_or_else(Vec::new, |messages| {
        messages.kept().iter().map(|said| jsonl::message(said.stream, &said.text, wall_clock_ms())).collect()
    });
    for line in &lines {
        console.report(line);
    }
}
