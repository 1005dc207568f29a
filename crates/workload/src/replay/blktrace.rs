//! The binary format of blktrace, as `include/uapi/linux/blktrace_api.h` of Linux defines it.
//!
//! Must not know: files, times of the replay. Start reading at [`BlktraceEvent::parse`].

use super::TraceError;
use super::record::Verb;
use ferrio_stats::note::TraceFault;
use ferrio_units::Direction;

/// Length of a record without its own data.
pub(super) const RECORD_BYTES: usize = 48;

/// The upper 24 bits of the first word of a record; the lower 8 are the version.
const MAGIC: u32 = 0x0065_6174;
const VERSION: u32 = 7;

/// Sizes and offsets are in sectors of this size.
const SECTOR_BYTES: u64 = 512;

/// Kinds of events in the lower half of an action.
const QUEUE: u32 = 1;
const BACK_MERGE: u32 = 2;
const FRONT_MERGE: u32 = 3;
const COMPLETE: u32 = 8;

const PROCESS_NAME: u32 = 0;

/// Properties in the upper half of an action.
const READ: u32 = 1;
const WRITE: u32 = 2;
const FLUSH: u32 = 4;
const NOTIFY: u32 = 0x400;
const DISCARD: u32 = 0x2000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteOrder {
    Little,
    Big,
}

impl ByteOrder {
    const NATIVE: Self = if cfg!(target_endian = "little") { Self::Little } else { Self::Big };

    /// Order of a trace that begins with these bytes; `None`: it is no blktrace.
    pub(super) fn of_trace(start: &[u8]) -> Option<Self> {
        let word: [u8; 4] = start.get(..4)?.try_into().ok()?;
        [Self::Little, Self::Big].into_iter().find(|order| order.word(word) >> 8 == MAGIC)
    }

    fn word(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }

    /// The four bytes at an offset of a record.
    fn u32_at(self, record: &[u8; RECORD_BYTES], at: usize) -> u32 {
        self.word(std::array::from_fn(|index| record[at + index]))
    }

    fn u64_at(self, record: &[u8; RECORD_BYTES], at: usize) -> u64 {
        let (first, second) = (self.u32_at(record, at), self.u32_at(record, at + 4));
        let (low, high) = if self == Self::Little { (first, second) } else { (second, first) };
        u64::from(high) << 32 | u64::from(low)
    }

    fn u16_at(self, record: &[u8; RECORD_BYTES], at: usize) -> u16 {
        let bytes = [record[at], record[at + 1]];
        if self == Self::Little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) }
    }
}

/// Lengths of a record's fields, in order.
const FIELD_BYTES: [usize; 11] = [4, 4, 8, 8, 4, 4, 4, 4, 4, 2, 2];

/// Offset of the time in a record.
const TIME_AT: usize = 8;

/// A record in this machine's byte order, with another time and without data of its own.
pub(super) fn rewritten(order: ByteOrder, record: &[u8; RECORD_BYTES], time_ns: u64) -> [u8; RECORD_BYTES] {
    let mut out = *record;
    if order != ByteOrder::NATIVE {
        let mut rest = &mut out[..];
        for n in FIELD_BYTES {
            // Cannot fail: the lengths of the fields add up to that of the record.
            let (field, tail) = rest.split_at_mut(n);
            field.reverse();
            rest = tail;
        }
    }
    out[TIME_AT..TIME_AT + 8].copy_from_slice(&time_ns.to_ne_bytes());
    out[RECORD_BYTES - 2..].fill(0);
    out
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BlktraceEvent {
    pub(super) time_ns: u64,
    pub(super) sector: u64,
    pub(super) bytes: u32,
    pub(super) action: u32,
    /// Process that caused the event; that of a completion is any.
    pub(super) process_id: u32,
    device: u32,
    /// Length of the data that follows the record.
    pub(super) n_data_bytes: u16,
}

/// What an event does to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlktraceAction {
    /// The request entered the queue.
    Queued,
    /// The request became part of another.
    Merged,
    /// The request is done.
    Completed,
    /// Any other event: it does not change the number of requests.
    Other,
}

/// Why a record is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadRecord {
    Magic(u32),
    Version(u32),
}

impl BadRecord {
    pub(super) fn at(self, offset: u64) -> TraceError {
        match self {
            Self::Magic(magic) => TraceFault::Magic { magic, offset }.into(),
            Self::Version(version) => TraceFault::Version { version, offset }.into(),
        }
    }
}

impl BlktraceEvent {
    pub(super) fn parse(order: ByteOrder, record: &[u8; RECORD_BYTES]) -> Result<Self, BadRecord> {
        let magic = order.u32_at(record, 0);
        if magic >> 8 != MAGIC {
            return Err(BadRecord::Magic(magic));
        }
        if magic & 0xff != VERSION {
            return Err(BadRecord::Version(magic & 0xff));
        }
        Ok(Self {
            time_ns: order.u64_at(record, 8),
            sector: order.u64_at(record, 16),
            bytes: order.u32_at(record, 24),
            action: order.u32_at(record, 28),
            process_id: order.u32_at(record, 32),
            device: order.u32_at(record, 36),
            n_data_bytes: order.u16_at(record, 46),
        })
    }

    /// An event with this action; all other fields are 0.
    #[cfg(test)]
    pub(super) fn of_action(action: u32) -> Self {
        Self { time_ns: 0, sector: 0, bytes: 4096, action, process_id: 0, device: 0, n_data_bytes: 0 }
    }

    /// True if an I/O entered the queue: the only kind of event that is replayed.
    pub(super) fn is_queued(&self) -> bool {
        !self.is(NOTIFY) && self.action & 0xffff == QUEUE
    }

