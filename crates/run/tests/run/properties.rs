//! Properties of every workload: coverage, ranges, sums, depth.
//!
//! Start reading at [`Shape`], the small workloads that are tried.

use crate::builder::{BLOCK, job, set_depth, writes};
use crate::probe::{Call, Driven, drive};
use ferrio_spec::engines::options::sim;
use ferrio_spec::{BlockRange, DirectionMix, FileService, JobSpec, QueueSpec, RandomGenerator, SizeSpec};
use ferrio_units::{Direction, PerDirection};
use proptest::prelude::*;

/// A small workload.
#[derive(Debug, Clone)]
struct Shape {
    mix: DirectionMix,
    random: bool,
    n_files: u32,
    /// Blocks of each file.
    n_blocks: u64,
    offset_blocks: u64,
    loops: u32,
    queue: QueueSpec,
    service: FileService,
    seed: Option<u64>,
    /// On the simulated device; otherwise on the null engine.
    on_sim: bool,
}

fn queues() -> impl Strategy<Value = QueueSpec> {
    let depth = prop_oneof![Just(1u32), 2u32..12];
    depth.prop_flat_map(|iodepth| {
        let parts = (1..=iodepth, 0..=iodepth, 0..=iodepth, 1..=iodepth);
        parts.prop_map(move |(batch_submit, min, max, low)| QueueSpec {
            iodepth,
            batch_submit,
            batch_complete_min: min,
            batch_complete_max: max.max(min),
            low,
        })
    })
}

fn mixes() -> impl Strategy<Value = DirectionMix> {
    use DirectionMix::{Read, ReadWrite, Trim, TrimWrite, Write};
    prop_oneof![Just(Read), Just(Write), Just(Trim), Just(ReadWrite), Just(TrimWrite)]
}

fn services() -> impl Strategy<Value = FileService> {
    prop_oneof![Just(FileService::RoundRobin), Just(FileService::Sequential), Just(FileService::Random)]
}

prop_compose! {
    fn shapes()(
        mix in mixes(),
        random in any::<bool>(),
        n_files in 1u32..5,
        n_blocks in 1u64..60,
        offset_blocks in 0u64..4,
        loops in 1u32..4,
        queue in queues(),
        service in services(),
        seed in any::<Option<u64>>(),
        on_sim in any::<bool>(),
    ) -> Shape {
        Shape { mix, random, n_files, n_blocks, offset_blocks, loops, queue, service, seed, on_sim }
    }
}

impl Shape {
    fn job(&self) -> JobSpec {
        let mut job = job("j");
        if self.on_sim {
            "sim".clone_into(&mut job.engine.name);
            job.engine.options.set(&sim::SERVICE, "uniform:10us-200us");
            job.engine.options.set(&sim::CHANNELS, 3);
        } else {
            "null".clone_into(&mut job.engine.name);
        }
        job.pattern.mix = self.mix;
        (job.pattern.random, job.pattern.rw_postfix) = (self.random, i64::from(self.random));
        job.pattern.randseed = self.seed;
        job.target.nrfiles = self.n_files;
        job.target.file_service = self.service.clone();
        job.extent.size = Some(SizeSpec::Bytes(u64::from(self.n_files) * self.n_blocks * BLOCK));
        job.extent.offset = SizeSpec::Bytes(self.offset_blocks * BLOCK);
        job.limits.loops = self.loops;
        job.queue = self.queue;
        job
    }

    fn size_bytes(&self) -> u64 {
        u64::from(self.n_files) * self.n_blocks * BLOCK
    }

    fn range(&self) -> std::ops::Range<u64> {
        let start = self.offset_blocks * BLOCK;
        start..start + self.n_blocks * BLOCK
    }

    /// Visits of each block of each file, in the order of files and blocks.
    fn visits(&self, driven: &Driven, wanted: impl Fn(Direction) -> bool) -> Vec<u32> {
        let mut visits = vec![0; (u64::from(self.n_files) * self.n_blocks) as usize];
        for unit in driven.units.iter().filter(|unit| wanted(unit.direction)) {
            let first = u64::from(unit.file_index) * self.n_blocks + (unit.offset_bytes - self.range().start) / BLOCK;
            for block in first..first + unit.length_bytes as u64 / BLOCK {
                visits[block as usize] += 1;
            }
        }
        visits
    }
}

/// Checks that no more units are in flight than slots, and no more slots are used than the depth. The null engine reaps
/// batches whole.
fn assert_depth(driven: &Driven, iodepth: u32, is_sim: bool) -> Result<(), TestCaseError> {
    let (mut n_used, mut n_committed) = (0, 0);
    for call in &driven.calls {
        match *call {
            Call::Queue(slot) => {
                prop_assert!(slot < iodepth);
                n_used += 1;
            }
            Call::Commit(n) => n_committed += n,
            Call::Reap { min, max, n } => {
                prop_assert!(n <= n_committed && n >= min.min(n_committed), "{call:?} of {n_committed}");
                prop_assert!(n <= max || !is_sim, "{call:?}");
                n_used -= n;
                n_committed -= n;
            }
            Call::Open(_) | Call::Close(_) => {}
        }
        prop_assert!(n_used <= iodepth && n_committed <= n_used);
    }
    Ok(())
}

