//! What goes through the ring of a worker: records of a few words.
//!
//! Must not know: files. Start reading at [`Record`] and [`Recorder`].
//! The first word says what a record is; bits from the lowest: kind (4), direction (2), kind of log (3), wide (1), unused
//! (6), priority (16), and 32 bits of the block size or of a count. An I/O takes three words; two more with its details
//! (offset and issue time), and one more where a number does not fit into 32 bits.

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
    /// Bytes; what is beyond 4 GiB is cut off.
    pub(crate) block_bytes: u32,
    pub(crate) ioprio: u16,
    /// Completion latency; of a submission its slat.
    pub(crate) clat_ns: u64,
    /// Total latency; 0 for a submission.
    pub(crate) lat_ns: u64,
    pub(crate) offset_bytes: u64,
    /// Nanoseconds from the job's start to the issue.
    pub(crate) issue_ns: u64,
}

/// A record as the reader gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Record {
    /// The job starts (or its ramp is over): what its times count from, milliseconds.
    Epoch(u64),
    /// An I/O completed.
    Io(IoRecord),
    /// An I/O was submitted.
    Slat(IoRecord),
    /// A window ended.
    Window { kind: LogKind, direction: DataDirection, time_ms: u64, value: u64, maximum: u64 },
    /// An interval of a histogram ended.
    Histogram { direction: DataDirection, time_ms: u64, block_bytes: u64, counts: Box<[u64; N_BUCKETS]> },
}

/// Makes records. `details`: I/Os carry offset and issue time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recorder {
    pub(crate) details: bool,
}

impl Recorder {
    /// An I/O that completed.
    #[inline]
    pub(crate) fn io(self, io: &IoRecord, send: &mut impl FnMut(&[u64])) {
        let mut words = [0; MAX_IO_WORDS];
        let mut n_words = 3;
        words[0] = first(IO, io.direction) | (u64::from(io.ioprio) << 16) | (u64::from(io.block_bytes) << 32);
        if (io.time_ms | io.clat_ns | io.lat_ns) >> 32 == 0 {
            words[1] = io.time_ms | (io.clat_ns << 32);
            words[2] = io.lat_ns;
        } else {
            words[0] |= WIDE;
            (words[1], words[2], words[3]) = (io.time_ms, io.clat_ns, io.lat_ns);
            n_words = 4;
        }
        if self.details {
            words[n_words] = io.offset_bytes;
            words[n_words + 1] = io.issue_ns;
            n_words += 2;
        }
        send(&words[..n_words]);
    }

    /// An I/O that was submitted: `clat_ns` is its slat.
    pub(crate) fn slat(self, io: &IoRecord, send: &mut impl FnMut(&[u64])) {
        self.io(io, &mut |words| {
            let mut copy = [0; MAX_IO_WORDS];
            copy[..words.len()].copy_from_slice(words);
            copy[0] = (copy[0] & !0xf) | SLAT;
            send(&copy[..words.len()]);
        });
    }

    /// The job starts.
    pub(crate) fn epoch(base_ms: u64, send: &mut impl FnMut(&[u64])) {
        send(&[EPOCH, base_ms]);
    }

    /// A window ended.
    pub(crate) fn window(
        kind: LogKind,
        direction: DataDirection,
        [time_ms, value, maximum]: [u64; 3],
        send: &mut impl FnMut(&[u64]),
    ) {
        let kind = LogKind::ALL.iter().position(|other| *other == kind).unwrap_or(0) as u64;
        send(&[first(WINDOW, direction) | (kind << 6), time_ms, value, maximum]);
    }

    /// An interval of a histogram ended; `counts` holds what it counted. Buckets that are empty are left out.
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

