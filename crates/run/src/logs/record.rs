//! The contents of a worker's ring: records of a few words.
//!
//! Must not know: files. Start reading at [`LogRecord`] and [`Recorder`].
//! The first word says what a record is; bits from the lowest: kind (4), direction (2), kind of log (3), wide (1), unused
//! (6), priority (16), and 32 bits of the block size or of a count. An I/O that completed takes three words, one that was
//! submitted two; one more with its offset, one with its issue time, and one where a number does not fit into 32 bits.

use ferrio_stats::LogKind;
use ferrio_stats::histogram::N_BUCKETS;
use ferrio_units::DataDirection;

const IO: u64 = 1;
const SLAT: u64 = 2;
const WINDOW: u64 = 3;
const HISTOGRAM: u64 = 4;
const EPOCH: u64 = 5;
const WIDE: u64 = 1 << 9;
/// Longest record of an I/O, words.
const MAX_IO_WORDS: usize = 6;

/// A data I/O that completed, or was submitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IoRecord {
    pub(crate) direction: DataDirection,
    /// Milliseconds since the job's start.
    pub(crate) time_ms: u64,
    /// Bytes; larger blocks are recorded with the low 32 bits of their length.
    pub(crate) block_bytes: u32,
    pub(crate) ioprio: u16,
    /// Completion latency; for a submission, its slat.
    pub(crate) clat_ns: u64,
    /// Total latency; 0 for a submission.
    pub(crate) lat_ns: u64,
    pub(crate) offset_bytes: u64,
    /// Nanoseconds from the job's start to the issue.
    pub(crate) issue_ns: u64,
}

/// A record as the reader gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LogRecord {
    /// The job starts (or its ramp is over): the start of its times, milliseconds.
    Epoch(u64),
    Io(IoRecord),
    Slat(IoRecord),
    Window {
        kind: LogKind,
        direction: DataDirection,
        time_ms: u64,
        value: u64,
        maximum: u64,
    },
    /// The interval of a histogram ended.
    Histogram {
        direction: DataDirection,
        time_ms: u64,
        block_bytes: u64,
        counts: Box<[u64; N_BUCKETS]>,
    },
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Recorder {
    /// I/Os carry their offset.
    pub(crate) offset: bool,
    /// I/Os carry the time of their issue.
    pub(crate) issue_time: bool,
}

/// The words of an I/O's record, while they are put together.
struct IoWords {
    words: [u64; MAX_IO_WORDS],
    n_words: usize,
}

impl IoWords {
    #[inline]
    fn push(&mut self, word: u64) {
        debug_assert!(self.n_words < MAX_IO_WORDS, "a record of an I/O has at most {MAX_IO_WORDS} words");
        self.words[self.n_words] = word;
        self.n_words += 1;
    }
}

impl Recorder {
    #[inline]
    pub(crate) fn io(self, io: &IoRecord, send: &mut impl FnMut(&[u64])) {
        let mut record = Self::begin(IO, io, io.lat_ns);
        record.push(io.lat_ns);
        self.end(io, record, send);
    }

    /// An I/O that was submitted: `clat_ns` is its slat.
    pub(crate) fn slat(self, io: &IoRecord, send: &mut impl FnMut(&[u64])) {
        self.end(io, Self::begin(SLAT, io, 0), send);
    }

    /// The common part of both; `further` is one more number that decides whether the numbers of this record need a
    /// whole word each.
    #[inline]
    fn begin(kind: u64, io: &IoRecord, further: u64) -> IoWords {
        let head = first(kind, io.direction) | (u64::from(io.ioprio) << 16) | (u64::from(io.block_bytes) << 32);
        let mut record = IoWords { words: [head; MAX_IO_WORDS], n_words: 1 };
        if (io.time_ms | io.clat_ns | further) >> 32 == 0 {
            record.push(io.time_ms | (io.clat_ns << 32));
        } else {
            record.words[0] |= WIDE;
            record.push(io.time_ms);
            record.push(io.clat_ns);
        }
        record
    }

    #[inline]
    fn end(self, io: &IoRecord, mut record: IoWords, send: &mut impl FnMut(&[u64])) {
        if self.offset {
            record.push(io.offset_bytes);
        }
        if self.issue_time {
            record.push(io.issue_ns);
        }
        send(&record.words[..record.n_words]);
    }

