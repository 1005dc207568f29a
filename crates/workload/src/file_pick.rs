//! The file of the next I/O.
//!
//! Must not know: offsets. Start reading at [`FilePicker::next`].

use crate::choice;
use crate::compat;
use crate::plan::{WorkloadError, WorkloadPlan};
use ferrio_spec::FileService;
use ferrio_stats::HotDraws;
use ferrio_stats::note::StreamFault;
use ferrio_units::random::{Generator, SeedIndex, SkewedBlocks};

/// Number of I/Os that means: the file is kept until it is done.
const ALL_OF_IT: u32 = u32::MAX;

/// A skewed draw chooses among 2 to the power of this many numbers for each file.
const PLACES_PER_FILE_LOG2: u32 = 10;

const MAX_SKEWED_DRAWS: u32 = 1 << 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileState {
    Closed,
    Open,
    /// The file starts over as soon as none of its I/Os is in flight.
    Closing,
    /// As `Closing`, but another file may be opened in its place already: the loop waits for the close before it opens one.
    Leaving,
    Done,
}

/// Chooses files, and keeps track of which are open and which are done.
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
    /// Index at which the round continues.
    next: usize,
    /// True if the round continues from pass to pass.
    keeps_round: bool,
    counts: PickCounts,
    stream: Generator,
    skewed: Option<SkewedBlocks>,
    /// The same in its initial state.
    skewed_at_first: Option<SkewedBlocks>,
}

/// What was picked, in all passes.
#[derive(Debug, Clone, Copy, Default)]
struct PickCounts {
    /// Changes from one file to another.
    n_turns: u64,
    skewed: SkewedCounts,
}

/// Draws of a skewed choice.
#[derive(Debug, Clone, Copy, Default)]
struct SkewedCounts {
    n_drawn: u64,
    /// Hot ones before its last start.
    n_hot_before: u64,
}

impl FilePicker {
    /// Makes the picker of a plan. A skewed choice may take a third of a second to make.
    pub(crate) fn new(plan: &WorkloadPlan) -> Result<Self, WorkloadError> {
        let in_sequence = matches!(plan.file_service, FileService::Sequential);
        let skewed = skewed(plan)?;
        Ok(Self {
            states: vec![FileState::Closed; plan.files.len()],
            n_open: 0,
            n_done: 0,
            max_open: plan.openfiles.clamp(1, plan.files.len().max(1)),
            service: plan.file_service.clone(),
            // `file_service_type=sequential` is a round that stays with each file until it is done.
            count: if in_sequence { ALL_OF_IT } else { plan.file_service_count.max(1) },
            left: 0,
            current: 0,
            next: 0,
            counts: PickCounts::default(),
            keeps_round: compat::goes_on_with_round(plan.compatibility),
            stream: Generator::from_table(plan.pattern.generator_kind(), &plan.seeds, SeedIndex::FilePick),
            skewed_at_first: skewed.clone(),
            skewed,
        })
    }

