//! Trims of several ranges (`num_range`): a stream that puts several trims of another stream into one.
//!
//! The offset of such a trim is that of its last range, and its length is the sum of all, as in fio's logs and counts.
//! Must not know: commands of devices. Start reading at `MultiRangeTrims::draw`.

use crate::io_stream::{IoStream, JobStream};
use crate::next::{IssuedTotals, Next, NextIo, OffsetState};
use crate::paced::Unpaced;
use crate::zoning::SharedZoning;
use ferrio_units::{Direction, PerDirection};
use std::ops::Range;

/// A stream whose trims have up to so many ranges.
#[derive(Debug, Clone)]
pub(crate) struct MultiRangeTrims<S> {
    stream: S,
    n_most: usize,
    /// The ranges of the last trim, in bytes.
    ranges: Vec<Range<u64>>,
    /// What the stream gave after the last range of a trim.
    held: Option<Next>,
    /// Number of I/Os so far, and their limit.
    n_issued: u64,
    limit_ios: u64,
}

impl<S: Unpaced> MultiRangeTrims<S> {
    /// `stream` has no limit of I/Os by itself.
    pub(crate) fn new(stream: S, n_most: u32, limit_ios: u64) -> Self {
        let n_most = n_most as usize;
        Self { stream, n_most, ranges: Vec::with_capacity(n_most), held: None, n_issued: 0, limit_ios }
    }

    fn draw_io(&mut self) -> Next {
        if self.n_issued >= self.limit_ios {
            return Next::PassEnd;
        }
        let next = self.held.take().unwrap_or_else(|| self.stream.draw());
        let Next::Io(mut io) = next else { return next };
        self.n_issued += u64::from(io.direction.data().is_some());
        self.ranges.clear();
        if io.direction == Direction::Trim {
            self.ranges.push(range_of(&io));
            self.gather(&mut io);
        }
        Next::Io(io)
    }

    /// Adds ranges to a trim until it has enough, or the stream gives something else.
    fn gather(&mut self, trim: &mut NextIo) {
        while self.ranges.len() < self.n_most {
            match self.stream.draw() {
                Next::Io(io) if io.direction == Direction::Trim && io.file_index == trim.file_index => {
                    self.ranges.push(range_of(&io));
                    trim.offset_bytes = io.offset_bytes;
                    trim.length_bytes = trim.length_bytes.saturating_add(io.length_bytes);
                }
                other => {
                    self.held = Some(other);
                    return;
                }
            }
        }
    }
}

fn range_of(io: &NextIo) -> Range<u64> {
    io.offset_bytes..io.offset_bytes.saturating_add(io.length_bytes)
}

impl<S: Unpaced + Clone + 'static> Unpaced for MultiRangeTrims<S> {
    fn steer(&mut self, now_ns: u64, dues_ns: impl FnOnce() -> PerDirection<u64>) {
        self.stream.steer(now_ns, dues_ns);
    }

    fn draw(&mut self) -> Next {
        self.draw_io()
    }
}

