//! Which file the next I/O goes to.
//!
//! Must not know: offsets. Start reading at [`FilePicker::next`].

use crate::plan::WorkloadPlan;
use ferrio_job::spec::FileService;
use ferrio_units::random::{Generator, SeedIndex};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileState {
    Closed,
    Open,
    Done,
}

/// Chooses files; knows which are open and which are done.
#[derive(Debug, Clone)]
pub(crate) struct FilePicker {
    states: Vec<FileState>,
    n_open: usize,
    n_done: usize,
    max_open: usize,
    service: FileService,
    count: u32,
    /// I/Os left on `current`.
    left: u32,
    current: usize,
    /// Where the round goes on.
    next: usize,
    stream: Generator,
}

impl FilePicker {
    pub(crate) fn new(plan: &WorkloadPlan) -> Self {
        Self {
            states: vec![FileState::Closed; plan.files.len()],
            n_open: 0,
            n_done: 0,
            max_open: plan.openfiles.clamp(1, plan.files.len().max(1)),
            service: plan.file_service,
            count: plan.file_service_count.max(1),
            left: 0,
            current: 0,
            next: 0,
            stream: Generator::from_table(plan.pattern.generator_kind(), &plan.seeds, SeedIndex::FilePick),
        }
    }

    /// The next file, opened if need be; `None`: all are done.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<usize> {
        if self.n_done == self.states.len() {
            return None;
        }
        if self.states.len() == 1 {
            return Some(self.open(0));
        }
        if self.left > 0 && self.states[self.current] == FileState::Open {
            self.left -= 1;
            return Some(self.current);
        }
        let file = match self.service {
            FileService::Sequential => self.states.iter().position(|state| *state != FileState::Done)?,
            FileService::RoundRobin => self.round_robin(),
            FileService::Random => self.random(),
        };
        self.left = self.count - 1;
        self.current = file;
        Some(self.open(file))
    }

    fn round_robin(&mut self) -> usize {
        // Ends: at least one file is not done, and one that is open or may be opened always exists.
        loop {
            let file = self.next;
            self.next = (self.next + 1) % self.states.len();
            if self.usable(file) {
                return file;
            }
        }
    }

    fn random(&mut self) -> usize {
        loop {
            let file = self.stream.below(self.states.len() as u64) as usize;
            if self.usable(file) {
                return file;
            }
        }
    }

    fn usable(&self, file: usize) -> bool {
        match self.states[file] {
            FileState::Open => true,
            FileState::Closed => self.n_open < self.max_open,
            FileState::Done => false,
        }
    }

    #[inline]
    fn open(&mut self, file: usize) -> usize {
        if self.states[file] == FileState::Closed {
            self.states[file] = FileState::Open;
            self.n_open += 1;
        }
        file
    }

    /// The file has nothing left.
    pub(crate) fn finish(&mut self, file: usize) {
        if self.states[file] == FileState::Open {
            self.n_open -= 1;
        }
        if self.states[file] != FileState::Done {
            self.states[file] = FileState::Done;
            self.n_done += 1;
        }
    }

    /// The stream of random picks starts anew.
    pub(crate) fn reseed(&mut self, plan: &WorkloadPlan) {
        self.stream = Generator::from_table(plan.pattern.generator_kind(), &plan.seeds, SeedIndex::FilePick);
    }

    /// All files are closed and not done again.
    pub(crate) fn restart(&mut self) {
        self.states.fill(FileState::Closed);
        // The round goes on where it was: `next` stays.
        (self.n_open, self.n_done, self.left, self.current) = (0, 0, 0, 0);
    }
}
