//! The first pass over a trace: its files, directions, sizes and depth.
//!
//! Must not know: what is done with them. Start reading at [`survey`].

use super::TraceError;
use super::names::TraceFile;
use super::remarks::Remarks;
use super::rules::ReplayRules;
use super::trace::{Trace, TraceStep};
use super::window::TraceBytes;
use crate::stream::NextIo;
use ferrio_units::{DataDirection, PerDirection};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Largest depth that is taken from a trace.
const MAX_DEPTH: u32 = 1_024;

/// Entries between two looks at whether to go on.
const ENTRIES_BETWEEN_LOOKS: u64 = 65_536;

/// What a trace does in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DirectionUse {
    /// I/Os.
    pub n_ios: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The shortest, bytes.
    pub min_bytes: u64,
    /// The longest, bytes.
    pub max_bytes: u64,
}

/// Most different lengths of a direction that are kept.
const MAX_LENGTHS: usize = 1_024;

/// The lengths of the I/Os of a direction.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lengths {
    /// The largest number of bytes that divides all of them; 0: there are none.
    pub divisor: u64,
    /// Each once, unless there are too many.
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

    /// Each is known to be as this says.
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

/// A file of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUse {
    /// Which.
    pub file: TraceFile,
    /// Where the last of its I/Os ends.
    pub end_bytes: u64,
}

/// What a trace holds, as the rules of its replay have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceSurvey {
    /// Its files, by their index.
    pub files: Vec<FileUse>,
    /// Its reads, writes and trims.
    pub directions: PerDirection<DirectionUse>,
    /// Lengths of its writes; of its reads if it does not write.
    pub lengths: Lengths,
    /// The largest number of bytes that divides the offsets of all of its writes; 0: they are all 0.
    pub write_offsets_divisor: u64,
    /// Its syncs.
    pub n_syncs: u64,
    /// Most requests that were under way at once, where the format tells; at least 1.
    pub depth: Option<u32>,
    /// What says nothing in it.
    pub remarks: Remarks,
}

/// Reads a trace once, from its start to its end, until `stop` says that the run is over.
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
    let mut ends_bytes: Vec<u64> = Vec::new();
    let mut n_entries: u64 = 0;
    while let Some(entry) = trace.next()? {
        n_entries += 1;
        if n_entries.is_multiple_of(ENTRIES_BETWEEN_LOOKS) && stop() {
            return Err(TraceError::Stopped);
        }
        if let TraceStep::Io(io) = entry.step {
            let index = io.file_index as usize;
            if ends_bytes.len() <= index {
                ends_bytes.resize(index + 1, 0);
            }
            ends_bytes[index] = ends_bytes[index].max(io.offset_bytes + io.length_bytes);
            survey.count(&io);
        }
    }
    let format = if trace.reader.tells_depth() { "blktrace" } else { "iolog" };
    if survey.n_syncs == 0 && survey.directions.0.iter().all(|of| of.n_ios == 0) {
        return Err(match trace.n_forbidden {
            0 => TraceError::NoIo(format),
            n_forbidden => TraceError::Readonly { format, n_forbidden },
        });
    }
    let with_end = |(index, file): (usize, &TraceFile)| FileUse {
        file: file.clone(),
        end_bytes: ends_bytes.get(index).copied().unwrap_or(0),
    };
    survey.files = trace.names.list().iter().enumerate().map(with_end).collect();
    survey.depth = trace.reader.tells_depth().then(|| trace.reader.depth.peak().min(MAX_DEPTH));
    survey.remarks = trace.reader.remarks;
    if trace.n_forbidden > 0 {
        survey.remarks.add(|| format!("--readonly leaves out {} writes and trims", trace.n_forbidden));
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

    /// It has I/Os of a direction.
    pub fn uses(&self, direction: DataDirection) -> bool {
        self.directions[direction].n_ios > 0
    }

    /// No write lies over a part of another: all have one length, at multiples of it.
    pub fn writes_whole_blocks(&self) -> bool {
        let writes = self.directions[DataDirection::Write];
        writes.min_bytes == writes.max_bytes
            && (writes.max_bytes == 0 || self.write_offsets_divisor.is_multiple_of(writes.max_bytes))
    }

    /// Bytes of all directions.
    pub fn bytes(&self) -> u64 {
        self.directions.0.iter().fold(0, |sum, of| sum.saturating_add(of.bytes))
    }
}
