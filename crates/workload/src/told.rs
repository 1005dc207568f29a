//! A stream whose draws somebody wants to hear of (`--debug=random`, `--debug=rate`).
//!
//! It compares what offsets are drawn from before and after each I/O, and makes the outputs between once more: the streams themselves
//! know nothing of it, and a job of which nothing is told has no code for it. Must not know: who listens. Start reading at
//! [`ToldStream::next`].

use crate::choice::{align_bytes, n_drawn};
use crate::paced::Pace;
use crate::plan::WorkloadPlan;
use crate::source::{IoSource, forward_to};
use crate::stream::{Next, NextIo};
use crate::workload::OffsetState;
use ferrio_spec::{RandomDistribution, RandomGenerator};
use ferrio_units::random::{Generator, Taus88, Taus258};
use ferrio_units::{DataDirection, PerDirection};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Outputs between two I/Os beyond which the stream has begun anew: a draw takes one, and few are in vain.
const N_SEARCHED: usize = 10_000;

/// Something that was drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    /// An output of the generator of offsets.
    Output(u64),
    /// The block of that output had its turn before: a free one takes its place.
    Busy(u64),
    /// By the distance that was drawn to the I/O before of the same direction: I/Os a second.
    Rate(DataDirection, u64),
}

/// What was drawn, oldest first, until somebody takes it.
pub type Draws = Rc<RefCell<VecDeque<Drawn>>>;

/// What of a job's draws is told.
#[derive(Debug)]
pub struct DrawWatch {
    draws: Draws,
    /// By file: the places that offsets are drawn from. Empty where no place is taken by an earlier draw.
    n_drawn: Vec<PerDirection<u64>>,
    /// By file: where its range begins.
    starts_bytes: Vec<u64>,
    align_bytes: PerDirection<u64>,
    tells_rates: bool,
}

impl DrawWatch {
    /// Tells `draws` of a plan. `tells_rates`: its I/Os arrive at random times.
    pub fn new(plan: &WorkloadPlan, draws: Draws, tells_rates: bool) -> Self {
        let pattern = &plan.pattern;
        let has_map = pattern.random
            && !pattern.norandommap
            && pattern.distribution == RandomDistribution::Uniform
            && pattern.random_generator != Some(RandomGenerator::Lfsr)
            && !plan.has_zones();
        let files = if has_map { plan.files.len() } else { 0 };
        Self {
            draws,
            n_drawn: (0..files).map(|file_index| n_drawn(plan, file_index)).collect(),
            starts_bytes: plan.files.iter().map(|file| file.start_bytes).collect(),
            align_bytes: PerDirection(DataDirection::ALL.map(|direction| align_bytes(pattern, direction))),
            tells_rates,
        }
    }
}

/// A stream, and what is told of it.
#[derive(Debug)]
pub(crate) struct ToldStream {
    stream: Box<dyn IoSource>,
    watch: DrawWatch,
    first: OffsetState,
    /// What the next output is drawn from where the last one was drawn for an I/O that is still to come.
    last: Option<OffsetState>,
    /// Of the last I/O.
    direction: DataDirection,
    intended_ns: PerDirection<Option<u64>>,
}

impl ToldStream {
    pub(crate) fn new(stream: Box<dyn IoSource>, watch: DrawWatch) -> Self {
        let first = stream.offset_state();
        Self { stream, watch, first, last: None, direction: DataDirection::Read, intended_ns: PerDirection::all(None) }
    }

    fn tell(&self, drawn: Drawn) {
        self.watch.draws.borrow_mut().push_back(drawn);
    }

    fn tell_outputs(&mut self, before: OffsetState, after: OffsetState) {
        let between = outputs(before, after).or_else(|| outputs(self.first, after));
        for (state, output) in between.unwrap_or_default() {
            self.tell(Drawn::Output(output));
            self.last = Some(state);
        }
    }