fn assert_ended_well(driven: &Driven) -> Result<(), TestCaseError> {
    prop_assert!(driven.messages.is_empty(), "{:?}", driven.messages);
    prop_assert_eq!(&driven.outcome.failure, &None);
    for figures in &driven.outcome.stats.directions.0 {
        prop_assert_eq!(figures.n_issued, figures.n_completed);
    }
    Ok(())
}

fn assert_in_range(driven: &Driven, range: &std::ops::Range<u64>) -> Result<(), TestCaseError> {
    for unit in &driven.units {
        prop_assert!(unit.length_bytes > 0 && unit.offset_bytes >= range.start, "{unit:?}");
        prop_assert!(unit.offset_bytes + unit.length_bytes as u64 <= range.end, "{unit:?}");
    }
    Ok(())
}

fn n_bytes(driven: &Driven) -> u64 {
    driven.outcome.stats.directions.0.iter().map(|figures| figures.bytes).sum()
}

proptest! {
    #[test]
    fn every_block_is_visited_once_a_pass(shape in shapes()) {
        let driven = drive(shape.job());
        assert_ended_well(&driven)?;
        assert_in_range(&driven, &shape.range())?;
        if shape.queue.iodepth > 1 {
            assert_depth(&driven, shape.queue.iodepth, shape.on_sim)?;
        }
        let is_pair = shape.mix == DirectionMix::TrimWrite;
        prop_assert_eq!(n_bytes(&driven), shape.size_bytes() * u64::from(shape.loops) * if is_pair { 2 } else { 1 });
        // A sequential mix goes through the file once for each direction.
        if shape.random || shape.mix != DirectionMix::ReadWrite {
            let visits = shape.visits(&driven, |direction| !is_pair || direction == Direction::Trim);
            prop_assert!(visits.iter().all(|n| *n == shape.loops), "{visits:?}");
        }
        if is_pair {
            let visits = shape.visits(&driven, |direction| direction == Direction::Write);
            prop_assert!(visits.iter().all(|n| *n == shape.loops), "{visits:?}");
        }
    }

    #[test]
    fn passes_repeat_unless_a_seed_is_given(mut shape in shapes()) {
        (shape.loops, shape.seed, shape.service, shape.n_files) = (3, None, FileService::Sequential, 1);
        let driven = drive(shape.job());
        let places: Vec<(Direction, u64)> = driven.units.iter().map(|unit| (unit.direction, unit.offset_bytes)).collect();
        let n = places.len() / 3;
        // The choice between reads and writes continues from the counts of the last pass.
        if shape.mix != DirectionMix::ReadWrite {
            prop_assert_eq!(&places[..n], &places[n..2 * n]);
            prop_assert_eq!(&places[..n], &places[2 * n..]);
        }
    }

    #[test]
    fn blocks_of_several_sizes_cover_the_file_once(mut shape in shapes(), max_blocks in 2u64..6) {
        (shape.random, shape.mix, shape.loops) = (true, DirectionMix::Write, 1);
        let mut job = shape.job();
        job.pattern.block_size = PerDirection::all(BlockRange { min_bytes: BLOCK, max_bytes: max_blocks * BLOCK });
        let driven = drive(job);
        assert_ended_well(&driven)?;
        assert_in_range(&driven, &shape.range())?;
        let visits = shape.visits(&driven, |_| true);
        prop_assert!(visits.iter().all(|n| *n == 1), "{visits:?}");
        prop_assert_eq!(n_bytes(&driven), shape.size_bytes());
    }

    #[test]
    fn a_shift_register_covers_the_file_once(mut shape in shapes()) {
        (shape.random, shape.mix) = (true, DirectionMix::Read);
        let mut job = shape.job();
        job.pattern.random_generator = Some(RandomGenerator::Lfsr);
        let driven = drive(job);
        let failure = driven.outcome.failure.as_ref();
        // The LFSR cannot use a seed whose bits are all ones, and a small file has few bits.
        let note = failure.and_then(|error| error.note.as_deref());
        if note.is_some_and(|note| ferrio_formats::words::note(note).contains("all ones")) {
            return Ok(());
        }
        assert_ended_well(&driven)?;
        let visits = shape.visits(&driven, |_| true);
        prop_assert!(visits.iter().all(|n| *n == shape.loops), "{visits:?}");
    }

    #[test]
    fn without_a_map_the_sum_is_the_size(mut shape in shapes(), percent in 0u32..=100, run in 1i64..5) {
        shape.random = true;
        let mut job = shape.job();
        job.pattern.norandommap = true;
        job.pattern.percentage_random = PerDirection::all(percent);
        job.pattern.rw_postfix = run;
        let driven = drive(job);
        assert_ended_well(&driven)?;
        assert_in_range(&driven, &shape.range())?;
        let is_pair = shape.mix == DirectionMix::TrimWrite;
        if is_pair {
            let is_answered = |pair: &[ferrio_engine::IoUnit]| {
                pair[0].direction == Direction::Trim && pair[1].direction == Direction::Write && pair[0].offset_bytes == pair[1].offset_bytes
            };
            // Files take turns, so only a job with one file shows the pairs. With several units in flight, a pass of
            // several that ends by bytes may end within a pair, as in fio.
            let shows_pairs = shape.n_files == 1 && (shape.queue.iodepth == 1 || shape.loops == 1);
            prop_assert!(!shows_pairs || driven.units.chunks(2).all(is_answered));
        }
        // Only the writes of pairs count for the size.
        let n_moved = if is_pair { writes(&driven.outcome.stats).bytes } else { n_bytes(&driven) };
        prop_assert!(n_moved <= shape.size_bytes() * u64::from(shape.loops));
        if percent == 100 && run == 1 {
            let size_bytes = shape.size_bytes() * u64::from(shape.loops);
            // Files that take turns may end a pass with a trim whose write is in none, as in fio: then there is one write less, and another trim.
            let may_part = is_pair && shape.n_files > 1 && shape.queue.iodepth > 1;
            let (moved, wanted) = if may_part { (n_bytes(&driven), 2 * size_bytes) } else { (n_moved, size_bytes) };
            if may_part && shape.loops > 1 {
                return Ok(());
            }
            prop_assert_eq!(moved, wanted);
        }
    }

    #[test]
    fn a_number_of_ios_is_kept(shape in shapes(), n_ios in 1u64..100, depth in 1u32..9) {
        let mut job = shape.job();
        job.extent.number_ios = n_ios;
        set_depth(&mut job, depth);
        let driven = drive(job);
        assert_ended_well(&driven)?;
        let per_pass = if shape.mix == DirectionMix::TrimWrite { 2 } else { 1 };
        let size_ios = u64::from(shape.n_files) * shape.n_blocks * u64::from(shape.loops) * per_pass;
        let expected = size_ios.min(n_ios * u64::from(shape.loops) * per_pass);
        prop_assert_eq!(driven.outcome.stats.n_issued(), expected);
    }

    #[test]
    fn no_more_files_are_open_than_allowed(mut shape in shapes(), openfiles in 1u32..4) {
        (shape.n_files, shape.mix) = (4, DirectionMix::Write);
        let mut job = shape.job();
        job.target.openfiles = openfiles;
        let driven = drive(job);
        assert_ended_well(&driven)?;
        let mut n_open = 0;
        for call in &driven.calls {
            match call {
                Call::Open(_) => n_open += 1,
                Call::Close(_) => n_open -= 1,
                _ => {}
            }
            // A file that is done stays open until its last I/O has returned.
            let n_waiting = if shape.queue.iodepth == 1 { 0 } else { shape.queue.iodepth };
            prop_assert!(n_open <= openfiles + n_waiting);
        }
        prop_assert_eq!(n_open, 0);
        let visits = shape.visits(&driven, |_| true);
        prop_assert!(visits.iter().all(|n| *n == shape.loops), "{visits:?}");
    }
}

