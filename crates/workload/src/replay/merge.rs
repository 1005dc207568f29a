//! Merges several traces of blktrace into one, by the times of their events. Each trace takes a window of fixed size in
//! memory.
//!
//! The merged trace holds the queue events of reads, writes and discards, without data of their own, in this machine's
//! byte order.
//! Must not know: files, which entries are replayed. Start reading at [`Merge::next_record`].
//! Facts: reference, "`merge_blktrace_file`"; order of equal times from fio 3.41.

use super::TraceError;
use super::blktrace::{BlktraceEvent, ByteOrder, RECORD_BYTES, rewritten};
use super::rules::Remarks;
use super::window::{TraceBytes, TraceWindow};
use ferrio_stats::note::{TraceFault, TraceRemark};
use std::sync::Arc;

/// Unit of [`MergeInput::time_scale_ppm`].
const PARTS: u128 = 1_000_000;

/// A trace that is to be merged with others.
#[derive(Debug)]
pub struct MergeInput {
    pub bytes: Arc<dyn TraceBytes>,
    /// Factor for the times of the trace, in millionths.
    pub time_scale_ppm: u64,
    /// Number of passes over the trace, at least 1. A pass begins at the time of the last record of the pass before.
    pub n_passes: u32,
}

/// Traces that are being merged.
#[derive(Debug)]
pub struct Merge {
    /// The traces that have not ended. When one ends, the last of the list takes its place: this gives events with
    /// equal times fio's order.
    sources: Vec<MergedTrace>,
    remarks: Remarks,
}

/// A trace and its next event.
#[derive(Debug)]
struct MergedTrace {
    input: MergeInput,
    window: TraceWindow,
    order: ByteOrder,
    /// Passes left after this one.
    n_passes_left: u32,
    /// Start of this pass, and time of the last record within it, both unscaled.
    pass_start_ns: u64,
    last_ns: u64,
    pass_has_events: bool,
    next: Option<(u64, [u8; RECORD_BYTES])>,
}

impl Merge {
    /// Reads the start of each trace. The index in an error is that of the trace.
    pub fn new(inputs: Vec<MergeInput>) -> Result<Self, (usize, TraceError)> {
        let mut merge = Self { sources: Vec::new(), remarks: Remarks::default() };
        for (index, input) in inputs.into_iter().enumerate() {
            let source = MergedTrace::open(input, &mut merge.remarks).map_err(|error| (index, error))?;
            merge.sources.push(source);
        }
        while let Some(index) = merge.sources.iter().position(|source| source.next.is_none()) {
            merge.sources.swap_remove(index);
        }
        Ok(merge)
    }

    /// The next record of the merged trace; `None` at its end.
    pub fn next_record(&mut self) -> Result<Option<[u8; RECORD_BYTES]>, TraceError> {
        let times = self.sources.iter().enumerate();
        let Some(index) = times.min_by_key(|(_, source)| source.time_ns()).map(|(index, _)| index) else {
            return Ok(None);
        };
        let source = &mut self.sources[index];
        let record = source.next.take().map(|(_, record)| record);
        source.advance(&mut self.remarks)?;
        if source.next.is_none() {
            self.sources.swap_remove(index);
        }
        Ok(record)
    }

    /// Events that were ignored.
    pub fn into_remarks(self) -> Vec<TraceRemark> {
        self.remarks.into_list()
    }
}

impl MergedTrace {
    fn open(input: MergeInput, remarks: &mut Remarks) -> Result<Self, TraceError> {
        let mut window = TraceWindow::new(Arc::clone(&input.bytes));
        let order = ByteOrder::of_trace(window.peek(RECORD_BYTES)?).ok_or(TraceFault::NotBlktrace)?;
        let n_passes_left = input.n_passes.saturating_sub(1);
        let mut source = Self {
            input,
            window,
            order,
            n_passes_left,
            pass_start_ns: 0,
            last_ns: 0,
            pass_has_events: false,
            next: None,
        };
        source.advance(remarks)?;
        Ok(source)
    }

    fn time_ns(&self) -> u64 {
        self.next.as_ref().map_or(u64::MAX, |(time_ns, _)| *time_ns)
    }

