//! The stream of a job that replays a trace.
//!
//! Must not know: how time passes, formats. Start reading at [`ReplayStream::new`].

use super::TraceError;
use super::rules::ReplayRules;
use super::survey::TraceSurvey;
use super::trace::{Trace, TraceEntry, TraceStep};
use super::window::TraceBytes;
use crate::io_stream::{IoStream, JobStream};
use crate::next::{IssuedTotals, Next, NextIo};
use crate::pace::Pace;
use ferrio_stats::ReplayStats;
use ferrio_stats::note::TraceFault;
use ferrio_units::Direction;
use std::sync::Arc;

/// An I/O that is later than this counts as late, nanoseconds.
const LATE_NS: u64 = 1_000_000;

/// Everything that decides the I/Os of a replay.
#[derive(Debug)]
pub struct ReplayPlan {
    pub bytes: Arc<dyn TraceBytes>,
    pub rules: ReplayRules,
    /// Result of a first pass with the same rules.
    pub survey: TraceSurvey,
    /// Most reads, writes and trims in all passes; `u64::MAX`: no limit.
    pub limit_ios: u64,
    /// The job has pauses between I/Os, so it needs the time before each I/O, even if the times of the trace are
    /// ignored.
    pub has_pauses: bool,
}

/// Whether the times of a trace are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TraceTimes {
    Ignored,
    /// No entry so far was due after the start: a trace without any such entry has no times that could be kept.
    NoneSoFar,
    Kept,
}

#[derive(Debug)]
pub struct ReplayStream {
    trace: Trace,
    n_files: u32,
    /// The next entry, already read, not yet given out.
    held: Option<TraceEntry>,
    /// Start of the replay; `None`: it starts with the next turn.
    start_ns: Option<u64>,
    now_ns: u64,
    /// The time was told since the last step.
    is_told: bool,
    asks: bool,
    times: TraceTimes,
    figures: ReplayStats,
    limit_ios: u64,
    n_issued: u64,
    n_writes_issued: u64,
    issued_bytes: u64,
    last: Option<Direction>,
    error: Option<TraceError>,
}

impl ReplayStream {
    pub(crate) fn new(plan: ReplayPlan) -> Result<Self, TraceError> {
        let ReplayPlan { bytes, rules, survey, limit_ios, has_pauses } = plan;
        let mut trace = Trace::open(bytes, rules)?;
        for file in &survey.files {
            trace.names.learn(&file.file)?;
        }
        trace.names.complete();
        Ok(Self {
            trace,
            n_files: survey.files.len() as u32,
            held: None,
            start_ns: None,
            now_ns: 0,
            is_told: false,
            asks: has_pauses || !rules.is_untimed(),
            times: if rules.is_untimed() { TraceTimes::Ignored } else { TraceTimes::NoneSoFar },
            figures: ReplayStats::default(),
            limit_ios,
            n_issued: 0,
            n_writes_issued: 0,
            issued_bytes: 0,
            last: None,
            error: None,
        })
    }

    fn issue(&mut self, io: NextIo, due_ns: u64) -> Next {
        if self.times != TraceTimes::Ignored {
            if due_ns > self.start_ns.unwrap_or(0) {
                self.times = TraceTimes::Kept;
            }
            let late_ns = self.now_ns.saturating_sub(due_ns);
            self.figures.n_timed += 1;
            self.figures.n_late += u64::from(late_ns > LATE_NS);
            self.figures.max_late_ns = self.figures.max_late_ns.max(late_ns);
        }
        self.last = Some(io.direction);
        if !io.direction.is_sync() {
            self.n_issued += 1;
            self.n_writes_issued += u64::from(io.direction == Direction::Write);
            self.issued_bytes = self.issued_bytes.saturating_add(io.length_bytes);
        }
        Next::Io(io)
    }

    fn fail(&mut self, error: TraceError) -> Next {
        self.error = Some(error);
        Next::Failed
    }

    /// The error behind the last [`Next::Failed`].
    pub fn error(&self) -> Option<&TraceError> {
        self.error.as_ref()
    }

    fn due_ns(&self, entry: &TraceEntry) -> u64 {
        entry.due_ns.saturating_add(self.start_ns.unwrap_or(0))
    }

    /// Figures about how well the times of the trace were kept; zeros: it has no times.
    pub fn figures(&self) -> ReplayStats {
        if self.times == TraceTimes::Kept { self.figures } else { ReplayStats::default() }
    }
}

impl IoStream for ReplayStream {
    fn next(&mut self) -> Next {
        if self.error.is_some() {
            return Next::Failed;
        }
        if self.asks && !self.is_told {
            return Next::Wait;
        }
        if self.held.is_none() && self.n_issued < self.limit_ios {
            match self.trace.next() {
                Ok(entry) => self.held = entry,
                Err(error) => return self.fail(error),
            }
        }
        let Some(entry) = self.held else { return Next::PassEnd };
        self.is_told = false;
        let due_ns = self.due_ns(&entry);
        if self.asks && due_ns > self.now_ns {
            return Next::Wait;
        }
        self.held = None;
        match entry.step {
            TraceStep::Open(file_index) => Next::Open(file_index),
            TraceStep::Close(file_index) => Next::Close(file_index),
            TraceStep::Io(io) if io.file_index >= self.n_files => self.fail(TraceFault::Changed.into()),
            TraceStep::Io(io) => self.issue(io, due_ns),
        }
    }

    fn job(&self) -> Option<&dyn JobStream> {
        Some(self)
    }

    fn job_mut(&mut self) -> Option<&mut dyn JobStream> {
        Some(self)
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        Some(self)
    }
}

impl JobStream for ReplayStream {
    /// Starts the trace again.
    fn start_pass(&mut self) {
        (self.held, self.start_ns, self.is_told, self.last) = (None, None, false, None);
        if let Err(error) = self.trace.rewind() {
            self.error = Some(error);
        }
    }

    fn progress(&self) -> IssuedTotals {
        IssuedTotals {
            last_was_sync: self.last.is_some_and(Direction::is_sync),
            issued_bytes: self.issued_bytes,
            n_issued: self.n_issued,
            n_writes_issued: self.n_writes_issued,
            is_spent: false,
        }
    }

    fn copy(&self) -> Option<Box<dyn IoStream>> {
        None
    }

    fn replay(&self) -> Option<&ReplayStream> {
        Some(self)
    }
}

impl Pace for ReplayStream {
    fn turn(&mut self, now_ns: u64) -> Option<u64> {
        self.start_ns.get_or_insert(now_ns);
        let ahead_ns = self.held.map(|entry| self.due_ns(&entry)).filter(|due_ns| *due_ns > now_ns);
        (self.now_ns, self.is_told) = (now_ns, ahead_ns.is_none());
        ahead_ns
    }

    /// I/Os that are late by now do not count as late.
    fn forgive(&mut self, _now_ns: u64) {
        self.figures = ReplayStats::default();
    }

    fn postpone(&mut self, pause_ns: u64, _now_ns: u64) {
        self.start_ns = self.start_ns.map(|start_ns| start_ns.saturating_add(pause_ns));
    }
}
