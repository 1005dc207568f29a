//! One entry of a trace, whatever its format.
//!
//! Must not know: formats. Start reading at [`TraceRecord`].

use ferrio_units::Direction;

/// What an entry says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TraceRecord {
    /// When it was, nanoseconds of the trace's clock; `None`: the format has no times.
    pub(super) at_ns: Option<u64>,
    pub(super) verb: Verb,
    /// File of the trace.
    pub(super) file_index: u32,
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u64,
}

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// A file was made known.
    Add,
    /// A file was opened.
    Open,
    /// A file was closed.
    Close,
    /// What follows is not due before so many milliseconds after the start (in the place of the offset).
    Wait,
    /// An I/O was issued.
    Io(Direction),
}

/// Longest read or write, bytes: what one buffer may take.
pub(super) const MAX_DATA_BYTES: u64 = 1 << 30;

impl TraceRecord {
    /// The entry can be done: it ends within what files may have, and a buffer can hold it.
    pub(super) fn is_possible(&self) -> bool {
        let Verb::Io(direction) = self.verb else { return true };
        let is_trim = direction == Direction::Trim;
        let ends = self.offset_bytes.checked_add(self.length_bytes).is_some_and(|end| i64::try_from(end).is_ok());
        ends && (is_trim || self.length_bytes <= MAX_DATA_BYTES)
    }
}