    /// The next file, opened if necessary; `None`: all are done.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<usize> {
        if self.n_done == self.states.len() {
            return None;
        }
        if self.states.len() == 1 {
            return Some(self.open(0));
        }
        if self.left > 0 && self.states[self.current] == FileState::Open {
            self.left -= u32::from(self.left != ALL_OF_IT);
            return Some(self.current);
        }
        let file = match &self.service {
            FileService::Sequential | FileService::RoundRobin => self.round_robin(),
            FileService::Random => self.random(),
            FileService::Skewed(_) => self.skewed(),
        };
        self.left = if self.count == ALL_OF_IT { ALL_OF_IT } else { self.count - 1 };
        self.counts.n_turns += u64::from(file != self.current);
        self.current = file;
        Some(self.open(file))
    }

    fn round_robin(&mut self) -> usize {
        for _ in 0..self.states.len() {
            let file = self.next;
            self.next = (self.next + 1) % self.states.len();
            if self.usable(file) {
                return file;
            }
        }
        self.any()
    }

    fn random(&mut self) -> usize {
        // Nearly all draws may hit files that are done. Whether there is any other is looked at only after as many misses as there are files.
        loop {
            for _ in 0..self.states.len() {
                let file = self.stream.below(self.states.len() as u64) as usize;
                if self.usable(file) {
                    return file;
                }
            }
            if !(0..self.states.len()).any(|file| self.usable(file)) {
                return self.any();
            }
        }
    }

    /// The first file that can be used, or else one that was to be closed, which continues.
    fn any(&self) -> usize {
        let usable = (0..self.states.len()).find(|file| self.usable(*file));
        let closing = |state: &FileState| matches!(state, FileState::Closing | FileState::Leaving);
        usable.or_else(|| self.states.iter().position(closing)).unwrap_or(0)
    }

    fn skewed(&mut self) -> usize {
        // Nearly all draws may hit files that cannot be used; after this many draws the first usable file is taken.
        for _ in 0..MAX_SKEWED_DRAWS {
            let Some(stream) = &mut self.skewed else { break };
            self.counts.skewed.n_drawn += 1;
            let file = (stream.next_block() >> PLACES_PER_FILE_LOG2) as usize;
            if self.usable(file) {
                return file;
            }
        }
        self.any()
    }

    fn usable(&self, file: usize) -> bool {
        match self.states[file] {
            FileState::Open => true,
            FileState::Closed => self.n_open < self.max_open,
            FileState::Closing | FileState::Leaving | FileState::Done => false,
        }
    }

    #[inline]
    fn open(&mut self, file: usize) -> usize {
        match self.states[file] {
            FileState::Closed | FileState::Leaving => {
                self.states[file] = FileState::Open;
                self.n_open += 1;
            }
            FileState::Closing => self.states[file] = FileState::Open,
            FileState::Open | FileState::Done => {}
        }
        file
    }

    /// The current file starts over without being closed.
    pub(crate) fn stay(&mut self) {
        self.left = self.left.saturating_add(1);
    }

    /// All of the file was issued; it starts over when it is picked again after its close.
    pub(crate) fn close(&mut self, file: usize) {
        if self.states[file] == FileState::Open {
            self.states[file] = FileState::Closing;
        }
    }

    /// All of the file was issued; it makes room for a file that waits, and starts over in another turn.
    pub(crate) fn leave(&mut self, file: usize) {
        if self.states[file] == FileState::Open {
            self.states[file] = FileState::Leaving;
            self.n_open -= 1;
        }
    }

    /// The file was closed: none of its I/Os is in flight.
    pub(crate) fn closed(&mut self, file: usize) {
        match self.states[file] {
            FileState::Closing => {
                self.states[file] = FileState::Closed;
                self.n_open -= 1;
            }
            FileState::Leaving => self.states[file] = FileState::Closed,
            FileState::Closed | FileState::Open | FileState::Done => {}
        }
    }

    /// True if files wait until others make room for them (`openfiles`).
    pub(crate) fn has_waiting_files(&self) -> bool {
        self.max_open < self.states.len() - self.n_done
    }

    /// True if files that are done start over.
    pub(crate) fn starts_over(&self) -> bool {
        self.skewed.is_some()
    }

    pub(crate) fn finish(&mut self, file: usize) {
        if matches!(self.states[file], FileState::Open | FileState::Closing) {
            self.n_open -= 1;
        }
        if self.states[file] != FileState::Done {
            self.states[file] = FileState::Done;
            self.n_done += 1;
        }
    }

    /// The streams of random and skewed picks start anew.
    pub(crate) fn reseed(&mut self, plan: &WorkloadPlan) {
        self.stream = Generator::from_table(plan.pattern.generator_kind(), &plan.seeds, SeedIndex::FilePick);
        self.counts.skewed.n_hot_before +=
            self.skewed.as_ref().and_then(SkewedBlocks::hot_draws).map_or(0, |(n_hot, _)| n_hot);
        self.skewed.clone_from(&self.skewed_at_first);
    }

    /// Changes from one file to another, in all passes; `None`: there is one file.
    pub(crate) fn n_turns(&self) -> Option<u64> {
        (self.states.len() > 1).then_some(self.counts.n_turns)
    }

    /// The draws of a skewed choice, and those of its most frequent places; `None`: there is none.
    pub(crate) fn hot_draws(&self) -> Option<HotDraws> {
        let (n_hot, share) = self.skewed.as_ref()?.hot_draws()?;
        let n_drawn = self.counts.skewed.n_drawn;
        Some(HotDraws { n_drawn, n_hot: n_hot + self.counts.skewed.n_hot_before, n_wanted: n_drawn as f64 * share })
    }

    /// All files are closed, and none is done.
    pub(crate) fn restart(&mut self) {
        self.states.fill(FileState::Closed);
        if !self.keeps_round {
            self.next = 0;
        }
        // The next turn is one of the file that was current, or of another one.
        (self.n_open, self.n_done, self.left) = (0, 0, 0);
    }
}

fn skewed(plan: &WorkloadPlan) -> Result<Option<SkewedBlocks>, WorkloadError> {
    let FileService::Skewed(distribution) = &plan.file_service else { return Ok(None) };
    let n_places = (plan.files.len() as u64) << PLACES_PER_FILE_LOG2;
    if n_places == 0 {
        return Ok(None);
    }
    let shape = choice::skew(distribution, n_places).map_err(|why| WorkloadError(StreamFault::FileService { why }))?;
    let seed = plan.seeds.get(SeedIndex::FilePick) as u32;
    Ok(shape.map(|(shape, center)| SkewedBlocks::new(shape, seed, center).without_scatter()))
}