    /// The block that was drawn last is not that of the I/O.
    fn tell_busy(&mut self, io: &NextIo) {
        let Some(direction) = io.direction.data() else { return };
        self.direction = direction;
        let Some(drawn) = self.take_block(io.file_index) else { return };
        let start_bytes = self.watch.starts_bytes[io.file_index as usize];
        if io.offset_bytes.saturating_sub(start_bytes) / self.watch.align_bytes[direction].max(1) != drawn {
            self.tell(Drawn::Busy(drawn));
        }
    }

    /// What was drawn last is taken, and no place of the file is free.
    fn tell_full(&mut self, file_index: u32) {
        if let Some(drawn) = self.take_block(file_index) {
            self.tell(Drawn::Busy(drawn));
        }
    }

    /// The block that was drawn last, in the direction of the last I/O.
    fn take_block(&mut self, file_index: u32) -> Option<u64> {
        let n_drawn = self.watch.n_drawn.get(file_index as usize)?[self.direction];
        generator(self.last.take()?).map(|mut stream| stream.below(n_drawn))
    }

    fn tell_rate(&mut self, io: &NextIo) {
        let (Some(direction), Some(intended_ns)) = (io.direction.data(), self.stream.intended_ns()) else { return };
        let before_ns = self.intended_ns[direction].replace(intended_ns);
        let distance_ns = before_ns.map_or(0, |before_ns| intended_ns.saturating_sub(before_ns));
        if let Some(ios_per_sec) = 1_000_000_000_u64.checked_div(distance_ns) {
            self.tell(Drawn::Rate(direction, ios_per_sec));
        }
    }
}

/// The generator at a state; `None`: nothing is drawn.
fn generator(state: OffsetState) -> Option<Generator> {
    match state {
        OffsetState::None => None,
        OffsetState::Taus88(words) => Some(Generator::Taus88(Taus88::from_words(words))),
        OffsetState::Taus258(words) => Some(Generator::Taus258(Taus258::from_words(words))),
    }
}

/// The outputs from one state to another, each with the state before it; `None`: they do not follow each other.
fn outputs(before: OffsetState, after: OffsetState) -> Option<Vec<(OffsetState, u64)>> {
    let mut stream = generator(before)?;
    let mut found = Vec::new();
    while OffsetState::from(&stream) != after {
        if found.len() == N_SEARCHED {
            return None;
        }
        let state = OffsetState::from(&stream);
        found.push((state, stream.next_output()));
    }
    Some(found)
}

impl IoSource for ToldStream {
    forward_to!(stream);

    fn next(&mut self) -> Next {
        let before = self.stream.offset_state();
        let next = self.stream.next();
        let after = self.stream.offset_state();
        self.tell_outputs(before, after);
        match &next {
            Next::Io(io) => {
                self.tell_busy(io);
                if self.watch.tells_rates {
                    self.tell_rate(io);
                }
            }
            Next::Close(file_index) | Next::Restart(file_index) => self.tell_full(*file_index),
            Next::Wait | Next::Open(_) | Next::Drain | Next::Held | Next::PassEnd | Next::Failed => {}
        }
        next
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        self.stream.pace()
    }

    fn intended_ns(&self) -> Option<u64> {
        self.stream.intended_ns()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_units::random::GeneratorKind;

    #[test]
    fn outputs_between_two_states_are_found() {
        for kind in [GeneratorKind::Taus88, GeneratorKind::Taus258] {
            let mut stream = Generator::new(kind, 7);
            let before = OffsetState::from(&stream);
            let drawn: Vec<u64> = (0..3).map(|_| stream.next_output()).collect();
            let found = outputs(before, OffsetState::from(&stream)).unwrap();
            assert_eq!(found.iter().map(|(_, output)| *output).collect::<Vec<_>>(), drawn);
            assert_eq!(outputs(before, before), Some(Vec::new()));
            assert_eq!(outputs(OffsetState::from(&stream), before), None, "it does not go back");
        }
        assert_eq!(outputs(OffsetState::None, OffsetState::None), None);
    }
}
