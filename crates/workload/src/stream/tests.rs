//! Passes, trims and backward jumps over one file of 16 blocks.

use super::{Next, NextIo, Stream, n_units};
use crate::io_stream::JobStream;
use crate::plan::{FileRange, Rounds, WorkForm, WorkLimits, WorkloadPlan};
use crate::zoning::{CompletedIo, Unzoned, Zoning};
use ferrio_spec::JobSpec;
use ferrio_spec::{BlockRange, DirectionMix, FileService, PatternSpec, RandomDistribution};
use ferrio_units::random::{SeedIndex, SeedTable};
use ferrio_units::{Direction, PerDirection};
use proptest::prelude::*;

pub(crate) const BLOCK_BYTES: u64 = 4096;

/// One file of 16 blocks, without limits.
pub(crate) fn plan(mix: DirectionMix, random: bool) -> WorkloadPlan {
    let pattern = PatternSpec {
        mix,
        random,
        rw_postfix: i64::from(random),
        block_size: PerDirection::all(BlockRange { min_bytes: BLOCK_BYTES, max_bytes: BLOCK_BYTES }),
        ..JobSpec::default().pattern
    };
    let length_bytes = 16 * BLOCK_BYTES;
    WorkloadPlan {
        pattern,
        strided: None,
        sequential: None,
        syncs: crate::plan::SyncIntervals::default(),
        files: vec![FileRange { start_bytes: 0, length_bytes, file_bytes: length_bytes, distribution_seed: 0 }],
        openfiles: 1,
        form: WorkForm::Blocks,
        file_service: FileService::RoundRobin,
        file_service_count: 1,
        seeds: SeedTable::new(0x89, 1),
        reseed_each_pass: false,
        limits: WorkLimits::NONE,
        time_based: false,
        rounds: Rounds::None,
        compatibility: ferrio_spec::Compatibility::Fio,
    }
}

/// Directions and block numbers of the next pass.
pub(crate) fn pass<Z: Zoning + Clone + 'static>(workload: &mut Stream<Z>) -> Vec<(Direction, u64)> {
    let mut ios = Vec::new();
    loop {
        match workload.draw() {
            Next::Io(io) => {
                ios.push((io.direction, io.offset_bytes / BLOCK_BYTES));
                complete(workload, &io);
            }
            Next::PassEnd => break,
            Next::Drain => workload.zones_mut().expect("zones that ask for it").drained(),
            Next::Held => panic!("there is no other job"),
            Next::Close(_) | Next::Restart(_) | Next::Wait | Next::Open(_) | Next::Failed => {}
        }
    }
    workload.start_pass();
    ios
}

/// Completes an I/O before the next is drawn.
pub(crate) fn complete<Z: Zoning + Clone + 'static>(workload: &mut Stream<Z>, io: &NextIo) {
    let NextIo { file_index, offset_bytes, .. } = *io;
    if let (Some(direction), Some(zones)) = (io.direction.data(), workload.zones_mut()) {
        zones.completed(&CompletedIo { file_index, direction, offset_bytes, failure: None });
    }
}

pub(crate) fn blocks(ios: &[(Direction, u64)]) -> Vec<u64> {
    ios.iter().map(|(_, block)| *block).collect()
}

/// Blocks that the reference documents for its default seed.
const FIRST_PASS: [u64; 16] = [15, 13, 10, 8, 9, 0, 1, 3, 5, 14, 11, 12, 2, 6, 4, 7];

#[test]
fn a_pass_that_ends_by_its_bytes_leaves_the_stream_where_it_is() {
    let by_files = plan(DirectionMix::Read, true);
    let by_bytes =
        WorkloadPlan { limits: WorkLimits { pass_bytes: 16 * BLOCK_BYTES, ..by_files.limits }, ..by_files.clone() };
    let (mut by_files, mut by_bytes) =
        (Stream::new(by_files, Unzoned).unwrap(), Stream::new(by_bytes, Unzoned).unwrap());
    assert_eq!(blocks(&pass(&mut by_files)), FIRST_PASS);
    assert_eq!(blocks(&pass(&mut by_bytes)), FIRST_PASS);
    // Without the limit in bytes, the end of the files is found by a draw, which the next pass then misses.
    let (second, second_by_bytes) = (pass(&mut by_files), pass(&mut by_bytes));
    assert_eq!(second.len(), 16);
    assert_eq!(second_by_bytes.len(), 16);
    assert_eq!(second_by_bytes[1], second[0]);
}

