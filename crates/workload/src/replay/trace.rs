//! The entries of a trace after the rules of a replay: the action, and its due time.
//!
//! Must not know: formats, files. Start reading at [`Trace::next`].

use super::TraceError;
use super::names::FileNames;
use super::reader::Reader;
use super::record::{TraceRecord, Verb};
use super::rules::{ReplayRules, TraceTimeline};
use super::window::TraceBytes;
use crate::next::NextIo;
use ferrio_stats::note::{TraceFault, TraceRemark};
use ferrio_units::Direction;
use std::sync::Arc;

/// An action of the replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TraceStep {
    Open(u32),
    Close(u32),
    Io(NextIo),
}

/// A step, and its due time after the start of the replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TraceEntry {
    pub(super) due_ns: u64,
    pub(super) step: TraceStep,
}

/// A trace that is being read.
#[derive(Debug)]
pub(super) struct Trace {
    pub(super) reader: Reader,
    pub(super) names: FileNames,
    pub(super) rules: ReplayRules,
    timeline: TraceTimeline,
    /// Number of writes and trims that were left out for `--readonly`, since the start.
    pub(super) n_forbidden: u64,
}

impl Trace {
    pub(super) fn open(bytes: Arc<dyn TraceBytes>, rules: ReplayRules) -> Result<Self, TraceError> {
        let names = if rules.has_one_file() { FileNames::one() } else { FileNames::default() };
        Ok(Self { reader: Reader::open(bytes)?, names, rules, timeline: TraceTimeline::default(), n_forbidden: 0 })
    }

    /// Back to the first entry.
    pub(super) fn rewind(&mut self) -> Result<(), TraceError> {
        self.timeline = TraceTimeline::default();
        self.reader.rewind()
    }

    /// The next step; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<TraceEntry>, TraceError> {
        while let Some(record) = self.reader.next(&mut self.names)? {
            if let Some(entry) = self.entry(&record)? {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    fn entry(&mut self, record: &TraceRecord) -> Result<Option<TraceEntry>, TraceError> {
        let step = match record.verb {
            Verb::Add => return Ok(None),
            Verb::Wait => {
                self.timeline.wait(&self.rules, record.offset_bytes);
                return Ok(None);
            }
            Verb::Open => Some(TraceStep::Open(record.file_index)),
            Verb::Close => Some(TraceStep::Close(record.file_index)),
            Verb::Io(direction) if self.rules.skips(direction) => {
                self.n_forbidden += u64::from(self.rules.forbids(direction));
                None
            }
            Verb::Io(direction) => self.io(record, direction)?.map(TraceStep::Io),
        };
        // The replay starts at the time of the first entry, even if that entry is left out.
        let due_ns = self.timeline.entry(&self.rules, record.at_ns);
        Ok(step.map(|step| TraceEntry { due_ns, step }))
    }

    /// An I/O at its place after all rules; `None`: it is left out.
    ///
    /// # Errors
    /// `replay_offset` moves it behind all possible offsets.
    fn io(&mut self, record: &TraceRecord, direction: Direction) -> Result<Option<NextIo>, TraceError> {
        let file_index = record.file_index;
        if direction.is_sync() {
            return Ok(Some(NextIo { direction, file_index, offset_bytes: 0, length_bytes: 0 }));
        }
        let Some((offset_bytes, length_bytes)) = self.rules.place(record) else {
            let TraceRecord { offset_bytes, length_bytes, .. } = *record;
            self.reader.remarks.add(|| TraceRemark::Unaligned { length_bytes, offset_bytes });
            return Ok(None);
        };
        let moved_away = || TraceFault::MovedAway {
            place: self.reader.place(),
            length_bytes,
            offset_bytes,
            by_bytes: self.rules.shift_bytes(),
        };
        let offset_bytes = self.rules.moved(offset_bytes, length_bytes).ok_or_else(moved_away)?;
        Ok(Some(NextIo { direction, file_index, offset_bytes, length_bytes }))
    }
}