    /// True if the data of the record are the name of its process.
    pub(super) fn names_process(&self) -> bool {
        self.is(NOTIFY) && self.action & 0xffff == PROCESS_NAME
    }

    /// True if the other request of a merge begins behind this one, and from now on here.
    pub(super) fn is_front_merge(&self) -> bool {
        self.action & 0xffff == FRONT_MERGE
    }

    /// True for a read, write or discard: the events that a merge of traces keeps. A flush alone is none of them.
    pub(super) fn is_data(&self) -> bool {
        self.is(READ | WRITE | DISCARD)
    }

    pub(super) fn progress(&self) -> BlktraceAction {
        match self.action & 0xffff {
            _ if self.is(NOTIFY) => BlktraceAction::Other,
            QUEUE => BlktraceAction::Queued,
            BACK_MERGE | FRONT_MERGE => BlktraceAction::Merged,
            COMPLETE => BlktraceAction::Completed,
            _ => BlktraceAction::Other,
        }
    }

    /// `Some(true)` for a write or discard, `Some(false)` for a read.
    pub(super) fn is_write_not_read(&self) -> Option<bool> {
        (self.is(READ) || self.is(WRITE)).then_some(self.is(WRITE))
    }

    fn is(&self, property: u32) -> bool {
        (self.action >> 16) & property != 0
    }

    /// What the entry does. A write that flushes first is a write.
    pub(super) fn verb(&self) -> Verb {
        Verb::Io(if self.is(DISCARD) {
            Direction::Trim
        } else if self.is(FLUSH) && self.bytes == 0 {
            Direction::Sync
        } else if self.is(WRITE) {
            Direction::Write
        } else {
            Direction::Read
        })
    }

    /// Offset on the device; `None`: it does not fit into 64 bits.
    pub(super) fn offset_bytes(&self) -> Option<u64> {
        self.sector.checked_mul(SECTOR_BYTES)
    }

    /// Major and minor number.
    pub(super) fn device(&self) -> (u32, u32) {
        (self.device >> 20, self.device & 0xf_ffff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record built from the header of Linux, field by field.
    fn record(big: bool, fields: (u32, u64, u64, u32, u32, u32, u16)) -> [u8; RECORD_BYTES] {
        let (magic, time, sector, bytes, action, device, n_data) = fields;
        let mut out = Vec::new();
        let word = |out: &mut Vec<u8>, value: u64, n: usize| {
            let all = if big { value.to_be_bytes()[8 - n..].to_vec() } else { value.to_le_bytes()[..n].to_vec() };
            out.extend(all);
        };
        for (value, n) in [(magic.into(), 4), (9, 4), (time, 8), (sector, 8), (bytes.into(), 4), (action.into(), 4)] {
            word(&mut out, value, n);
        }
        for (value, n) in [(1234, 4), (device.into(), 4), (3, 4), (0, 2), (n_data.into(), 2)] {
            word(&mut out, value, n);
        }
        out.try_into().unwrap()
    }

    #[test]
    fn both_orders_of_bytes_say_the_same() {
        let fields = (0x6561_7407, 0x0102_0304_0506, 0x1_0000_0001, 4096, 2 << 16 | 1, 259 << 20 | 5, 77);
        for (big, order) in [(false, ByteOrder::Little), (true, ByteOrder::Big)] {
            let record = record(big, fields);
            assert_eq!(ByteOrder::of_trace(&record), Some(order));
            let event = BlktraceEvent::parse(order, &record).unwrap();
            assert_eq!((event.time_ns, event.bytes, event.n_data_bytes), (0x0102_0304_0506, 4096, 77));
            assert_eq!((event.offset_bytes(), event.device()), (Some(0x200_0000_0200), (259, 5)));
            assert!(event.is_queued());
            assert_eq!(event.verb(), Verb::Io(Direction::Write));
        }
    }

    #[test]
    fn actions_are_those_of_the_header() {
        use BlktraceAction::{Completed, Merged, Other, Queued};
        let event = |action, bytes| {
            BlktraceEvent::parse(ByteOrder::Little, &record(false, (0x6561_7407, 0, 0, bytes, action, 0, 0))).unwrap()
        };
        for (category, bytes, direction) in [
            (1, 512, Direction::Read),
            (2, 512, Direction::Write),
            (0x2000, 512, Direction::Trim),
            (0x2002, 512, Direction::Trim),
            (4, 0, Direction::Sync),
            (6, 0, Direction::Sync),
            (6, 512, Direction::Write),
        ] {
            assert_eq!(event(category << 16 | 1, bytes).verb(), Verb::Io(direction), "{category:#x}");
        }
        assert!(!event(0x400 << 16, 0).is_queued() && !event(0x400 << 16 | 1, 0).is_queued());
        let progress = [1, 2, 3, 4, 7, 8].map(|kind| event(1 << 16 | kind, 512).progress());
        assert_eq!(progress, [Queued, Merged, Merged, Other, Other, Completed]);
        assert_eq!(event(0x400 << 16 | 1, 0).progress(), Other);
    }

    #[test]
    fn other_magic_and_versions_are_refused() {
        let parse = |magic| BlktraceEvent::parse(ByteOrder::Little, &record(false, (magic, 0, 0, 0, 0, 0, 0)));
        assert_eq!(parse(0x1234_5607), Err(BadRecord::Magic(0x1234_5607)));
        assert_eq!(parse(0x6561_7408), Err(BadRecord::Version(8)));
        assert_eq!(ByteOrder::of_trace(b"fio version 3"), None);
        assert_eq!(ByteOrder::of_trace(b"tae"), None);
    }
}
