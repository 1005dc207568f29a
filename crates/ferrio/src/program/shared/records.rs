//! Records of a run: written as lines when they are complete (`--output-format=jsonl`), and kept in a file
//! (`--record`), which is read again.
//!
//! Must not know: how a record looks. Start reading at [`EventLog`].

use crate::shared::inputs;
use crate::ui::console::Console;
use anyhow::anyhow;
use ferrio::session::VERSION;
use ferrio_formats::jsonl::{FirstLine, JsonlLines};
use ferrio_formats::record_file;
use ferrio_job::Invocation;
use ferrio_run::RunEvent;
use ferrio_stats::{LoggedEvent, MessageStream, Note, Provenance, ReportMessage, RunRecord};
use ferrio_sys::clock::wall_clock_ms;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// Length of an interval without `--status-interval`.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);

/// Length of an interval: the time between reports, if one is given.
pub(crate) fn interval(invocation: &Invocation) -> Duration {
    invocation.control.status_interval.unwrap_or(DEFAULT_INTERVAL)
}

/// Events of a run that have a record.
#[derive(Default)]
pub(crate) struct EventLog {
    /// True if the events are kept, not only written.
    is_kept: bool,
    global_options: Vec<(String, String)>,
    lines: JsonlLines,
    pub(crate) told: Vec<LoggedEvent>,
}

impl EventLog {
    pub(crate) fn new(is_kept: bool, global_options: Vec<(String, String)>) -> Self {
        Self { is_kept, global_options, ..Self::default() }
    }

    /// The course of a native run, whose messages have these words.
    pub(crate) fn with_words(is_kept: bool, global_options: Vec<(String, String)>, words: fn(&Note) -> String) -> Self {
        Self { lines: JsonlLines::with_words(words), ..Self::new(is_kept, global_options) }
    }

    /// Writes a line for an event that has a record.
    pub(crate) fn event(&mut self, console: &mut Console, event: &RunEvent) {
        let told = match event {
            RunEvent::Recording { provenance, run_epoch_ms, interval } => {
                self.begin(console, provenance, *run_epoch_ms, *interval);
                return;
            }
            RunEvent::Interval(stretch) => LoggedEvent::Interval(stretch.clone()),
            RunEvent::JobEnded(end) => LoggedEvent::JobEnded(end.clone()),
            RunEvent::Message(stream, note) => said(*stream, note.clone()),
            _ => return,
        };
        self.tell(console, told, None);
    }

    /// The first line.
    pub(crate) fn begin(
        &mut self,
        console: &mut Console,
        provenance: &Provenance,
        run_epoch_ms: u64,
        interval: Duration,
    ) {
        let interval_ns = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
        self.tell(console, LoggedEvent::Begin { run_epoch_ms, interval_ns }, Some(provenance));
        self.tell_collected(console);
    }

    /// A line for what has happened on a host of several.
    pub(crate) fn of_host(&mut self, console: &mut Console, told: LoggedEvent) {
        self.tell(console, told, None);
    }

    /// The last line.
    pub(crate) fn end(&mut self, console: &mut Console, exit: u8, signal: Option<i32>, elapsed: Duration) {
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.tell(console, LoggedEvent::End { epoch_ms: wall_clock_ms(), exit, signal, elapsed_ns }, None);
    }

    /// A line for a message.
    pub(crate) fn message(&mut self, console: &mut Console, stream: MessageStream, text: &str) {
        self.tell(console, said(stream, Note::text(text)), None);
    }

    /// Messages from before the run come after its first line.
    fn tell_collected(&mut self, console: &mut Console) {
        let messages = console.messages().map_or_else(Vec::new, |messages| messages.kept().to_vec());
        for message in messages {
            self.tell(console, LoggedEvent::Message { epoch_ms: wall_clock_ms(), message }, None);
        }
    }

    fn tell(&mut self, console: &mut Console, told: LoggedEvent, provenance: Option<&Provenance>) {
        let first = provenance.map(|provenance| FirstLine {
            provenance,
            fio_version: VERSION,
            global_options: &self.global_options,
        });
        console.report(&self.lines.told(&told, first));
        if self.is_kept {
            self.told.push(told);
        }
    }
}

fn said(stream: MessageStream, note: Note) -> LoggedEvent {
    LoggedEvent::Message { epoch_ms: wall_clock_ms(), message: ReportMessage { stream, note } }
}

/// Reads the record of a file or of a kept run; the error describes the reason of a failure.
pub(crate) fn read(path: &Path) -> anyhow::Result<RunRecord> {
    if let Some((_, content)) = inputs::kept(path)? {
        return record_file::decode(&content).map_err(anyhow::Error::from);
    }
    let mut bytes = Vec::new();
    // A pipe that nobody writes to would be waited for without an end.
    if std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(ferrio_formats::ReadErrorKind::NoFile.into());
    }
    let file =
        File::open(path).map_err(|error| anyhow!("it cannot be opened: {}", ferrio_units::error_text(&error)))?;
    let limited = file.take(record_file::MAX_BYTES + 1).read_to_end(&mut bytes);
    limited.map_err(|error| anyhow!("it cannot be read: {}", ferrio_units::error_text(&error)))?;
    record_file::decode(&bytes).map_err(anyhow::Error::from)
}

/// Whether a regular file begins as records do; false where that cannot be seen.
pub(crate) fn is_record(path: &Path) -> bool {
    let mut start = [0; record_file::MAGIC.len()];
    let is_regular = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_regular
        && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok()
        && start == *record_file::MAGIC.as_bytes()
}