/// A trim whose write is in none of the files any more. Expected values: the numbers of writes and trims of fio 3.41 with `--name=j --rw=randtrimwrite --ioengine=null
/// --bs=4k --norandommap --iodepth=2` and `--nrfiles=2 --size=112k --file_service_type=random`, then `--nrfiles=3 --size=12k --loops=2`.
#[test]
fn pairs_of_several_files_may_part() {
    let numbers = |n_files: u32, n_blocks: u64, loops: u32, service: FileService| {
        let queue = QueueSpec { iodepth: 2, batch_submit: 1, batch_complete_min: 1, batch_complete_max: 1, low: 2 };
        let mix = DirectionMix::TrimWrite;
        let (random, offset_blocks, seed, on_sim) = (true, 0, None, false);
        let mut job =
            Shape { mix, random, n_files, n_blocks, offset_blocks, loops, queue, service, seed, on_sim }.job();
        job.pattern.norandommap = true;
        let driven = drive(job);
        let issued = |direction| driven.units.iter().filter(|unit| unit.direction == direction).count();
        (issued(Direction::Write), issued(Direction::Trim))
    };
    assert_eq!(numbers(2, 14, 1, FileService::Random), (27, 29));
    assert_eq!(numbers(3, 1, 2, FileService::RoundRobin), (6, 9));
}