    /// The record of the job's start.
    pub(crate) fn epoch(base_ms: u64, send: &mut impl FnMut(&[u64])) {
        send(&[EPOCH, base_ms]);
    }

    pub(crate) fn window(
        kind: LogKind,
        direction: DataDirection,
        [time_ms, value, maximum]: [u64; 3],
        send: &mut impl FnMut(&[u64]),
    ) {
        let kind = LogKind::ALL.iter().position(|other| *other == kind).unwrap_or(0) as u64;
        send(&[first(WINDOW, direction) | (kind << 6), time_ms, value, maximum]);
    }

    /// The record of an interval's end; `counts` has the counts of the interval. Empty buckets are omitted.
    pub(crate) fn histogram(
        direction: DataDirection,
        time_ms: u64,
        block_bytes: u64,
        counts: impl Iterator<Item = (usize, u64)>,
        send: &mut impl FnMut(&[u64]),
    ) {
        let mut words = vec![0, time_ms, block_bytes];
        for (bucket, count) in counts {
            words.extend([bucket as u64, count]);
        }
        let n_pairs = (words.len() as u64 - 3) / 2;
        words[0] = first(HISTOGRAM, direction) | (n_pairs << 32);
        send(&words);
    }

    /// Reads the oldest record; also returns its length in words. `None`: the words are no record, or an incomplete one
    /// (the writer is broken).
    #[inline]
    pub(crate) fn read(self, n_waiting: usize, word: impl Fn(usize) -> u64) -> Option<(LogRecord, usize)> {
        if n_waiting == 0 {
            return None;
        }
        let head = word(0);
        let direction = DataDirection::ALL.get(((head >> 4) & 3) as usize).copied()?;
        let (record, n_words) = match head & 0xf {
            IO | SLAT => self.read_io(head, direction, n_waiting, word)?,
            EPOCH if n_waiting >= 2 => (LogRecord::Epoch(word(1)), 2),
            WINDOW if n_waiting >= 4 => {
                let kind = LogKind::ALL.get(((head >> 6) & 7) as usize).copied()?;
                let (time_ms, value, maximum) = (word(1), word(2), word(3));
                (LogRecord::Window { kind, direction, time_ms, value, maximum }, 4)
            }
            HISTOGRAM if n_waiting >= 3 => {
                let n_words = 3 + 2 * (head >> 32) as usize;
                if n_waiting < n_words {
                    return None;
                }
                let mut counts = Box::new([0; N_BUCKETS]);
                for pair in (3..n_words).step_by(2) {
                    *counts.get_mut(usize::try_from(word(pair)).ok()?)? = word(pair + 1);
                }
                (LogRecord::Histogram { direction, time_ms: word(1), block_bytes: word(2), counts }, n_words)
            }
            _ => return None,
        };
        Some((record, n_words))
    }

    #[inline]
    fn read_io(
        self,
        head: u64,
        direction: DataDirection,
        n_waiting: usize,
        word: impl Fn(usize) -> u64,
    ) -> Option<(LogRecord, usize)> {
        let (is_wide, is_done) = (head & WIDE != 0, head & 0xf == IO);
        let n_figures = 2 + usize::from(is_wide) + usize::from(is_done);
        let n_words = n_figures + usize::from(self.offset) + usize::from(self.issue_time);
        if n_waiting < n_words {
            return None;
        }
        let (time_ms, clat_ns) = if is_wide { (word(1), word(2)) } else { (word(1) & 0xffff_ffff, word(1) >> 32) };
        let lat_ns = if is_done { word(n_figures - 1) } else { 0 };
        let offset_bytes = if self.offset { word(n_figures) } else { 0 };
        let issue_ns = if self.issue_time { word(n_words - 1) } else { 0 };
        let (block_bytes, ioprio) = ((head >> 32) as u32, (head >> 16) as u16);
        let io = IoRecord { direction, time_ms, block_bytes, ioprio, clat_ns, lat_ns, offset_bytes, issue_ns };
        let record = if is_done { LogRecord::Io(io) } else { LogRecord::Slat(io) };
        Some((record, n_words))
    }
}

