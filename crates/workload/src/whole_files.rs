//! The stream of a job whose I/Os are whole files (`whole_files`): each file of a pass is opened, read or written by one I/O, and closed.
//!
//! Must not know: blocks within files. Start reading at [`WholeFiles::draw`].

use crate::direction::DirectionPicker;
use crate::file_pick::FilePicker;
use crate::io_stream::{IoStream, JobStream};
use crate::next::{IssuedTotals, Next, NextIo};
use crate::paced::Unpaced;
use crate::plan::{WorkloadError, WorkloadPlan};
use crate::sync_points::SyncPoints;
use ferrio_units::{DataDirection, Direction, PerDirection};

/// The stream of a job whose I/Os are whole files.
#[derive(Debug, Clone)]
pub(crate) struct WholeFiles {
    plan: WorkloadPlan,
    picker: FilePicker,
    directions: DirectionPicker,
    syncs: SyncPoints,
    /// The file of the last I/O, before it is closed.
    current: Option<usize>,
    n_issued: PerDirection<u64>,
    issued_bytes: u64,
    /// Value of `issued_bytes` at which the pass ends.
    pass_end_bytes: u64,
    last: Option<Direction>,
}

impl WholeFiles {
    pub(crate) fn new(plan: WorkloadPlan) -> Result<Self, WorkloadError> {
        let mut stream = Self {
            picker: FilePicker::new(&plan)?,
            directions: DirectionPicker::new(&plan.pattern, &plan.seeds),
            syncs: SyncPoints::new(plan.syncs),
            current: None,
            n_issued: PerDirection::all(0),
            issued_bytes: 0,
            pass_end_bytes: 0,
            last: None,
            plan,
        };
        stream.set_limits();
        Ok(stream)
    }

    /// The same stream for a job with rates.
    pub(crate) fn steered(plan: WorkloadPlan) -> Result<Self, WorkloadError> {
        let stream = Self::new(plan)?;
        Ok(Self { directions: stream.directions.steered(), ..stream })
    }

    fn set_limits(&mut self) {
        let limits = &self.plan.limits;
        let end_bytes = limits.bytes.min(self.issued_bytes.saturating_add(limits.pass_bytes));
        // A limit that all files fit in ends no pass before its files do: the last ones may be empty.
        let all_bytes: u64 = self.plan.files.iter().map(|file| file.length_bytes).sum();
        let has_all = !self.picker.starts_over() && end_bytes.saturating_sub(self.issued_bytes) >= all_bytes;
        self.pass_end_bytes = if has_all { u64::MAX } else { end_bytes };
    }

    fn n_issued_total(&self) -> u64 {
        self.n_issued.0.iter().sum()
    }

    /// The next I/O, or what has to happen before it.
    pub(crate) fn draw(&mut self) -> Next {
        if let Some(file) = self.current {
            return self.after(file);
        }
        if self.issued_bytes >= self.pass_end_bytes || self.n_issued_total() >= self.plan.limits.ios {
            return Next::PassEnd;
        }
        let Some(file) = self.picker.next() else { return Next::PassEnd };
        let direction = self.directions.next_alone(&self.n_issued);
        let range = &self.plan.files[file];
        self.current = Some(file);
        self.n_issued[direction] += 1;
        self.issued_bytes = self.issued_bytes.saturating_add(range.length_bytes);
        self.last = Some(direction.into());
        Next::Io(NextIo {
            direction: direction.into(),
            file_index: file as u32,
            offset_bytes: range.start_bytes,
            length_bytes: range.length_bytes,
        })
    }

    /// The sync of a file that was written, then its end.
    fn after(&mut self, file: usize) -> Next {
        let file_index = file as u32;
        if let Some(direction) = self.syncs.due(self.n_issued[DataDirection::Write], self.last) {
            self.last = Some(direction);
            return Next::Io(NextIo { direction, file_index, offset_bytes: 0, length_bytes: 0 });
        }
        self.current = None;
        if self.picker.starts_over() {
            self.picker.close(file);
        } else {
            self.picker.finish(file);
        }
        Next::Close(file_index)
    }
}

impl Unpaced for WholeFiles {
    fn steer(&mut self, now_ns: u64, dues_ns: impl FnOnce() -> PerDirection<u64>) {
        self.directions.steer(now_ns, dues_ns());
    }

    fn draw(&mut self) -> Next {
        Self::draw(self)
    }
}

impl JobStream for WholeFiles {
    fn start_pass(&mut self) {
        self.picker.restart();
        (self.current, self.last) = (None, None);
        self.set_limits();
        if self.plan.reseed_each_pass {
            self.directions.reseed(&self.plan.pattern, &self.plan.seeds);
            self.picker.reseed(&self.plan);
        }
    }