/// Expected values: a trace of fio 3.41 with `rw=randwrite:3 loops=2` and the seed of its offsets; the second pass
/// begins within a run.
#[test]
fn a_run_goes_on_in_the_next_pass() {
    let mut plan = plan(DirectionMix::Write, true);
    plan.pattern.rw_postfix = 3;
    plan.seeds.set(SeedIndex::Offset, 0xB189_9BED);
    (plan.reseed_each_pass, plan.limits.pass_bytes) = (true, 16 * BLOCK_BYTES);
    let mut stream = Stream::new(plan, Unzoned).unwrap();
    assert_eq!(blocks(&pass(&mut stream)), [0, 1, 2, 11, 12, 13, 13, 14, 15, 7, 8, 9, 6, 7, 8, 14]);
    assert_eq!(blocks(&pass(&mut stream)), [0, 1, 0, 1, 2, 11, 12, 13, 13, 14, 15, 7, 8, 9, 6, 7]);
}

#[test]
fn each_random_trim_has_its_write() {
    let mut plan = plan(DirectionMix::TrimWrite, true);
    plan.pattern.norandommap = true;
    plan.limits.bytes = 400 * BLOCK_BYTES;
    let ios = pass(&mut Stream::new(plan, Unzoned).unwrap());
    assert_eq!(ios.len(), 800);
    // Without a map, two successive trims sometimes draw the same block.
    assert!(ios.chunks(2).zip(ios.chunks(2).skip(1)).any(|(pair, next)| pair[0].1 == next[0].1));
    for pair in ios.chunks(2) {
        assert_eq!(pair, [(Direction::Trim, pair[0].1), (Direction::Write, pair[0].1)]);
    }
}

