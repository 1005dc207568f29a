//! Prints the events of a run as fio does: start-up lines, layout, messages, the ETA line, reports on demand.
//!
//! Must not know: how runs work. Start reading at [`ProgressPrinter`].

use crate::shared::bandwidth_logs::BandwidthLogs;
use crate::shared::records::EventLog;
use crate::ui::console::{Console, columns_to_steer, show_progress};
use crate::ui::reporter::Reporter;
use crate::ui::signals::Signals;
use ferrio::session::Observer;
use ferrio::session::{VERSION, start_jobs};
use ferrio_formats::eta::EtaLine;
use ferrio_formats::logs::AggregateLogs;
use ferrio_formats::slices::LatencySlices;
use ferrio_formats::start;
use ferrio_job::invocation::EtaSettings;
use ferrio_run::{BandwidthSample, JobSummary, MessageStream, RunEvent};
use ferrio_stats::Note;
use ferrio_stats::eta::EtaSnapshot;
use ferrio_stats::note::RunNote;
use std::io;
use std::path::PathBuf;

/// An observer that prints.
pub(crate) struct ProgressPrinter<'a> {
    console: &'a mut Console,
    reporter: &'a Reporter,
    signals: &'a Signals,
    line: FioProgressLine,
    bandwidth: Option<BandwidthLogs>,
    slices: Option<LatencySlices>,
    /// The lines of jsonl.
    pub(crate) course: EventLog,
}

impl<'a> ProgressPrinter<'a> {
    pub(crate) fn new(
        console: &'a mut Console,
        reporter: &'a Reporter,
        signals: &'a Signals,
        eta: EtaSettings,
    ) -> Self {
        Self {
            console,
            reporter,
            signals,
            line: FioProgressLine::new(eta),
            bandwidth: None,
            slices: None,
            course: EventLog::default(),
        }
    }

    /// The table of the profile `act`, over so many hours.
    pub(crate) fn count_slices(&mut self, n_slices: u64) {
        self.slices = Some(LatencySlices::new(n_slices));
    }

    /// That table at the end of the run.
    pub(crate) fn tell_slices(&mut self) {
        if let Some(slices) = &self.slices {
            self.event(&RunEvent::Message(MessageStream::Info, Note::text(slices.text().trim_end())));
        }
    }

    /// Sets the logs of `--bandwidth-log`. Logs that could not be opened are reported, and the run continues without
    /// them; unlike in fio they count in the exit code.
    pub(crate) fn write_bandwidth_logs(&mut self, (logs, errors): (AggregateLogs, Vec<(PathBuf, io::Error)>)) {
        for (path, error) in errors {
            let text = ferrio_units::error_text(&error);
            self.console.error(&format!("fopen log: {}: {text}\n", path.display()));
            self.console.has_failed = true;
        }
        match BandwidthLogs::start(logs) {
            Ok(logs) => self.bandwidth = Some(logs),
            Err(error) => self.tell_lost_rows(vec![error]),
        }
    }

    /// The rows of `--bandwidth-log` are written, or given up some time after a signal.
    pub(crate) fn end_bandwidth_logs(&mut self) {
        let has_signal = || self.signals.first().is_some();
        let errors = self.bandwidth.take().map(|logs| logs.end(&has_signal));
        self.tell_lost_rows(errors.unwrap_or_default());
    }

    fn log_bandwidth(&mut self, sample: BandwidthSample) {
        let errors = self.bandwidth.as_ref().map(|logs| logs.take(sample));
        self.tell_lost_rows(errors.unwrap_or_default());
    }

    fn tell_lost_rows(&mut self, errors: Vec<io::Error>) {
        for error in errors {
            let text = match error.kind() {
                io::ErrorKind::TimedOut => "bandwidth logs are not whole: writing them appears to be stuck".to_owned(),
                _ => format!("cannot write a bandwidth log: {}", ferrio_units::error_text(&error)),
            };
            self.console.complain(&text);
            self.console.has_failed = true;
        }
    }

    fn started(&mut self, jobs: &[JobSummary], n_threads: u32, n_processes: u32) {
        if self.reporter.writes_normal() {
            self.console.report(&start::header(&start_jobs(jobs), VERSION, n_threads, n_processes));
        }
    }

    /// Prints the newest signal that ends the run, once.
    pub(crate) fn tell_signal(&mut self) {
        if let Some(number) = self.signals.take_untold() {
            self.event(&RunEvent::Message(MessageStream::Info, RunNote::EndsBySignal { number }.into()));
        }
    }