    fn progress(&self) -> IssuedTotals {
        let n_issued = self.n_issued_total();
        IssuedTotals {
            last_was_sync: self.last.is_some_and(Direction::is_sync),
            issued_bytes: self.issued_bytes,
            n_issued,
            n_writes_issued: self.n_issued[DataDirection::Write],
            is_spent: self.issued_bytes >= self.plan.limits.bytes || n_issued >= self.plan.limits.ios,
        }
    }

    fn copy(&self) -> Option<Box<dyn IoStream>> {
        Some(Box::new(self.clone()))
    }

    fn closed(&mut self, file_index: u32) {
        self.picker.closed(file_index as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{FileRange, SyncIntervals};
    use crate::stream::tests::plan;
    use ferrio_spec::{DirectionMix, FileService};

    /// A plan of ten files: file N has N + 1 KiB.
    fn ten_files(mix: DirectionMix, file_service: FileService) -> WorkloadPlan {
        let file = |index: u64| FileRange {
            start_bytes: 0,
            length_bytes: (index + 1) << 10,
            file_bytes: (index + 1) << 10,
            distribution_seed: 0,
        };
        WorkloadPlan { files: (0..10).map(file).collect(), openfiles: 10, file_service, ..plan(mix, false) }
    }

    fn steps(stream: &mut WholeFiles) -> Vec<Next> {
        let mut steps = Vec::new();
        loop {
            match stream.draw() {
                Next::PassEnd => break,
                Next::Close(file_index) => {
                    stream.closed(file_index);
                    steps.push(Next::Close(file_index));
                }
                step => steps.push(step),
            }
        }
        stream.start_pass();
        steps
    }

    fn files(steps: &[Next]) -> Vec<u32> {
        let file = |step: &Next| match step {
            Next::Io(io) if io.direction.data().is_some() => Some(io.file_index),
            _ => None,
        };
        steps.iter().filter_map(file).collect()
    }

    /// The limit is the sum of all files, which is reached before the last ones.
    #[test]
    fn empty_files_at_the_end_are_part_of_a_pass() {
        let mut plan = ten_files(DirectionMix::Write, FileService::RoundRobin);
        plan.files[8..].iter_mut().for_each(|file| file.length_bytes = 0);
        plan.limits.pass_bytes = 36 << 10;
        let mut stream = WholeFiles::new(plan).unwrap();
        for _ in 0..2 {
            assert_eq!(files(&steps(&mut stream)), (0..10).collect::<Vec<_>>());
        }
        let mut plan = ten_files(DirectionMix::Write, FileService::RoundRobin);
        plan.limits.pass_bytes = 3 << 10;
        assert_eq!(files(&steps(&mut WholeFiles::new(plan).unwrap())), [0, 1]);
    }

    #[test]
    fn a_pass_takes_each_file_whole_and_once() {
        let mut stream = WholeFiles::new(ten_files(DirectionMix::Write, FileService::RoundRobin)).unwrap();
        for pass in 1..3 {
            let steps = steps(&mut stream);
            assert_eq!(files(&steps), (0..10).collect::<Vec<_>>());
            assert_eq!(
                steps[2],
                Next::Io(NextIo { direction: Direction::Write, file_index: 1, offset_bytes: 0, length_bytes: 2048 })
            );
            assert_eq!(steps[3], Next::Close(1));
            // The sum of 1 to 10 KiB.
            let IssuedTotals { issued_bytes, n_issued, n_writes_issued, .. } = stream.progress();
            assert_eq!((issued_bytes, n_issued, n_writes_issued), (pass * (55 << 10), pass * 10, pass * 10));
        }
    }

    #[test]
    fn random_files_come_once_too_and_skewed_ones_until_the_limit() {
        let mut stream = WholeFiles::new(ten_files(DirectionMix::Read, FileService::Random)).unwrap();
        let drawn = files(&steps(&mut stream));
        let mut sorted = drawn.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..10).collect::<Vec<_>>());
        assert_ne!(drawn, sorted);
        let zipf = ferrio_spec::RandomDistribution::Zipf { theta: 1.2, center: None };
        let mut plan = ten_files(DirectionMix::Read, FileService::Skewed(zipf));
        plan.limits.ios = 100;
        let mut stream = WholeFiles::new(plan).unwrap();
        let steps = steps(&mut stream);
        assert_eq!(files(&steps).len(), 100);
        assert!(stream.progress().is_spent);
    }

    #[test]
    fn a_file_that_was_written_is_synced_before_it_is_closed() {
        let syncs = SyncIntervals { fsync_blocks: 1, ..SyncIntervals::default() };
        let plan = WorkloadPlan { syncs, ..ten_files(DirectionMix::Write, FileService::RoundRobin) };
        let steps = steps(&mut WholeFiles::new(plan).unwrap());
        let sync = NextIo { direction: Direction::Sync, file_index: 1, offset_bytes: 0, length_bytes: 0 };
        assert_eq!(steps[4..6], [Next::Io(sync), Next::Close(1)]);
    }
}