    /// Reads the oldest record; also returns its length in words. `None`: that is no record, or not all of it is there
    /// (its writer broke).
    #[inline]
    pub(crate) fn read(self, n_waiting: usize, word: impl Fn(usize) -> u64) -> Option<(Record, usize)> {
        if n_waiting == 0 {
            return None;
        }
        let head = word(0);
        let direction = DataDirection::ALL.get(((head >> 4) & 3) as usize).copied()?;
        let (record, n_words) = match head & 0xf {
            IO | SLAT => self.read_io(head, direction, n_waiting, word)?,
            EPOCH if n_waiting >= 2 => (Record::Epoch(word(1)), 2),
            WINDOW if n_waiting >= 4 => {
                let kind = LogKind::ALL.get(((head >> 6) & 7) as usize).copied()?;
                let (time_ms, value, maximum) = (word(1), word(2), word(3));
                (Record::Window { kind, direction, time_ms, value, maximum }, 4)
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
                (Record::Histogram { direction, time_ms: word(1), block_bytes: word(2), counts }, n_words)
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
    ) -> Option<(Record, usize)> {
        let n_figures = if head & WIDE == 0 { 3 } else { 4 };
        let n_words = if self.details { n_figures + 2 } else { n_figures };
        if n_waiting < n_words {
            return None;
        }
        let (time_ms, clat_ns, lat_ns) = if head & WIDE == 0 {
            (word(1) & 0xffff_ffff, word(1) >> 32, word(2))
        } else {
            (word(1), word(2), word(3))
        };
        let (offset_bytes, issue_ns) = if self.details { (word(n_figures), word(n_figures + 1)) } else { (0, 0) };
        let (block_bytes, ioprio) = ((head >> 32) as u32, (head >> 16) as u16);
        let io = IoRecord { direction, time_ms, block_bytes, ioprio, clat_ns, lat_ns, offset_bytes, issue_ns };
        let record = if head & 0xf == IO { Record::Io(io) } else { Record::Slat(io) };
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

    fn read_all(recorder: Recorder, words: &[u64]) -> Vec<Record> {
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
        fn records_read_back(ios in prop::collection::vec(io(), 1..20), details in any::<bool>(), base in any::<u64>()) {
            let recorder = Recorder { details };
            let (mut words, mut expected) = (Vec::new(), vec![Record::Epoch(base)]);
            let mut send = |record: &[u64]| words.extend_from_slice(record);
            Recorder::epoch(base, &mut send);
            for io in ios {
                let io = if details { io } else { IoRecord { offset_bytes: 0, issue_ns: 0, ..io } };
                recorder.io(&io, &mut send);
                recorder.slat(&io, &mut send);
                let figures = [io.time_ms, io.clat_ns, io.lat_ns];
                Recorder::window(LogKind::Lat, io.direction, figures, &mut send);
                let pairs = [(3usize, io.clat_ns), (N_BUCKETS - 1, io.lat_ns)];
                Recorder::histogram(io.direction, io.time_ms, io.issue_ns, pairs.into_iter(), &mut send);
                let mut counts = Box::new([0; N_BUCKETS]);
                (counts[3], counts[N_BUCKETS - 1]) = (io.clat_ns, io.lat_ns);
                let direction = io.direction;
                let [time_ms, value, maximum] = figures;
                expected.extend([
                    Record::Io(io),
                    Record::Slat(io),
                    Record::Window { kind: LogKind::Lat, direction, time_ms, value, maximum },
                    Record::Histogram { direction, time_ms, block_bytes: io.issue_ns, counts },
                ]);
            }
            prop_assert_eq!(read_all(recorder, &words), expected);
        }

        #[test]
        fn broken_words_do_not_panic(words in prop::collection::vec(prop_oneof![0u64..64, any::<u64>()], 0..40), details in any::<bool>()) {
            let recorder = Recorder { details };
            let mut at = 0;
            while let Some((_, n_words)) = recorder.read(words.len() - at, |offset| words[at + offset]) {
                at += n_words;
            }
        }
    }

    /// 20 bytes a row at most: an I/O gives rows of clat and lat, or of three kinds where it is submitted apart.
    #[test]
    fn an_io_takes_few_bytes() {
        let mut n_words = 0;
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
        Recorder { details: true }.io(&io, &mut |words| n_words = words.len());
        assert!(n_words * 8 <= 2 * 20);
        Recorder { details: false }.io(&io, &mut |words| n_words = words.len());
        assert!(n_words * 8 <= 2 * 12);
    }
}
