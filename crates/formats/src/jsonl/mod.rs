//! Records of a run as lines of JSON (`--output-format=jsonl`), written during the run; each line is complete in
//! itself. docs/jsonl.md and docs/ferrio-jsonl.schema.json describe them.
//!
//! Must not know: when and where lines are written. Start reading at [`JsonlLines::told`]; the figures of jobs are in `figures`.

mod form;
pub(crate) mod reader;
mod worker_members;

use crate::words;
use ferrio_stats::{
    Audit, ClonesTogether, IntervalStats, JobEnd, JobIntervalStats, LoggedEvent, MessageStream, Note, Provenance,
    RunRecord, wire,
};
use form::{JobLine, SpanLine};
use serde::Serialize;
use serde_json::Value;
use worker_members::{of_interval, of_job, with_rates};

/// Version of the records' form; it grows with changes that readers have to know.
const FORMAT: u32 = 1;

/// A record; the kind is its first member.
#[derive(Serialize)]
#[serde(tag = "record", rename_all = "lowercase")]
enum JsonlRecord<'a> {
    Run {
        format: u32,
        version: &'a str,
        fio_version: &'a str,
        epoch_ms: u64,
        interval_ms: f64,
        provenance: Value,
        global_options: &'a [(String, String)],
        jobs: &'a [ferrio_stats::provenance::JobOptions],
    },
    Interval(SpanLine),
    Message {
        epoch_ms: u64,
        stream: &'static str,
        text: &'a str,
    },
    Job(JobLine),
    #[serde(rename = "clones_interval")]
    ClonesInterval {
        n_clones: u32,
        #[serde(flatten)]
        span: SpanLine,
    },
    /// All clones of a job to the end of the last one.
    #[serde(rename = "clones_job")]
    ClonesJob {
        n_clones: u32,
        #[serde(flatten)]
        span: SpanLine,
    },
    Audit(&'a Audit),
    End {
        epoch_ms: u64,
        exit: u8,
        signal: Option<i32>,
        elapsed_ms: f64,
    },
}

/// Data of the first line that no event has.
#[derive(Debug, Clone, Copy)]
pub struct FirstLine<'a> {
    pub provenance: &'a Provenance,
    pub fio_version: &'a str,
    pub global_options: &'a [(String, String)],
}

/// Makes the lines of a run, one event after the other.
#[derive(Debug, Clone)]
pub struct JsonlLines {
    clones: ClonesTogether,
    words: fn(&Note) -> String,
}

/// Messages have the words of fio.
impl Default for JsonlLines {
    fn default() -> Self {
        Self::with_words(words::note)
    }
}

impl JsonlLines {
    pub fn with_words(words: fn(&Note) -> String) -> Self {
        Self { clones: ClonesTogether::default(), words }
    }

    /// The lines for an event: its own, and those of sums that are complete with it. The first line is empty without its data.
    pub fn told(&mut self, told: &LoggedEvent, first: Option<FirstLine<'_>>) -> String {
        match told {
            LoggedEvent::Begin { run_epoch_ms, interval_ns } => {
                let Some(first) = first else { return String::new() };
                self.clones = ClonesTogether::new(&first.provenance.jobs, *interval_ns);
                run(first, *run_epoch_ms, *interval_ns as f64 / 1e6)
            }
            LoggedEvent::Interval(stretch) => interval(stretch) + &clones_intervals(&self.clones.interval(stretch)),
            LoggedEvent::JobEnded(end) => {
                let (intervals, total) = self.clones.ended(end);
                let total = total.map(|total| clones_job(&total)).unwrap_or_default();
                clones_intervals(&intervals) + &job(end) + &total
            }
            LoggedEvent::Message { epoch_ms, message } => {
                self::message(message.stream, &(self.words)(&message.note), *epoch_ms)
            }
            LoggedEvent::End { epoch_ms, exit, signal, elapsed_ns } => {
                // Rounded down to whole microseconds.
                end(*exit, *signal, (elapsed_ns / 1_000) as f64 / 1e3, *epoch_ms)
            }
        }
    }
}

/// The line for what the rules find about the figures of a run.
pub fn audit(audit: &Audit) -> String {
    line(&JsonlRecord::Audit(audit))
}

/// All lines of a run whose intervals were recorded; empty for other runs.
pub fn render(record: &RunRecord) -> String {
    let first = record.provenance.as_deref().map(|provenance| FirstLine {
        provenance,
        fio_version: &record.version,
        global_options: &record.global_options,
    });
    let mut lines = JsonlLines::default();
    record.course.iter().map(|told| lines.told(told, first)).collect()
}

/// The first line: jobs, machine and options. `epoch_ms` is the start of the run.
fn run(first: FirstLine<'_>, epoch_ms: u64, interval_ms: f64) -> String {
    let FirstLine { provenance, fio_version, global_options } = first;
    let mut facts = wire::to_value(provenance);
    if let Some(members) = facts.as_object_mut() {
        members.shift_remove("jobs");
    }
    line(&JsonlRecord::Run {
        format: FORMAT,
        version: &provenance.ferrio_version,
        fio_version,
        epoch_ms,
        interval_ms,
        provenance: facts,
        global_options,
        jobs: &provenance.jobs,
    })
}

/// The figures of a worker for an interval.
fn interval(stretch: &IntervalStats) -> String {
    line(&JsonlRecord::Interval(of_interval(stretch)))
}

/// The total figures of a worker.
fn job(end: &JobEnd) -> String {
    line(&JsonlRecord::Job(JobLine {
        span: of_job(&end.stretch),
        started: end.has_started,
        pid: end.pid,
        error: end.stretch.stats.errno,
        error_text: end.failure.as_ref().map_or_else(String::new, words::failure),
        signal: end.killed_by,
    }))
}

fn clones_intervals(clones: &[JobIntervalStats]) -> String {
    let record = |clones: &JobIntervalStats| {
        let span = with_rates(of_interval(&clones.sum), &clones.iops, &clones.bw_bytes);
        line(&JsonlRecord::ClonesInterval { n_clones: clones.n_clones, span })
    };
    clones.iter().map(record).collect()
}

/// The total figures of clones.
fn clones_job(clones: &JobIntervalStats) -> String {
    let span = with_rates(of_job(&clones.sum), &clones.iops, &clones.bw_bytes);
    line(&JsonlRecord::ClonesJob { n_clones: clones.n_clones, span })
}

fn message(stream: MessageStream, text: &str, epoch_ms: u64) -> String {
    line(&JsonlRecord::Message { epoch_ms, stream: stream.name(), text: text.trim_matches(['\n', '\r']) })
}

/// The last line: exit code of the program, the signal that ended the run early, and the time since its start.
fn end(exit: u8, signal: Option<i32>, elapsed_ms: f64, epoch_ms: u64) -> String {
    line(&JsonlRecord::End { epoch_ms, exit, signal, elapsed_ms })
}

fn milliseconds(ns: u64) -> f64 {
    ns as f64 / 1e6
}

fn line(record: &JsonlRecord<'_>) -> String {
    // Cannot fail: keys are texts, and non-numbers become null.
    let mut line = serde_json::to_string(record).unwrap_or_default();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests;
