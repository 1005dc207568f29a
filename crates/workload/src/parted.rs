//! The stream of a job with several patterns (`patterns`): each I/O is one of the pattern that a draw picks by the shares.
//!
//! Each pattern has a stream of its own, with its own position, its own map of blocks and its own seeds, that never ends by itself: limits are
//! those of the job. Such a job has one file. Must not know: how a pattern places its blocks. Start reading at [`Parted::draw`].

use crate::io_stream::{IoStream, JobStream};
use crate::next::{IssuedTotals, Next, NextIo};
use crate::paced::Unpaced;
use crate::plan::{Rounds, SyncIntervals, WorkForm, WorkLimits, WorkloadError, WorkloadPlan};
use crate::stream::Stream;
use crate::sync_points::SyncPoints;
use crate::zoning::Unzoned;
use ferrio_spec::{BlockRange, DirectionMix, PatternPart, PatternSpec};
use ferrio_units::random::{OwnSeed, SeedTable, Taus88};
use ferrio_units::{DataDirection, Direction, PerDirection};

/// Most steps of a pattern without an I/O: it starts over once all of its blocks were drawn, which takes one. More mean that it has none.
const MAX_FRUITLESS: u32 = 1 << 16;

/// The stream of a job with several patterns.
#[derive(Debug, Clone)]
pub(crate) struct Parted {
    parts: Vec<Part>,
    choice: Taus88,
    syncs: SyncPoints,
    limits: WorkLimits,
    /// The streams of random numbers start anew with each pass, from here.
    reseeds: Option<SeedTable>,
    n_issued: PerDirection<u64>,
    issued_bytes: u64,
    /// Value of `issued_bytes` at which the pass ends.
    pass_end_bytes: u64,
    last: Option<Direction>,
}

#[derive(Debug, Clone)]
struct Part {
    stream: Stream,
    /// Draws up to here, and above those of the pattern before, are its own; of 100.
    last_percent: u32,
}

impl Parted {
    pub(crate) fn new(plan: &WorkloadPlan, parts: &[PatternPart]) -> Result<Self, WorkloadError> {
        let mut last_percent = 0;
        let parts = parts.iter().enumerate().map(|(index, part)| {
            last_percent += part.percent;
            Ok(Part { stream: Stream::new(plan_of(plan, index, part), Unzoned)?, last_percent })
        });
        let mut stream = Self {
            parts: parts.collect::<Result<_, WorkloadError>>()?,
            choice: choice(&plan.seeds),
            syncs: SyncPoints::new(plan.syncs),
            limits: plan.limits,
            reseeds: plan.reseed_each_pass.then(|| plan.seeds.clone()),
            n_issued: PerDirection::all(0),
            issued_bytes: 0,
            pass_end_bytes: 0,
            last: None,
        };
        stream.set_limits();
        Ok(stream)
    }

    fn set_limits(&mut self) {
        self.pass_end_bytes = self.limits.bytes.min(self.issued_bytes.saturating_add(self.limits.pass_bytes));
    }

    fn n_issued_total(&self) -> u64 {
        self.n_issued.0.iter().sum()
    }

    /// The next I/O, or what has to happen before it.
    pub(crate) fn draw(&mut self) -> Next {
        if self.issued_bytes >= self.pass_end_bytes || self.n_issued_total() >= self.limits.ios {
            return Next::PassEnd;
        }
        if let Some(direction) = self.syncs.due(self.n_issued[DataDirection::Write], self.last) {
            self.last = Some(direction);
            return Next::Io(NextIo { direction, file_index: 0, offset_bytes: 0, length_bytes: 0 });
        }
        let percent = self.choice.percent();
        let Some(part) = self.parts.iter_mut().find(|part| percent <= part.last_percent) else { return Next::PassEnd };
        for _ in 0..MAX_FRUITLESS {
            match part.stream.draw() {
                Next::Io(io) => {
                    if let Some(direction) = io.direction.data() {
                        self.n_issued[direction] += 1;
                    }
                    self.issued_bytes = self.issued_bytes.saturating_add(io.length_bytes);
                    self.last = Some(io.direction);
                    return Next::Io(io);
                }
                // All blocks were drawn; they come again. The others have not drawn theirs, so the job does not start over.
                Next::Restart(_) => {}
                Next::Close(file_index) => part.stream.closed(file_index),
                Next::PassEnd => part.stream.start_pass(),
                other => return other,
            }
        }
        Next::PassEnd
    }
}

/// The plan of a pattern alone: it goes on for ever.
fn plan_of(plan: &WorkloadPlan, index: usize, part: &PatternPart) -> WorkloadPlan {
    let range = BlockRange { min_bytes: part.block_bytes, max_bytes: part.block_bytes };
    let pattern = PatternSpec {
        mix: if part.writes { DirectionMix::Write } else { DirectionMix::Read },
        random: part.random,
        rw_postfix: i64::from(part.random),
        block_size: PerDirection::all(range),
        ..plan.pattern.clone()
    };
    WorkloadPlan {
        pattern,
        syncs: SyncIntervals::default(),
        form: WorkForm::Blocks,
        seeds: plan.seeds.of_part(index as u64),
        limits: WorkLimits::NONE,
        time_based: true,
        rounds: Rounds::None,
        ..plan.clone()
    }
}