    /// Moves to the next event that is kept, in this pass or the next.
    fn advance(&mut self, remarks: &mut Remarks) -> Result<(), TraceError> {
        while !self.advance_in_pass(remarks)? {
            // If one pass has no such event, no pass has one.
            if self.n_passes_left == 0 || !self.pass_has_events {
                break;
            }
            self.n_passes_left -= 1;
            self.pass_has_events = false;
            self.pass_start_ns = self.pass_start_ns.saturating_add(self.last_ns);
            self.window = TraceWindow::new(Arc::clone(&self.input.bytes));
        }
        Ok(())
    }

    /// The same within the pass; false at its end.
    fn advance_in_pass(&mut self, remarks: &mut Remarks) -> Result<bool, TraceError> {
        loop {
            let offset = self.window.offset();
            let ahead = self.window.peek(RECORD_BYTES)?;
            let Some(record) = ahead.first_chunk::<RECORD_BYTES>() else {
                if !ahead.is_empty() && self.n_passes_left == 0 {
                    remarks.add(|| TraceRemark::CutRecord { offset });
                }
                return Ok(false);
            };
            let event = BlktraceEvent::parse(self.order, record).map_err(|bad| bad.at(offset))?;
            self.last_ns = event.time_ns;
            let is_kept = event.is_queued() && event.is_data();
            if is_kept {
                let scale = u128::from(self.input.time_scale_ppm);
                let time_ns =
                    (u128::from(self.pass_start_ns) + u128::from(event.time_ns)).saturating_mul(scale) / PARTS;
                let time_ns = u64::try_from(time_ns).unwrap_or(u64::MAX);
                self.next = Some((time_ns, rewritten(self.order, record, time_ns)));
                self.pass_has_events = true;
            }
            self.window.skip(RECORD_BYTES as u64 + u64::from(event.n_data_bytes));
            if is_kept {
                return Ok(true);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Category, kind of event.
    const READ: u32 = 1 << 16 | 1;

    /// A record built from the header of Linux; `n_data` is the length of the data that follows it.
    fn record(sequence: u32, time_ns: u64, action: u32, n_data: u16) -> Vec<u8> {
        let mut out = Vec::new();
        for word in [0x6561_7407, sequence] {
            out.extend(u32::to_ne_bytes(word));
        }
        for word in [time_ns, 8] {
            out.extend(u64::to_ne_bytes(word));
        }
        for word in [4096, action, 1234, 8 << 20, 3] {
            out.extend(u32::to_ne_bytes(word));
        }
        out.extend([0_u16.to_ne_bytes(), n_data.to_ne_bytes()].concat());
        out.extend(vec![b'x'; n_data.into()]);
        out
    }

    fn trace(records: &[Vec<u8>]) -> MergeInput {
        MergeInput { bytes: Arc::new(records.concat()), time_scale_ppm: 1_000_000, n_passes: 1 }
    }

    fn reads(records: &[(u32, u64)]) -> MergeInput {
        let records: Vec<_> = records.iter().map(|(sequence, time_ns)| record(*sequence, *time_ns, READ, 0)).collect();
        trace(&records)
    }

    /// Sequence and time of each record, at the offsets that the header of Linux gives them.
    fn merged(inputs: Vec<MergeInput>) -> Vec<(u32, u64)> {
        let mut merge = Merge::new(inputs).unwrap();
        let mut out = Vec::new();
        while let Some(record) = merge.next_record().unwrap() {
            assert_eq!(record[46..], [0, 0]);
            let sequence = u32::from_ne_bytes(record[4..8].try_into().unwrap());
            out.push((sequence, u64::from_ne_bytes(record[8..16].try_into().unwrap())));
        }
        assert_eq!(merge.into_remarks(), []);
        out
    }

    #[test]
    fn events_come_by_their_times() {
        let (first, second) = (reads(&[(1, 10), (2, 30)]), reads(&[(3, 20), (4, 40)]));
        assert_eq!(merged(vec![first, second]), [(1, 10), (3, 20), (2, 30), (4, 40)]);
        // An event that goes back in time comes when it is the next one of its trace.
        let (first, second) = (reads(&[(1, 10), (2, 50), (3, 30)]), reads(&[(4, 10), (5, 40)]));
        assert_eq!(merged(vec![first, second]), [(1, 10), (4, 10), (5, 40), (2, 50), (3, 30)]);
    }

    // As fio 3.41 does.
    #[test]
    fn who_has_ended_leaves_its_place_to_the_last() {
        let inputs = vec![reads(&[(1, 10)]), reads(&[(2, 20)]), reads(&[(3, 10), (4, 20)])];
        assert_eq!(merged(inputs), [(1, 10), (3, 10), (4, 20), (2, 20)]);
    }

    #[test]
    fn kept_is_what_moves_data() {
        let kinds = [(1, READ, 5), (2, 1, 0), (3, 4 << 16 | 1, 0), (4, 2 << 16 | 1, 0), (5, 1 << 16 | 8, 9)];
        let more = [(6, 0x2000 << 16 | 1, 0), (7, 0x400 << 16, 30), (8, 6 << 16 | 1, 0)];
        let all = kinds.iter().chain(&more).map(|(sequence, action, n_data)| record(*sequence, 7, *action, *n_data));
        let kept: Vec<_> =
            merged(vec![trace(&all.collect::<Vec<_>>())]).iter().map(|(sequence, _)| *sequence).collect();
        assert_eq!(kept, [1, 4, 6, 8]);
    }

    #[test]
    fn times_are_scaled_and_passes_follow_each_other() {
        let of = |percent: u64, n_passes| MergeInput {
            time_scale_ppm: percent * 10_000,
            n_passes,
            ..trace(&[record(1, 1000, READ, 0), record(2, 3000, READ, 0), record(3, 4001, 1 << 16 | 8, 0)])
        };
        assert_eq!(merged(vec![of(50, 1)]), [(1, 500), (2, 1500)]);
        assert_eq!(merged(vec![of(33, 1)]), [(1, 330), (2, 990)]);
        let twice = [(1, 1000), (2, 3000), (1, 5001), (2, 7001)];
        assert_eq!(merged(vec![of(100, 2)]), twice);
        assert_eq!(merged(vec![of(200, 2)]), twice.map(|(sequence, time_ns)| (sequence, time_ns * 2)));
        let silent = MergeInput { n_passes: u32::MAX, ..trace(&[record(1, 5, 0x400 << 16, 0)]) };
        assert_eq!(merged(vec![silent]), []);
        let late = MergeInput { time_scale_ppm: u64::MAX, n_passes: 2, ..reads(&[(1, u64::MAX)]) };
        assert_eq!(merged(vec![late]), [(1, u64::MAX); 2]);
    }

    #[test]
    fn the_other_order_of_bytes_becomes_that_of_the_machine() {
        let own = record(9, 77, READ, 0);
        let mut other = own.clone();
        let mut at = 0;
        for n in [4, 4, 8, 8, 4, 4, 4, 4, 4, 2, 2] {
            other[at..at + n].reverse();
            at += n;
        }
        let mut merge = Merge::new(vec![trace(&[other])]).unwrap();
        assert_eq!(merge.next_record().unwrap().unwrap()[..], own);
    }

    #[test]
    fn what_is_no_trace_is_an_error() {
        let bytes = |text: &[u8]| MergeInput { bytes: Arc::new(text.to_vec()), ..reads(&[]) };
        for text in [&b""[..], b"fio version 3 iolog\n"] {
            let error = Merge::new(vec![reads(&[(1, 1)]), bytes(text)]).unwrap_err();
            assert!(matches!(error, (1, TraceError::Fault(TraceFault::NotBlktrace))), "{error:?}");
        }
        let mut damaged = [record(1, 1, READ, 0), record(2, 2, READ, 0)].concat();
        damaged[50] = 0;
        let mut merge = Merge::new(vec![bytes(&damaged)]).unwrap();
        assert!(matches!(merge.next_record(), Err(TraceError::Fault(TraceFault::Magic { offset: 48, .. }))));
        let short = [record(1, 1, READ, 0), record(2, 2, READ, 0)[..20].to_vec()].concat();
        let mut merge = Merge::new(vec![bytes(&short)]).unwrap();
        assert!(merge.next_record().unwrap().is_some() && merge.next_record().unwrap().is_none());
        assert_eq!(merge.into_remarks(), [TraceRemark::CutRecord { offset: 48 }]);
    }
}