fn first(kind: u64, direction: DataDirection) -> u64 {
    kind | ((direction as u64) << 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn direction() -> impl Strategy<Value = DataDirection> {
        (0usize..3).prop_map(|index| DataDirection::ALL[index])
    }

    fn time() -> impl Strategy<Value = u64> {
        prop_oneof![0u64..1 << 20, any::<u64>()]
    }

    prop_compose! {
        fn io()(
            (direction, time_ms) in (direction(), time()),
            (block_bytes, ioprio) in (any::<u32>(), any::<u16>()),
            (clat_ns, lat_ns) in (time(), time()),
            (offset_bytes, issue_ns) in (any::<u64>(), any::<u64>()),
        ) -> IoRecord {
            IoRecord { direction, time_ms, block_bytes, ioprio, clat_ns, lat_ns, offset_bytes, issue_ns }
        }
    }

    fn read_all(recorder: Recorder, words: &[u64]) -> Vec<LogRecord> {
        let (mut at, mut records) = (0, Vec::new());
        while let Some((record, n_words)) = recorder.read(words.len() - at, |offset| words[at + offset]) {
            records.push(record);
            at += n_words;
        }
        assert_eq!(at, words.len());
        records
    }

    proptest! {
        #[test]
        fn records_read_back(
            ios in prop::collection::vec(io(), 1..20),
            (offset, issue_time) in any::<(bool, bool)>(),
            base in any::<u64>(),
        ) {
            let recorder = Recorder { offset, issue_time };
            let (mut words, mut expected) = (Vec::new(), vec![LogRecord::Epoch(base)]);
            let mut send = |record: &[u64]| words.extend_from_slice(record);
            Recorder::epoch(base, &mut send);
            for io in ios {
                let offset_bytes = if offset { io.offset_bytes } else { 0 };
                let io = IoRecord { offset_bytes, issue_ns: if issue_time { io.issue_ns } else { 0 }, ..io };
                let submitted = IoRecord { lat_ns: 0, ..io };
                recorder.io(&io, &mut send);
                recorder.slat(&submitted, &mut send);
                let figures = [io.time_ms, io.clat_ns, io.lat_ns];
                Recorder::window(LogKind::Lat, io.direction, figures, &mut send);
                let pairs = [(3usize, io.clat_ns), (N_BUCKETS - 1, io.lat_ns)];
                Recorder::histogram(io.direction, io.time_ms, io.issue_ns, pairs.into_iter(), &mut send);
                let mut counts = Box::new([0; N_BUCKETS]);
                (counts[3], counts[N_BUCKETS - 1]) = (io.clat_ns, io.lat_ns);
                let direction = io.direction;
                let [time_ms, value, maximum] = figures;
                expected.extend([
                    LogRecord::Io(io),
                    LogRecord::Slat(submitted),
                    LogRecord::Window { kind: LogKind::Lat, direction, time_ms, value, maximum },
                    LogRecord::Histogram { direction, time_ms, block_bytes: io.issue_ns, counts },
                ]);
            }
            prop_assert_eq!(read_all(recorder, &words), expected);
        }

        #[test]
        fn broken_words_do_not_panic(
            words in prop::collection::vec(prop_oneof![0u64..64, any::<u64>()], 0..40),
            (offset, issue_time) in any::<(bool, bool)>(),
        ) {
            let recorder = Recorder { offset, issue_time };
            let mut at = 0;
            while let Some((_, n_words)) = recorder.read(words.len() - at, |offset| words[at + offset]) {
                at += n_words;
            }
        }
    }

    /// An I/O gives rows of clat and lat, and one of slat if it is submitted separately. Rows take at most 20 bytes
    /// each, or 24 if they have both offset and issue time.
    #[test]
    fn an_io_takes_few_bytes() {
        let io = IoRecord {
            direction: DataDirection::Write,
            time_ms: 86_400_000,
            block_bytes: u32::MAX,
            ioprio: 1,
            clat_ns: 4_000_000_000,
            lat_ns: 4_200_000_000,
            offset_bytes: u64::MAX,
            issue_ns: u64::MAX,
        };
        for (offset, issue_time, alone_bytes, both_bytes) in
            [(false, false, 12, 14), (true, false, 16, 19), (false, true, 16, 19), (true, true, 20, 24)]
        {
            let recorder = Recorder { offset, issue_time };
            let (mut done, mut submitted) = (0, 0);
            recorder.io(&io, &mut |words| done = words.len() * 8);
            recorder.slat(&io, &mut |words| submitted = words.len() * 8);
            assert!(done <= 2 * alone_bytes && done + submitted <= 3 * both_bytes, "{done} and {submitted} bytes");
        }
    }
}
