//! A stream that reports its draws (`--debug=random`, `--debug=rate`).
//!
//! It compares the state of the generator before and after each I/O, and repeats the draws in between. So streams need
//! no code for reports, and a job without reports runs no code for them. Must not know: the receiver of the reports.
//! Start reading at [`TracedStream::next`].

use crate::choice::{align_bytes, n_drawn};
use crate::io_stream::{IoStream, JobStream};
use crate::next::{Next, NextIo, OffsetState};
use crate::pace::Pace;
use crate::plan::WorkloadPlan;
use ferrio_spec::{RandomDistribution, RandomGenerator};
use ferrio_units::random::{Generator, Taus88, Taus258};
use ferrio_units::{DataDirection, PerDirection};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// If more outputs than this lie between two I/Os, the stream has started anew: an I/O takes one draw, rarely a few
/// more.
const N_SEARCHED: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    /// An output of the generator of offsets.
    Output(u64),
    /// The block of that output was visited before; a free one takes its place.
    Busy(u64),
    /// I/Os a second of a direction, by the drawn interval between the last two.
    Rate(DataDirection, u64),
}

/// Draws, oldest first, until the receiver takes them.
pub type Draws = Rc<RefCell<VecDeque<Drawn>>>;

/// The part of a job's draws that is reported.
#[derive(Debug)]
pub struct DrawWatch {
    draws: Draws,
    /// By file: number of offsets among which draws choose. Empty if draws do not avoid visited blocks.
    n_drawn: Vec<PerDirection<u64>>,
    /// By file: start of its range.
    starts_bytes: Vec<u64>,
    align_bytes: PerDirection<u64>,
    tells_rates: bool,
}

impl DrawWatch {
    /// Reports the draws of a plan to `draws`. `tells_rates`: also report rates, as the I/Os arrive at random times.
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

#[derive(Debug)]
pub(crate) struct TracedStream {
    stream: Box<dyn IoStream>,
    watch: DrawWatch,
    first: OffsetState,
    /// State before the last draw, if the I/O of that draw has not been issued yet.
    last: Option<OffsetState>,
    /// Direction of the last I/O.
    direction: DataDirection,
    intended_ns: PerDirection<Option<u64>>,
}

impl TracedStream {
    pub(crate) fn new(stream: Box<dyn IoStream>, watch: DrawWatch) -> Self {
        let first = offset_state(&*stream);
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

    /// Reports that the block drawn last is not the one of the I/O.
    fn tell_busy(&mut self, io: &NextIo) {
        let Some(direction) = io.direction.data() else { return };
        self.direction = direction;
        let Some(drawn) = self.take_block(io.file_index) else { return };
        let start_bytes = self.watch.starts_bytes[io.file_index as usize];
        if io.offset_bytes.saturating_sub(start_bytes) / self.watch.align_bytes[direction].max(1) != drawn {
            self.tell(Drawn::Busy(drawn));
        }
    }

    /// Reports that the block drawn last is taken, and that no other block of the file is free.
    fn tell_full(&mut self, file_index: u32) {
        if let Some(drawn) = self.take_block(file_index) {
            self.tell(Drawn::Busy(drawn));
        }
    }

    /// The block drawn last, in the direction of the last I/O.
    fn take_block(&mut self, file_index: u32) -> Option<u64> {
        let n_drawn = self.watch.n_drawn.get(file_index as usize)?[self.direction];
        generator(self.last.take()?).map(|mut stream| stream.below(n_drawn))
    }

    fn intended_now(&mut self) -> Option<u64> {
        self.stream.pace()?.intended_ns()
    }

    fn tell_rate(&mut self, io: &NextIo) {
        let (Some(direction), Some(intended_ns)) = (io.direction.data(), self.intended_now()) else { return };
        let before_ns = self.intended_ns[direction].replace(intended_ns);
        let distance_ns = before_ns.map_or(0, |before_ns| intended_ns.saturating_sub(before_ns));
        if let Some(ios_per_sec) = 1_000_000_000_u64.checked_div(distance_ns) {
            self.tell(Drawn::Rate(direction, ios_per_sec));
        }
    }
}

fn offset_state(stream: &dyn IoStream) -> OffsetState {
    stream.job().map_or(OffsetState::None, JobStream::offset_state)
}

/// The generator in a given state; `None`: the stream draws nothing.
fn generator(state: OffsetState) -> Option<Generator> {
    match state {
        OffsetState::None => None,
        OffsetState::Taus88(words) => Some(Generator::Taus88(Taus88::from_words(words))),
        OffsetState::Taus258(words) => Some(Generator::Taus258(Taus258::from_words(words))),
    }
}

/// The outputs that lead from one state to another, each with the state before it; `None`: the second state does not
/// follow from the first.
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

impl IoStream for TracedStream {
    fn next(&mut self) -> Next {
        let before = offset_state(&*self.stream);
        let next = self.stream.next();
        let after = offset_state(&*self.stream);
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

    fn job(&self) -> Option<&dyn JobStream> {
        self.stream.job()
    }

    fn job_mut(&mut self) -> Option<&mut dyn JobStream> {
        self.stream.job_mut()
    }

    fn pace(&mut self) -> Option<&mut dyn Pace> {
        self.stream.pace()
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
