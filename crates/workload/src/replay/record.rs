//! One entry of a trace, in a form that does not depend on the format.
//!
//! Must not know: formats. Start reading at [`TraceRecord`].

use ferrio_units::Direction;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TraceRecord {
    /// Time of the entry, nanoseconds of the trace's clock; `None`: the format has no times.
    pub(super) at_ns: Option<u64>,
    pub(super) verb: Verb,
    pub(super) file_index: u32,
    pub(super) offset_bytes: u64,
    pub(super) length_bytes: u64,
}

/// The action of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    /// Makes a file known.
    Add,
    Open,
    Close,
    /// Delays the next entry until this many milliseconds after the start (stored as the offset).
    Wait,
    Io(Direction),
}

/// Longest read or write, bytes; a buffer can be no longer.
pub(super) const MAX_DATA_BYTES: u64 = 1 << 30;

impl TraceRecord {
    /// True if the entry can be done: its end is a valid file offset, and a buffer can hold its data.
    pub(super) fn is_possible(&self) -> bool {
        let Verb::Io(direction) = self.verb else { return true };
        let is_trim = direction == Direction::Trim;
        let ends = self.offset_bytes.checked_add(self.length_bytes).is_some_and(|end| i64::try_from(end).is_ok());
        ends && (is_trim || self.length_bytes <= MAX_DATA_BYTES)
    }
}