    /// Removes the progress line from the terminal, before other text is shown.
    pub(crate) fn clear(&mut self) {
        self.line.clear();
    }
}

/// fio's line of progress on the terminal.
pub(crate) struct FioProgressLine {
    line: EtaLine,
    new_lines: NewLines,
}

impl FioProgressLine {
    pub(crate) fn new(eta: EtaSettings) -> Self {
        Self { line: EtaLine::default(), new_lines: NewLines::new(eta) }
    }

    pub(crate) fn show(&mut self, snapshot: &EtaSnapshot) {
        let on_new_line = self.new_lines.next();
        show_progress(&self.line.update(snapshot, on_new_line, columns_to_steer()));
    }

    /// Removes the line, before other text is shown.
    pub(crate) fn clear(&mut self) {
        if let Some(text) = self.line.clear() {
            show_progress(text);
        }
    }
}

/// `--eta-newline`: decides which progress lines begin a new line instead of overwriting the last one.
#[derive(Debug)]
struct NewLines {
    settings: EtaSettings,
    /// Lines that were shown since the first, or since one began a new line.
    n_shown: u64,
}

impl NewLines {
    /// Number of the line from which the age of a line is counted: fio counts from its second line.
    const FIRST_COUNTED: u64 = 2;

    fn new(settings: EtaSettings) -> Self {
        Self { settings, n_shown: 0 }
    }

    /// Whether the next line does: the present one has been overwritten for longer than it should.
    fn next(&mut self) -> bool {
        self.n_shown += 1;
        let age_ms = self.n_shown.saturating_sub(Self::FIRST_COUNTED).saturating_mul(self.settings.interval_ms);
        let is_old = self.settings.newline_ms.is_some_and(|newline_ms| age_ms > newline_ms);
        if is_old {
            self.n_shown = Self::FIRST_COUNTED;
        }
        is_old
    }
}

impl Observer for ProgressPrinter<'_> {
    fn event(&mut self, event: &RunEvent) {
        if self.reporter.writes_records() {
            self.course.event(self.console, event);
        }
        if let (RunEvent::Interval(stretch), Some(slices)) = (event, &mut self.slices) {
            slices.count(stretch);
        }
        if shows_text(event) {
            self.clear();
        }
        match event {
            RunEvent::Stopping => self.tell_signal(),
            RunEvent::Starting { jobs, n_threads, n_processes } => self.started(jobs, *n_threads, *n_processes),
            RunEvent::LayingOut { job_name, n_files, total_bytes } if self.reporter.writes_normal() => {
                self.console.report(&start::layout(job_name, *n_files, *total_bytes));
            }
            RunEvent::LayingOut { .. }
            | RunEvent::Began { .. }
            | RunEvent::AtStonewall(_)
            | RunEvent::Recording { .. }
            | RunEvent::Interval(_)
            | RunEvent::JobEnded(_) => {}
            RunEvent::Message(stream, note) => self.console.say(*stream, note.clone()),
            RunEvent::Trace(text) => self.console.trace(&format!("{text}\n")),
            RunEvent::Eta(snapshot) => self.line.show(snapshot),
            RunEvent::Bandwidth(sample) => self.log_bandwidth(*sample),
            RunEvent::Status(record) => self.reporter.report(self.console, record),
        }
    }
}

/// True if the event prints text, for which the progress line has to be removed.
fn shows_text(event: &RunEvent) -> bool {
    matches!(
        event,
        RunEvent::Starting { .. }
            | RunEvent::LayingOut { .. }
            | RunEvent::Message(..)
            | RunEvent::Trace(_)
            | RunEvent::Status(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values: whether a line of fio began a new line, by interval and `--eta-newline`, in milliseconds.
    #[test]
    fn new_lines_are_those_of_the_peer() {
        let table: [(u64, Option<u64>, &[usize]); 5] = [
            (1000, Some(1000), &[4, 6, 8, 10]),
            (500, Some(2000), &[7, 12, 17, 22]),
            (1000, Some(3000), &[6, 10]),
            (250, Some(250), &[4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24]),
            (1000, None, &[]),
        ];
        for (interval_ms, newline_ms, expected) in table {
            let settings = EtaSettings { interval_ms, newline_ms, ..EtaSettings::default() };
            let mut lines = NewLines::new(settings);
            let n_lines = 11_000 / interval_ms as usize;
            let begun: Vec<usize> = (1..=n_lines.min(24)).filter(|_| lines.next()).collect();
            assert_eq!(begun, expected, "{settings:?}");
        }
    }
}