fn choice(seeds: &SeedTable) -> Taus88 {
    Taus88::new(seeds.own(OwnSeed::Patterns) as u32)
}

impl Unpaced for Parted {
    fn steer(&mut self, _now_ns: u64, _dues_ns: impl FnOnce() -> PerDirection<u64>) {
        // The shares decide the direction; such a job has no rates.
    }

    fn draw(&mut self) -> Next {
        Self::draw(self)
    }
}

impl JobStream for Parted {
    fn start_pass(&mut self) {
        self.last = None;
        self.set_limits();
        self.parts.iter_mut().for_each(|part| part.stream.start_pass());
        if let Some(seeds) = &self.reseeds {
            self.choice = choice(seeds);
        }
    }

    fn progress(&self) -> IssuedTotals {
        let n_issued = self.n_issued_total();
        IssuedTotals {
            last_was_sync: self.last.is_some_and(Direction::is_sync),
            issued_bytes: self.issued_bytes,
            n_issued,
            n_writes_issued: self.n_issued[DataDirection::Write],
            is_spent: self.issued_bytes >= self.limits.bytes || n_issued >= self.limits.ios,
        }
    }

    fn copy(&self) -> Option<Box<dyn IoStream>> {
        Some(Box::new(self.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::tests::plan;

    const PARTS: [PatternPart; 3] = [
        PatternPart { random: true, writes: false, block_bytes: 4096, percent: 70 },
        PatternPart { random: false, writes: true, block_bytes: 16_384, percent: 20 },
        PatternPart { random: false, writes: false, block_bytes: 8192, percent: 10 },
    ];

    /// The I/Os of a pass over a file of 1 MiB, as far as the limit in bytes.
    fn ios(stream: &mut Parted) -> Vec<NextIo> {
        let mut ios = Vec::new();
        while let Next::Io(io) = stream.draw() {
            ios.push(io);
        }
        ios
    }

    fn parted(pass_bytes: u64) -> Parted {
        let mut plan = plan(DirectionMix::ReadWrite, true);
        plan.files[0].length_bytes = 1 << 20;
        plan.files[0].file_bytes = 1 << 20;
        plan.limits.pass_bytes = pass_bytes;
        Parted::new(&plan, &PARTS).unwrap()
    }

    fn of_part(ios: &[NextIo], part: &PatternPart) -> Vec<u64> {
        ios.iter().filter(|io| io.length_bytes == part.block_bytes).map(|io| io.offset_bytes).collect()
    }

    #[test]
    fn sequential_patterns_keep_their_own_position_and_wrap() {
        let ios = ios(&mut parted(64 << 20));
        for part in &PARTS[1..] {
            let offsets = of_part(&ios, part);
            assert!(offsets.len() as u64 > (1 << 20) / part.block_bytes);
            let expected = (0..offsets.len() as u64).map(|index| index * part.block_bytes % (1 << 20));
            assert_eq!(offsets, expected.collect::<Vec<_>>());
        }
    }

    /// Each block comes once before any comes again.
    #[test]
    fn random_patterns_have_a_map_of_their_own() {
        let offsets = of_part(&ios(&mut parted(16 << 20)), &PARTS[0]);
        let mut first: Vec<u64> = offsets[..256].to_vec();
        assert!(!first.is_sorted());
        first.sort_unstable();
        assert_eq!(first, (0..256).map(|block| block * 4096).collect::<Vec<_>>());
        assert!(offsets.len() > 256);
    }

    #[test]
    fn shares_are_those_of_the_patterns_and_limits_those_of_the_job() {
        let mut stream = parted(64 << 20);
        let ios = ios(&mut stream);
        // The sum is reached by the last I/O.
        let all_bytes: u64 = ios.iter().map(|io| io.length_bytes).sum();
        let last_bytes = ios.last().map_or(0, |io| io.length_bytes);
        assert!(all_bytes >= 64 << 20 && all_bytes - last_bytes < 64 << 20, "{all_bytes}");
        for part in &PARTS {
            // Five times the standard deviation of a binomial distribution.
            let (n, share) = (ios.len() as f64, f64::from(part.percent) / 100.0);
            let found = of_part(&ios, part).len() as f64;
            assert!((found - n * share).abs() < 5.0 * (n * share * (1.0 - share)).sqrt(), "{found} of {n}");
        }
        let writes = ios.iter().filter(|io| io.direction == Direction::Write);
        assert!(writes.clone().count() > 0 && writes.clone().all(|io| io.length_bytes == 16_384));
        let again: Vec<NextIo> = self::ios(&mut parted(64 << 20));
        assert_eq!(again, ios);
    }
}
