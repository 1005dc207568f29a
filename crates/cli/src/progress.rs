//! Prints the events of a run as fio does: start-up lines, layout, messages, the ETA line, reports on demand.
//!
//! Must not know: how runs work. Start reading at [`Progress`].

use crate::console::{Console, show_progress};
use crate::records;
use crate::reporter::Reporter;
use crate::version::VERSION;
use ferrio_job::invocation::EtaSettings;
use ferrio_job::spec::{DirectionMix, JobSpec};
use ferrio_report::eta::EtaLine;
use ferrio_report::logs::AggregateLogs;
use ferrio_report::slices::LatencySlices;
use ferrio_report::start::{self, StartJob};
use ferrio_run::{BandwidthSample, JobSummary, RunEvent, RunObserver, Stream};
use std::path::Path;

/// An observer that prints.
pub(crate) struct Progress<'a> {
    console: &'a mut Console,
    reporter: &'a Reporter,
    line: EtaLine,
    new_lines: NewLines,
    bandwidth: Option<AggregateLogs>,
    slices: Option<LatencySlices>,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(console: &'a mut Console, reporter: &'a Reporter, eta: EtaSettings) -> Self {
        Self {
            console,
            reporter,
            line: EtaLine::default(),
            new_lines: NewLines::new(eta),
            bandwidth: None,
            slices: None,
        }
    }

    /// The table of the profile `act`, over so many hours.
    pub(crate) fn count_slices(&mut self, n_slices: u64) {
        self.slices = Some(LatencySlices::new(n_slices));
    }

    /// That table at the end of the run.
    pub(crate) fn tell_slices(&mut self) {
        if let Some(slices) = &self.slices {
            self.event(RunEvent::Message(Stream::Info, slices.text().trim_end().to_owned()));
        }
    }

    /// `--bandwidth-log`. As in fio a log that cannot be opened is told, and the run goes on.
    pub(crate) fn open_bandwidth_logs(&mut self, prefix: &Path) {
        let (logs, errors) = AggregateLogs::create(prefix);
        for error in errors {
            self.console.error(&format!("fopen log: {}\n", ferrio_units::error_text(&error)));
        }
        self.bandwidth = Some(logs);
    }

    fn log_bandwidth(&mut self, sample: &BandwidthSample) {
        let written = self.bandwidth.as_mut().map_or(Ok(()), |logs| logs.rows(sample.time_ms, &sample.kib_per_sec));
        if let Err(error) = written {
            self.console.error(&format!("fio: cannot write a bandwidth log: {}\n", ferrio_units::error_text(&error)));
            self.console.has_failed = true;
        }
    }

    fn started(&mut self, jobs: &[JobSummary], n_threads: u32, n_processes: u32) {
        if self.reporter.writes_normal() {
            let jobs: Vec<StartJob> = jobs.iter().map(start_job).collect();
            self.console.info(&start::header(&jobs, VERSION, n_threads, n_processes));
        }
    }

    fn eta(&mut self, snapshot: &ferrio_stats::eta::EtaSnapshot) {
        let on_new_line = self.new_lines.next();
        show_progress(&self.line.update(snapshot, on_new_line));
    }
}

/// `--eta-newline`: which progress lines begin a new line instead of overwriting the one before.
#[derive(Debug)]
struct NewLines {
    settings: EtaSettings,
    /// Lines that were shown since the first, or since one began a new line.
    n_shown: u64,
}

impl NewLines {
    /// Number of the line from which the age of a line is counted: fio counts from the second that it shows.
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

impl RunObserver for Progress<'_> {
    fn event(&mut self, event: RunEvent) {
        if self.reporter.writes_records() {
            records::event(self.console, &event);
        }
        if let (RunEvent::Interval(stretch), Some(slices)) = (&event, &mut self.slices) {
            slices.count(stretch);
        }
        match event {
            RunEvent::Starting { jobs, n_threads, n_processes } => self.started(&jobs, n_threads, n_processes),
            RunEvent::LayingOut { job_name, n_files, total_bytes } if self.reporter.writes_normal() => {
                self.console.info(&start::layout(&job_name, n_files, total_bytes));
            }
            RunEvent::LayingOut { .. } | RunEvent::Recording { .. } | RunEvent::Interval(_) | RunEvent::JobEnded(_) => {
            }
            RunEvent::Message(Stream::Info, text) => self.console.info(&format!("{text}\n")),
            RunEvent::Message(Stream::Error, text) => self.console.error(&format!("{text}\n")),
            RunEvent::Message(Stream::Trace, text) => self.console.trace(&format!("{text}\n")),
            RunEvent::Eta(snapshot) => self.eta(&snapshot),
            RunEvent::Bandwidth(sample) => self.log_bandwidth(&sample),
            RunEvent::Status(result) => self.reporter.report(self.console, &result),
        }
    }
}

/// The job as its start-up line shows it.
fn start_job(job: &JobSummary) -> StartJob {
    let spec = &job.spec;
    StartJob {
        name: spec.name.clone(),
        group_index: job.group_index,
        rw: rw_name(spec).to_owned(),
        block_size: ferrio_units::PerDirection(
            spec.pattern.block_size.0.map(|range| (range.min_bytes, range.max_bytes)),
        ),
        bs_is_seq_rand: spec.pattern.bs_is_seq_rand,
        engine: spec.engine.name.clone(),
        iodepth: spec.queue.iodepth,
        has_clones: spec.numjobs > 1,
        kb_base: spec.reporting.kb_base,
        significant_figures: spec.reporting.significant_figures,
    }
}

fn rw_name(spec: &JobSpec) -> &'static str {
    match (spec.pattern.mix, spec.pattern.random) {
        (DirectionMix::Read, false) => "read",
        (DirectionMix::Read, true) => "randread",
        (DirectionMix::Write, false) => "write",
        (DirectionMix::Write, true) => "randwrite",
        (DirectionMix::Trim, false) => "trim",
        (DirectionMix::Trim, true) => "randtrim",
        (DirectionMix::ReadWrite, false) => "rw",
        (DirectionMix::ReadWrite, true) => "randrw",
        (DirectionMix::TrimWrite, false) => "trimwrite",
        (DirectionMix::TrimWrite, true) => "randtrimwrite",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of the lines of fio 3.33 began a new line, by interval and `--eta-newline`, in milliseconds.
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
