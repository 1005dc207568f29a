//! The first pass over a trace: its files, directions, sizes and depth.
//!
//! Must not know: how the results are used. Start reading at [`survey`].

use super::TraceError;
use super::names::TraceFile;
use super::rules::Remarks;
use super::rules::ReplayRules;
use super::trace::{Trace, TraceStep};
use super::window::TraceBytes;
use crate::next::NextIo;
use ferrio_stats::note::{TraceFault, TracePlace, TraceRemark};
use ferrio_units::{DataDirection, Direction, PerDirection};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Largest depth that a replay takes from its trace.
const MAX_DEPTH: u32 = 1_024;

/// Number of entries after which the survey checks again whether the run is over.
const ENTRIES_BETWEEN_LOOKS: u64 = 65_536;

/// The I/Os of a trace in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DirectionUse {
    pub n_ios: u64,
    pub bytes: u64,
    /// Length of the shortest I/O, bytes.
    pub min_bytes: u64,
    /// Length of the longest I/O, bytes.
    pub max_bytes: u64,
}

/// Most different lengths of a direction that are kept.
const MAX_LENGTHS: usize = 1_024;

/// The lengths of the I/Os of a direction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lengths {
    /// The largest number that divides all lengths, bytes; 0: there are no I/Os.
    pub divisor: u64,
    /// All different lengths; empty if there are too many.
    known: BTreeSet<u64>,
    has_more: bool,
}

impl Lengths {
    fn add(&mut self, length_bytes: u64) {
        self.divisor = common_divisor(self.divisor, length_bytes);
        if !self.known.contains(&length_bytes) {
            self.has_more |= self.known.len() >= MAX_LENGTHS;
            if !self.has_more {
                self.known.insert(length_bytes);
            }
        }
    }

    /// True if all lengths are known and `is_so` holds for each.
    pub fn all(&self, is_so: impl Fn(u64) -> bool) -> bool {
        !self.has_more && self.known.iter().all(|length_bytes| is_so(*length_bytes))
    }
}

fn common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUse {
    pub file: TraceFile,
    pub reach: FileReach,
}

/// How far the I/Os of a file reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileReach {
    /// End of the I/O that reaches furthest.
    pub end_bytes: u64,
    /// Place of that I/O; `None`: the file has only syncs, or none.
    pub furthest: Option<TracePlace>,
    pub is_written: bool,
}

impl FileReach {
    fn add(&mut self, io: &NextIo, place: TracePlace) {
        let end_bytes = io.offset_bytes + io.length_bytes;
        if end_bytes > self.end_bytes {
            (self.end_bytes, self.furthest) = (end_bytes, Some(place));
        }
        self.is_written |= io.direction == Direction::Write;
    }
}

/// Result of a survey, after the rules of the replay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceSurvey {
    pub files: Vec<FileUse>,
    /// Reads, writes and trims.
    pub directions: PerDirection<DirectionUse>,
    /// Lengths of the writes; of the reads if the trace has no writes.
    pub lengths: Lengths,
    /// The largest number that divides the offsets of all writes, bytes; 0: all offsets are 0.
    pub write_offsets_divisor: u64,
    pub n_syncs: u64,
    /// Largest number of requests in flight at the same time, at least 1; `None`: the format does not show it.
    pub depth: Option<u32>,
    /// Faults of the trace that do not end the replay.
    pub remarks: Remarks,
}

/// Reads a trace once from start to end, or until `stop` returns true because the run is over.
pub fn survey(
    bytes: Arc<dyn TraceBytes>,
    rules: ReplayRules,
    stop: &dyn Fn() -> bool,
) -> Result<TraceSurvey, TraceError> {
    let mut trace = Trace::open(bytes, rules)?;
    let mut survey = TraceSurvey {
        files: Vec::new(),
        directions: PerDirection::default(),
        lengths: Lengths::default(),
        write_offsets_divisor: 0,
        n_syncs: 0,
        depth: None,
        remarks: Remarks::default(),
    };
    let mut reaches: Vec<FileReach> = Vec::new();
    let mut n_entries: u64 = 0;
    while let Some(entry) = trace.next()? {
        n_entries += 1;
        if n_entries.is_multiple_of(ENTRIES_BETWEEN_LOOKS) && stop() {
            return Err(TraceError::Stopped);
        }
        if let TraceStep::Io(io) = entry.step {
            let index = io.file_index as usize;
            if reaches.len() <= index {
                reaches.resize(index + 1, FileReach::default());
            }
            reaches[index].add(&io, trace.reader.place());
            survey.count(&io);
        }
    }
    let format = if trace.reader.tells_depth() { "blktrace" } else { "iolog" };
    if survey.n_syncs == 0 && survey.directions.0.iter().all(|of| of.n_ios == 0) {
        return Err(match trace.n_forbidden {
            0 => TraceFault::NoIo { format: format.into() }.into(),
            n_forbidden => TraceFault::Readonly { format: format.into(), n_forbidden }.into(),
        });
    }
    let with_reach = |(index, file): (usize, &TraceFile)| FileUse {
        file: file.clone(),
        reach: reaches.get(index).copied().unwrap_or_default(),
    };
    survey.files = trace.names.list().iter().enumerate().map(with_reach).collect();
    survey.depth = trace.reader.tells_depth().then(|| trace.reader.depth.peak().min(MAX_DEPTH));
    survey.remarks = trace.reader.remarks;
    if trace.n_forbidden > 0 {
        survey.remarks.add(|| TraceRemark::Forbidden { n_ios: trace.n_forbidden });
    }
    Ok(survey)
}

impl TraceSurvey {
    fn count(&mut self, io: &NextIo) {
        let Some(direction) = io.direction.data() else {
            self.n_syncs += 1;
            return;
        };
        let has_written = self.uses(DataDirection::Write);
        if direction == DataDirection::Write && !has_written {
            self.lengths = Lengths::default();
        }
        if direction == DataDirection::Write || (direction == DataDirection::Read && !has_written) {
            self.lengths.add(io.length_bytes);
        }
        if direction == DataDirection::Write {
            self.write_offsets_divisor = common_divisor(self.write_offsets_divisor, io.offset_bytes);
        }
        let of = &mut self.directions[direction];
        of.min_bytes = if of.n_ios == 0 { io.length_bytes } else { of.min_bytes.min(io.length_bytes) };
        of.max_bytes = of.max_bytes.max(io.length_bytes);
        of.n_ios += 1;
        of.bytes = of.bytes.saturating_add(io.length_bytes);
    }

    /// True if the trace has I/Os of a direction.
    pub fn uses(&self, direction: DataDirection) -> bool {
        self.directions[direction].n_ios > 0
    }

    /// True if no write covers only a part of another: all have one length, at multiples of it.
    pub fn writes_whole_blocks(&self) -> bool {
        let writes = self.directions[DataDirection::Write];
        writes.min_bytes == writes.max_bytes
            && (writes.max_bytes == 0 || self.write_offsets_divisor.is_multiple_of(writes.max_bytes))
    }

    pub fn bytes(&self) -> u64 {
        self.directions.0.iter().fold(0, |sum, of| sum.saturating_add(of.bytes))
    }
}