impl<S: Unpaced + Clone + 'static> JobStream for MultiRangeTrims<S> {
    fn start_pass(&mut self) {
        self.held = None;
        self.stream.start_pass();
    }

    fn progress(&self) -> IssuedTotals {
        let of_ranges = self.stream.progress();
        let is_spent = of_ranges.is_spent || self.n_issued >= self.limit_ios;
        IssuedTotals { n_issued: self.n_issued, is_spent, ..of_ranges }
    }

    fn copy(&self) -> Option<Box<dyn IoStream>> {
        Some(Box::new(self.clone()))
    }

    fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    fn offset_state(&self) -> OffsetState {
        self.stream.offset_state()
    }

    fn closed(&mut self, file_index: u32) {
        self.stream.closed(file_index);
    }

    fn missed_bytes(&self) -> Option<u64> {
        self.stream.missed_bytes()
    }

    fn zones(&self) -> Option<&dyn SharedZoning> {
        self.stream.zones()
    }

    fn zones_mut(&mut self) -> Option<&mut dyn SharedZoning> {
        self.stream.zones_mut()
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::{WorkLimits, WorkloadPlan};
    use crate::stream::tests::{BLOCK_BYTES, plan};
    use crate::{Next, Workload};
    use ferrio_spec::{BlockRange, BlockShare, DirectionMix, PaceSpec};
    use ferrio_units::DataDirection;
    use std::ops::Range;

    /// The ranges of each trim of a job, in blocks, up to the end of its pass.
    fn trims(mut workload: Workload) -> Vec<Vec<Range<u64>>> {
        let mut found = Vec::new();
        loop {
            match workload.next() {
                Next::Io(io) => {
                    let ranges = workload.ranges().to_vec();
                    let sum: u64 = ranges.iter().map(|range| range.end - range.start).sum();
                    let last = ranges.last().unwrap();
                    assert_eq!((io.offset_bytes, io.length_bytes), (last.start, sum));
                    found.push(ranges.iter().map(|range| range.start / BLOCK_BYTES..range.end / BLOCK_BYTES).collect());
                }
                Next::Wait => _ = workload.pace().unwrap().turn(u64::MAX),
                Next::PassEnd => return found,
                Next::Close(file_index) => workload.closed(file_index),
                _ => {}
            }
        }
    }

    fn of(random: bool, ranges_per_trim: u32) -> WorkloadPlan {
        let plan = plan(DirectionMix::Trim, random);
        WorkloadPlan { limits: WorkLimits { ranges_per_trim, ..plan.limits }, ..plan }
    }

    fn n_blocks(plan: &WorkloadPlan) -> u64 {
        plan.files.iter().map(|file| file.length_bytes / BLOCK_BYTES).sum()
    }

    #[test]
    fn a_trim_has_as_many_ranges_as_are_left() {
        let plan = of(false, 3);
        let n_blocks = n_blocks(&plan);
        let found = trims(Workload::new(plan).unwrap());
        assert_eq!(found.len() as u64, n_blocks.div_ceil(3));
        assert_eq!(found[0], [0..1, 1..2, 2..3]);
        assert_eq!(found.concat().len() as u64, n_blocks);
        assert_eq!(found.last().unwrap().len() as u64, (n_blocks - 1) % 3 + 1);
    }

    #[test]
    fn ranges_are_the_trims_of_a_job_without() {
        let single: Vec<_> = trims(Workload::new(of(true, 2)).unwrap()).concat();
        let four = trims(Workload::new(of(true, 4)).unwrap());
        assert_eq!(four.concat(), single);
        let paced = trims(Workload::paced(of(true, 4), &PaceSpec::default()).unwrap());
        assert_eq!(paced, four);
    }

    /// Half of the ranges have one block, and half have four: the mean is 2.5 blocks, so that two ranges have 5.
    #[test]
    fn ranges_keep_the_lengths_that_were_asked_for() {
        const N_BLOCKS: u64 = 20_000;
        let mut plan = of(true, 2);
        let shares = [1, 4].map(|n| BlockShare { block_bytes: n * BLOCK_BYTES, percent: 50 });
        plan.pattern.block_split[DataDirection::Trim] = shares.to_vec();
        plan.pattern.block_size[DataDirection::Trim] =
            BlockRange { min_bytes: BLOCK_BYTES, max_bytes: 4 * BLOCK_BYTES };
        let whole_bytes = N_BLOCKS * BLOCK_BYTES;
        plan.files[0].length_bytes = whole_bytes;
        plan.files[0].file_bytes = whole_bytes;
        plan.limits = WorkLimits { pass_bytes: whole_bytes, ..plan.limits };
        let found = trims(Workload::new(plan).unwrap());
        assert!(found.concat().iter().all(|range| matches!(range.end - range.start, 1 | 4)));
        let n_expected = N_BLOCKS / 5;
        assert!(found.len() as u64 * 100 > n_expected * 95 && (found.len() as u64) * 100 < n_expected * 105);
    }

    #[test]
    fn a_limit_counts_trims_and_not_ranges() {
        let mut plan = of(true, 4);
        plan.limits = WorkLimits { ios: 2, ..plan.limits };
        let workload = Workload::new(plan).unwrap();
        let found = trims(workload);
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4]);
    }
}