#[test]
fn a_backward_file_is_done_when_a_block_ends_at_its_end() {
    let mut plan = plan(DirectionMix::Read, false);
    plan.pattern.rw_postfix = -2 * BLOCK_BYTES as i64;
    let mut fixed = Stream::new(
        WorkloadPlan { limits: WorkLimits { bytes: 16 * BLOCK_BYTES, ..plan.limits }, ..plan.clone() },
        Unzoned,
    )
    .unwrap();
    assert_eq!(blocks(&pass(&mut fixed)), [0, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    plan.pattern.block_size = PerDirection::all(BlockRange { min_bytes: BLOCK_BYTES, max_bytes: 2 * BLOCK_BYTES });
    plan.limits.bytes = 1000 * BLOCK_BYTES;
    let ios = pass(&mut Stream::new(plan, Unzoned).unwrap());
    assert!(ios.len() < 1000 && ios.last().is_some_and(|(_, block)| *block == 14), "{ios:?}");
}

/// Blocks of a pass with jumps of `jump` blocks over a range of 8 blocks of a file.
fn jumps(start: u64, file_blocks: u64, jump: i64) -> Vec<u64> {
    let mut plan = plan(DirectionMix::Write, false);
    plan.pattern.rw_postfix = jump * BLOCK_BYTES as i64;
    let bytes = |blocks: u64| blocks * BLOCK_BYTES;
    let (start_bytes, length_bytes, file_bytes) = (bytes(start), bytes(8), bytes(file_blocks));
    plan.files = vec![FileRange { start_bytes, length_bytes, file_bytes, distribution_seed: 0 }];
    plan.limits.bytes = length_bytes;
    blocks(&pass(&mut Stream::new(plan, Unzoned).unwrap()))
}

/// Traces of fio 3.41: `rw=write:8k` and so on with `bs=4k`, `size=32k` and an offset, in files that end there or later.
#[test]
fn jumps_in_a_part_of_a_file_are_those_of_the_peer() {
    assert_eq!(jumps(0, 8, 1), [0, 2, 4, 6, 0, 2, 4, 6], "the range is the file");
    assert_eq!(jumps(0, 1024, 1), [0, 2, 4, 6], "past the range, within the file");
    assert_eq!(jumps(24, 32, 2), [24, 27, 30], "past the file, but the range is not its start");
    assert_eq!(jumps(16, 32, 50), [16]);
    assert_eq!(jumps(0, 32, 50), [0; 8]);
    assert_eq!(jumps(16, 32, -2), [22, 21, 20, 19, 18, 17, 16, 22]);
    assert_eq!(jumps(1, 32, -2), [6, 5, 4, 3, 2, 1, 7, 6]);
    assert_eq!(jumps(2, 32, -2), [6, 5, 4, 3, 2, 8, 7, 6]);
    assert_eq!(jumps(24, 32, -3), [29, 27, 25, 29, 27, 25, 29, 27]);
    assert_eq!(jumps(16, 32, -16), [0_u64; 0]);
    assert_eq!(jumps(8, 64, -2), [8, 14, 13, 12, 11, 10, 9, 8], "as far from the start of the file as it is long");
}

/// Expected values: a trace of fio 3.41 (`bsrange=4k-64k`, `size=200k`, a file of 4 MiB, `randseed=137`). Blocks of
/// several sizes end within the range; a block of a single size may run past it within the file.
#[test]
fn blocks_of_several_sizes_end_within_the_range() {
    let mut plan = plan(DirectionMix::Write, false);
    plan.seeds = SeedTable::new(137, 1);
    plan.pattern.block_size = PerDirection::all(BlockRange { min_bytes: BLOCK_BYTES, max_bytes: 16 * BLOCK_BYTES });
    let (length_bytes, file_bytes) = (50 * BLOCK_BYTES, 1024 * BLOCK_BYTES);
    plan.files = vec![FileRange { start_bytes: 0, length_bytes, file_bytes, distribution_seed: 0 }];
    let mut stream = Stream::new(plan, Unzoned).unwrap();
    let mut lengths = Vec::new();
    while let Next::Io(io) = stream.draw() {
        lengths.push(io.length_bytes / BLOCK_BYTES);
    }
    assert_eq!(lengths, [4, 1, 7, 9, 9, 5, 13, 2]);
}

/// The first steps over four files of four blocks each: the file of each I/O, or for the close of file n the number -1
/// - n.
fn picks(service: FileService, random: bool, openfiles: usize, n: usize) -> Vec<i64> {
    let mut plan = plan(DirectionMix::Read, random);
    plan.files = vec![FileRange { length_bytes: 4 * BLOCK_BYTES, file_bytes: 4 * BLOCK_BYTES, ..plan.files[0] }; 4];
    (plan.openfiles, plan.file_service, plan.seeds) = (openfiles, service, SeedTable::new(137, 1));
    let mut stream = Stream::new(plan, Unzoned).unwrap();
    let mut picks = Vec::new();
    while picks.len() < n {
        match stream.draw() {
            Next::Io(io) => picks.push(io.file_index.into()),
            Next::Close(file) => {
                stream.closed(file);
                picks.push(-1 - i64::from(file));
            }
            Next::Restart(_) => {}
            other => panic!("{other:?}"),
        }
    }
    picks
}

/// Expected values: the opens, reads and closes of fio 3.41 with `randseed=137`, from its `write_iolog`.
#[test]
fn skewed_picks_are_those_of_the_peer() {
    let zipf = || FileService::Skewed(RandomDistribution::Zipf { theta: 1.2, center: None });
    let even = || FileService::Skewed(RandomDistribution::Pareto { h: 0.5, center: None });
    assert_eq!(picks(zipf(), false, 4, 19), [3, 3, 3, 3, -4, 3, 0, 3, 0, 3, 3, -4, 3, 0, 3, 3, 3, -4, 2]);
    assert_eq!(picks(even(), false, 2, 20), [2, 0, 2, 2, 2, -3, 1, 0, 1, 1, 1, -2, 3, 3, 0, 3, 0, 3, -1, 0]);
    // Files that are read at random start over without being closed.
    assert_eq!(picks(zipf(), true, 4, 16), [3, 3, 3, 3, 3, 3, 0, 3, 0, 3, 3, 3, 3, 0, 3, 3]);
}

/// Of six files, two may be open: each has as many I/Os as the others, whether a map says when it is done or not.
#[test]
fn random_jobs_without_end_go_through_all_files() {
    for (norandommap, service) in [
        (false, FileService::RoundRobin),
        (true, FileService::RoundRobin),
        (false, FileService::Random),
        (false, FileService::Sequential),
        (true, FileService::Sequential),
    ] {
        let mut plan = plan(DirectionMix::Read, true);
        plan.files = vec![FileRange { length_bytes: 4 * BLOCK_BYTES, file_bytes: 4 * BLOCK_BYTES, ..plan.files[0] }; 6];
        (plan.openfiles, plan.file_service, plan.time_based) = (2, service.clone(), true);
        plan.pattern.norandommap = norandommap;
        let mut stream = Stream::new(plan, Unzoned).unwrap();
        let (mut n_of_file, mut open) = ([0; 6], Vec::new());
        while n_of_file.iter().sum::<u32>() < 2400 {
            match stream.draw() {
                Next::Io(io) => {
                    n_of_file[io.file_index as usize] += 1;
                    if !open.contains(&io.file_index) {
                        open.push(io.file_index);
                    }
                    assert!(open.len() <= 2, "{open:?}");
                }
                Next::Close(file) => {
                    open.retain(|other| *other != file);
                    stream.closed(file);
                }
                other => panic!("{other:?}"),
            }
        }
        let (fewest, most) = (n_of_file.iter().min().unwrap(), n_of_file.iter().max().unwrap());
        // A draw may favour files; a round does not.
        let allowed = if service == FileService::Random { 240 } else { 8 };
        assert!(most - fewest <= allowed, "{norandommap} {service:?} {n_of_file:?}");
    }
}

/// Files are closed late, when their I/Os in flight are done: the stream goes on, whatever it has to pick.
#[test]
fn files_that_close_late_keep_no_stream_waiting() {
    for (service, n_files, openfiles) in [
        (FileService::RoundRobin, 2, 1),
        (FileService::RoundRobin, 3, 2),
        (FileService::Random, 2, 1),
        (FileService::Sequential, 3, 1),
    ] {
        let mut plan = plan(DirectionMix::Read, true);
        plan.files =
            vec![FileRange { length_bytes: 2 * BLOCK_BYTES, file_bytes: 2 * BLOCK_BYTES, ..plan.files[0] }; n_files];
        (plan.openfiles, plan.file_service, plan.time_based) = (openfiles, service, true);
        let mut stream = Stream::new(plan, Unzoned).unwrap();
        let mut n_of_file = vec![0; n_files];
        while n_of_file.iter().sum::<u32>() < 200 {
            // No file is ever closed.
            match stream.draw() {
                Next::Io(io) => n_of_file[io.file_index as usize] += 1,
                Next::Close(_) | Next::Restart(_) => {}
                other => panic!("{other:?}"),
            }
        }
        assert!(n_of_file.iter().all(|n| *n > 0), "{n_of_file:?}");
    }
}

/// A file that is about to be closed is not picked before its close; a lone file continues.
#[test]
fn files_that_close_are_left_alone() {
    let mut plan = plan(DirectionMix::Read, false);
    plan.files = vec![FileRange { length_bytes: BLOCK_BYTES, file_bytes: BLOCK_BYTES, ..plan.files[0] }; 2];
    (plan.openfiles, plan.limits.bytes) = (2, 100 * BLOCK_BYTES);
    plan.file_service = FileService::Skewed(RandomDistribution::Pareto { h: 0.5, center: None });
    let mut stream = Stream::new(plan, Unzoned).unwrap();
    let mut closing = Vec::new();
    let mut n_ios = 0;
    loop {
        match stream.draw() {
            Next::Io(io) => {
                assert!(closing.len() == 2 || !closing.contains(&io.file_index));
                closing.retain(|file| *file != io.file_index);
                n_ios += 1;
            }
            Next::Close(file) => closing.push(file),
            Next::PassEnd => break,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(n_ios, 100);
}

/// Blocks of the first I/Os, whatever the number of passes.
fn first_blocks(plan: WorkloadPlan, n_ios: usize) -> Vec<u64> {
    let mut stream = Stream::new(plan, Unzoned).expect("the plan is possible");
    let mut found = Vec::new();
    while found.len() < n_ios {
        let ios = match stream.draw() {
            Next::Io(io) => vec![(io.direction, io.offset_bytes / BLOCK_BYTES)],
            Next::PassEnd => {
                stream.start_pass();
                Vec::new()
            }
            _ => Vec::new(),
        };
        found.extend(blocks(&ios));
    }
    found
}

/// Expected values: a trace of fio 3.41 with `rw=randread:2 size=26k time_based=1`: six blocks, and half a block, at
/// which runs end.
#[test]
fn runs_over_a_rest_are_those_of_the_peer() {
    let mut plan = plan(DirectionMix::Read, true);
    (plan.pattern.rw_postfix, plan.time_based) = (2, true);
    (plan.files[0].length_bytes, plan.files[0].file_bytes) = (26 << 10, 26 << 10);
    let expected = [5, 5, 3, 4, 3, 4, 4, 5, 5, 0, 1, 1, 2, 2, 3, 5, 4, 5, 3, 4, 5, 2, 3, 0, 1, 4, 5, 5, 2, 3, 4, 5];
    assert_eq!(first_blocks(plan, expected.len()), expected);
}

/// Expected values: a trace of fio 3.41 with `rw=randrw:3 size=48k time_based=1`: the map is full after some I/Os.
#[test]
fn runs_of_a_file_that_starts_over_are_those_of_the_peer() {
    let mut plan = plan(DirectionMix::ReadWrite, true);
    (plan.pattern.rw_postfix, plan.time_based) = (3, true);
    (plan.files[0].length_bytes, plan.files[0].file_bytes) = (48 << 10, 48 << 10);
    let expected = [
        11, 0, 1, 10, 2, 3, 7, 8, 9, 6, 10, 7, 8, 8, 9, 0, 9, 10, 1, 2, 11, 2, 3, 4, 3, 5, 4, 4, 5, 6, 9, 5, 6, 5, 7,
        6, 4, 0, 1, 0, 1, 2, 8, 3, 4, 9, 10, 5, 5, 6, 7, 10, 11, 8, 7, 9, 8, 2, 3, 9, 6, 4, 5, 11,
    ];
    assert_eq!(first_blocks(plan, expected.len()), expected);
}

/// Expected values: a trace of fio 3.41 with `rw=randread bs=16k,4k size=90k` in a file of 256k. The sixth block is
/// partial, so no draw gives it, but the map has it as the next one after the fifth.
#[test]
fn a_place_that_is_not_whole_is_that_of_the_peer() {
    let mut plan = plan(DirectionMix::Read, true);
    let [read, ..] = &mut plan.pattern.block_size.0;
    *read = BlockRange { min_bytes: 4 * BLOCK_BYTES, max_bytes: 4 * BLOCK_BYTES };
    (plan.files[0].length_bytes, plan.files[0].file_bytes) = (90 << 10, 256 << 10);
    let mut stream = Stream::new(plan, Unzoned).expect("the plan is possible");
    assert_eq!(blocks(&pass(&mut stream)), [16, 20, 12, 8]);
}

proptest! {
    #[test]
    fn units_are_those_of_a_division(bytes: u64, unit_bytes in prop_oneof![1_u64.., (0..64_u32).prop_map(|shift| 1 << shift)]) {
        prop_assert_eq!(n_units(bytes, unit_bytes), bytes.div_ceil(unit_bytes));
    }
}

/// Blocks of 5 in a range of 16 of a file of 32. The last one of fio reaches past the range; no native one does.
#[test]
fn native_blocks_end_within_the_range() {
    let starts = |compatibility| {
        let mut plan = WorkloadPlan { compatibility, ..plan(DirectionMix::Read, false) };
        let block_bytes = 5 * BLOCK_BYTES;
        plan.pattern.block_size = PerDirection::all(BlockRange { min_bytes: block_bytes, max_bytes: block_bytes });
        plan.files[0].file_bytes = 32 * BLOCK_BYTES;
        let mut stream = Stream::new(crate::compat::with_reach(plan), Unzoned).unwrap();
        pass(&mut stream).into_iter().map(|(_, block)| block).collect::<Vec<_>>()
    };
    assert_eq!(starts(ferrio_spec::Compatibility::Fio), [0, 5, 10, 15]);
    assert_eq!(starts(ferrio_spec::Compatibility::Native), [0, 5, 10]);
}

/// Each I/O is counted once, and the counts of all passes stay.
#[test]
fn blocks_that_follow_others_are_counted() {
    let mut plan = plan(DirectionMix::Read, true);
    plan.pattern.percentage_random = PerDirection::all(50);
    plan.pattern.norandommap = true;
    plan.limits.pass_bytes = 500 * BLOCK_BYTES;
    plan.reseed_each_pass = true;
    let mut stream = Stream::new(plan, Unzoned).unwrap();
    let ios = [pass(&mut stream), pass(&mut stream)].concat();
    let drawn = stream.drawn().expect("counts");
    let (n_following, n_at_random) = (drawn.n_following.0[0], drawn.n_at_random.0[0]);
    assert_eq!((n_following + n_at_random) as usize, ios.len());
    // A block at random follows the one before it by chance in one of 16 cases, and one that follows the last block is at random.
    let n_behind = ios.windows(2).filter(|pair| pair[1].1 == pair[0].1 + 1).count() as u64;
    assert!(n_behind.abs_diff(n_following) < ios.len() as u64 / 10, "{n_behind} {n_following}");
}

#[test]
fn turns_of_files_are_counted() {
    for (count, n_turns) in [(1, 31), (4, 7)] {
        let mut plan = plan(DirectionMix::Read, false);
        plan.files = vec![plan.files[0]; 2];
        (plan.openfiles, plan.file_service_count) = (2, count);
        let mut stream = Stream::new(plan, Unzoned).unwrap();
        assert_eq!(pass(&mut stream).len(), 32);
        let files = stream.drawn().and_then(|drawn| drawn.files).expect("turns");
        // That each of the two files is done is found in a turn of its own.
        assert!(files.n_ios == 32 && (n_turns..=n_turns + 2).contains(&files.n_turns), "{files:?}");
    }
}
