//! The stream of jobs that go through one file together (`shared_stream`): each I/O is the next block of a position that all of them move.
//!
//! Must not know: who the others are, where the position is kept. Start reading at [`CommonStream::draw`].

use crate::io_stream::{IoStream, JobStream};
use crate::next::{IssuedTotals, Next, NextIo};
use crate::paced::Unpaced;
use crate::plan::{FileRange, WorkLimits, WorkloadPlan};
use crate::position::CommonPosition;
use crate::sync_points::SyncPoints;
use ferrio_spec::DirectionMix;
use ferrio_units::{DataDirection, Direction, PerDirection};

/// The part of one job in the stream.
#[derive(Debug, Clone)]
pub(crate) struct CommonStream {
    position: CommonPosition,
    direction: DataDirection,
    range: FileRange,
    block_bytes: u64,
    /// Blocks that all jobs do together; `u64::MAX`: only time ends them.
    n_blocks: u64,
    syncs: SyncPoints,
    limits: WorkLimits,
    n_issued: u64,
    /// The number of the block that comes after a sync.
    taken: Option<u64>,
    /// All blocks are taken.
    is_over: bool,
    last: Option<Direction>,
}

impl CommonStream {
    /// The stream of a plan with one file, one direction and one block size.
    pub(crate) fn new(plan: &WorkloadPlan, position: CommonPosition) -> Self {
        let direction = match plan.pattern.mix {
            DirectionMix::Write | DirectionMix::TrimWrite => DataDirection::Write,
            DirectionMix::Trim => DataDirection::Trim,
            DirectionMix::Read | DirectionMix::ReadWrite => DataDirection::Read,
        };
        let block_bytes = plan.pattern.block_size[direction].min_bytes.max(1);
        let range = plan.files.first().copied().unwrap_or(FileRange {
            start_bytes: 0,
            length_bytes: 0,
            file_bytes: 0,
            distribution_seed: 0,
        });
        let n_passes = plan.limits.bytes / range.length_bytes.max(1);
        let n_blocks =
            if plan.time_based { u64::MAX } else { (range.length_bytes / block_bytes).saturating_mul(n_passes) };
        Self {
            position,
            direction,
            range,
            block_bytes,
            n_blocks,
            syncs: SyncPoints::new(plan.syncs),
            limits: plan.limits,
            n_issued: 0,
            taken: None,
            is_over: range.length_bytes < block_bytes,
            last: None,
        }
    }

    /// The next I/O, or what has to happen before it.
    pub(crate) fn draw(&mut self) -> Next {
        // A number that is taken is a block that no other job does.
        if self.is_over || self.n_issued >= self.limits.ios {
            return Next::PassEnd;
        }
        let number = self.taken.take().unwrap_or_else(|| self.position.0.take());
        if number >= self.n_blocks {
            self.is_over = true;
            return Next::PassEnd;
        }
        if let Some(direction) = self.syncs.due(self.n_writes(), self.last) {
            (self.last, self.taken) = (Some(direction), Some(number));
            return Next::Io(NextIo { direction, file_index: 0, offset_bytes: 0, length_bytes: 0 });
        }
        let block = number % (self.range.length_bytes / self.block_bytes);
        self.n_issued += 1;
        self.last = Some(self.direction.into());
        Next::Io(NextIo {
            direction: self.direction.into(),
            file_index: 0,
            offset_bytes: self.range.start_bytes + block * self.block_bytes,
            length_bytes: self.block_bytes,
        })
    }

    fn n_writes(&self) -> u64 {
        if self.direction == DataDirection::Write { self.n_issued } else { 0 }
    }
}

impl Unpaced for CommonStream {
    fn steer(&mut self, _now_ns: u64, _dues_ns: impl FnOnce() -> PerDirection<u64>) {
        // Such a stream has only one direction.
    }

    fn draw(&mut self) -> Next {
        Self::draw(self)
    }
}

impl JobStream for CommonStream {
    /// All passes are one: a job cannot know when the others have ended theirs.
    fn start_pass(&mut self) {
        self.last = None;
    }

    fn progress(&self) -> IssuedTotals {
        IssuedTotals {
            last_was_sync: self.last.is_some_and(Direction::is_sync),
            issued_bytes: self.n_issued.saturating_mul(self.block_bytes),
            n_issued: self.n_issued,
            n_writes_issued: self.n_writes(),
            is_spent: self.is_over || self.n_issued >= self.limits.ios,
        }
    }

    /// The others do not wait for a copy.
    fn copy(&self) -> Option<Box<dyn IoStream>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::BlockCounter;
    use crate::stream::tests::plan;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[derive(Debug, Default)]
    struct Counter(AtomicU64);

    impl BlockCounter for Counter {
        fn take(&self) -> u64 {
            self.0.fetch_add(1, Ordering::Relaxed)
        }
    }

    fn members(n: usize, set: impl Fn(&mut WorkloadPlan)) -> Vec<CommonStream> {
        let position = CommonPosition(Arc::new(Counter::default()));
        let mut plan = plan(DirectionMix::Read, false);
        plan.limits.bytes = plan.files[0].length_bytes;
        set(&mut plan);
        (0..n).map(|_| CommonStream::new(&plan, position.clone())).collect()
    }

    /// Offsets in the order in which the members take them, one after the other.
    fn offsets(members: &mut [CommonStream]) -> Vec<u64> {
        let mut offsets = Vec::new();
        loop {
            let n_before = offsets.len();
            for member in &mut *members {
                if let Next::Io(io) = member.draw() {
                    offsets.push(io.offset_bytes);
                }
            }
            if offsets.len() == n_before {
                return offsets;
            }
        }
    }

    #[test]
    fn each_block_is_taken_once_whoever_takes_it() {
        let mut three = members(3, |_| {});
        let (block, length) = (three[0].block_bytes, three[0].range.length_bytes);
        let all: Vec<u64> = (0..length / block).map(|index| index * block).collect();
        assert!(all.len() > 3);
        assert_eq!(offsets(&mut three), all);
        assert!(three.iter().all(|member| member.progress().is_spent));
        three.iter_mut().for_each(JobStream::start_pass);
        assert!(offsets(&mut three).is_empty());
    }

    #[test]
    fn loops_are_more_passes_and_a_job_that_counts_its_ios_leaves_the_rest() {
        let mut two = members(2, |plan| plan.limits.bytes *= 2);
        let all = offsets(&mut two);
        assert_eq!(all[..all.len() / 2], all[all.len() / 2..]);
        let mut two = members(2, |_| {});
        two[0].limits.ios = 1;
        let n_blocks = two[0].n_blocks;
        assert_eq!(offsets(&mut two).len() as u64, n_blocks);
        assert_eq!([two[0].n_issued, two[1].n_issued], [1, n_blocks - 1]);
    }
}
