//! Places of I/Os in zones, compared with traces of fio 3.41 with `randrepeat=0 randseed=137` and with arithmetic.

mod model;

use super::*;
use crate::Next;
use crate::stream::Stream;
use crate::stream::tests::{BLOCK_BYTES, blocks, complete, pass, plan};
use crate::zone_table::ZoneActivity;
use crate::zone_table::tests::{table, table_behind};
use ferrio_spec::{BlockRange, SizesInZones, ZoneSkip};
use ferrio_units::Direction;
use ferrio_units::random::{SeedIndex, SeedTable};

const SPEC: SequentialZonesSpec = SequentialZonesSpec {
    zone_bytes: 0,
    capacity_bytes: 0,
    skip: ZoneSkip::Bytes(0),
    reads_beyond_written: false,
    max_open: 0,
    job_max_open: 0,
    ignores_limits: false,
    reset_threshold: 0.0,
    reset_frequency: 0.0,
    writes_remainder: false,
    recovers_writes: false,
    sizes: SizesInZones { size: None, io_size: None, offset: None, offset_increment: None },
};

/// A stream over `n_zones` zones with this size and capacity in blocks, and the table of its zones.
fn stream(
    (mix, random): (DirectionMix, bool),
    [n_zones, zone, capacity]: [u64; 3],
    spec: SequentialZonesSpec,
    change: impl FnOnce(&mut WorkloadPlan),
) -> (Stream<SequentialZones>, Arc<ZoneTable>) {
    let mut plan = plan(mix, random);
    plan.files[0].length_bytes = n_zones * zone * BLOCK_BYTES;
    plan.files[0].file_bytes = 0;
    change(&mut plan);
    let table = table(zone * BLOCK_BYTES, capacity * BLOCK_BYTES, n_zones as usize, spec.max_open as usize);
    let table = Arc::new(table);
    let zones = SequentialZones::new(&sequential(spec, &table, 1), &plan);
    (Stream::new(plan, zones).expect("the plan is possible"), table)
}

fn sequential(spec: SequentialZonesSpec, table: &Arc<ZoneTable>, worker: u32) -> SequentialPlan {
    SequentialPlan { spec, keeps_written: false, tables: vec![Arc::clone(table)], worker }
}

/// A stream of another worker over existing zones.
fn over(table: &Arc<ZoneTable>, plan: WorkloadPlan, worker: u32) -> Stream<SequentialZones> {
    let zones = SequentialZones::new(&sequential(SPEC, table, worker), &plan);
    Stream::new(plan, zones).expect("the plan is possible")
}

fn set_block(plan: &mut WorkloadPlan, n_blocks: u64) {
    let bytes = n_blocks * BLOCK_BYTES;
    plan.pattern.block_size = PerDirection::all(BlockRange::one(bytes));
}

const WRITE: (DirectionMix, bool) = (DirectionMix::Write, false);
const RANDWRITE: (DirectionMix, bool) = (DirectionMix::Write, true);
const READ: (DirectionMix, bool) = (DirectionMix::Read, false);
const RANDREAD: (DirectionMix, bool) = (DirectionMix::Read, true);

#[test]
fn writes_go_where_a_zone_was_written_last() {
    let (mut random, table) = stream(RANDWRITE, [4, 4, 4], SPEC, |_| ());
    assert_eq!(blocks(&pass(&mut random)), [12, 13, 8, 9, 10, 0, 1, 2, 4, 14, 11, 15, 3, 5, 6, 7]);
    assert!((0..4).all(|zone| table.written(zone) == 4 * BLOCK_BYTES));
    assert_eq!(random.zoning().n_resets(), 0);
    // Every zone is full, so the first write to each resets it.
    assert_eq!(blocks(&pass(&mut random)), [4, 12, 8, 0, 9, 5, 10, 11, 1, 13, 2, 14, 3, 15, 6, 7]);
    assert_eq!(random.zoning().n_resets(), 4);
}

#[test]
fn what_lies_behind_the_capacity_is_not_written() {
    let (mut random, _) = stream(RANDWRITE, [4, 4, 3], SPEC, |_| ());
    assert_eq!(blocks(&pass(&mut random)), [12, 13, 8, 9, 10, 0, 1, 2, 4, 14, 8, 12, 0, 5, 6, 4]);
    assert_eq!(random.zoning().n_resets(), 4);
    let (mut sequential, _) = stream(WRITE, [4, 4, 3], SPEC, |_| ());
    assert_eq!(blocks(&pass(&mut sequential)), [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14]);
}

#[test]
fn a_zone_with_less_than_a_block_left_is_done_with() {
    let limit = |plan: &mut WorkloadPlan| {
        set_block(plan, 3);
        plan.limits.ios = 4;
    };
    let (mut sequential, _) = stream(WRITE, [4, 4, 4], SPEC, limit);
    assert_eq!(blocks(&pass(&mut sequential)), [0, 4, 8, 12]);
    assert_eq!(sequential.zoning().n_resets(), 0);
    // With the option for remainders, the remainder is written as a short block.
    let (mut sequential, table) =
        stream(WRITE, [4, 4, 4], SequentialZonesSpec { writes_remainder: true, ..SPEC }, limit);
    assert_eq!(blocks(&pass(&mut sequential)), [0, 3, 4, 7]);
    assert_eq!((table.written(0), table.written(1), table.written(2)), (4 * BLOCK_BYTES, 4 * BLOCK_BYTES, 0));
    assert_eq!(sequential.zoning().n_resets(), 0);
}

/// A mix without writes (`rwmixwrite=0`) never writes, though there is nothing to read.
#[test]
fn a_mix_without_writes_never_writes() {
    for random in [false, true] {
        let first = [100, 99].map(|percent| {
            let mix = (DirectionMix::ReadWrite, random);
            let (mut stream, _) = stream(mix, [4, 4, 4], SPEC, |plan| plan.pattern.rwmix_read = percent);
            pass(&mut stream).first().map(|(direction, _)| *direction)
        });
        assert_eq!(first, [None, Some(Direction::Write)], "{random}");
    }
}

/// Two zones of 8 blocks that can be written anywhere, and two that are written in sequence: no block of 3 reaches from one
/// kind into the other, and every write to the latter is at its write pointer.
#[test]
fn no_block_reaches_into_a_zone_of_the_other_kind() {
    let border = 16 * BLOCK_BYTES;
    for (mix, random) in [WRITE, RANDWRITE, READ, RANDREAD] {
        for n_blocks in [3, 5, 7] {
            let mut plan = plan(mix, random);
            plan.files[0].length_bytes = 32 * BLOCK_BYTES;
            plan.files[0].file_bytes = 32 * BLOCK_BYTES;
            set_block(&mut plan, n_blocks);
            plan.pattern.norandommap = true;
            let table = Arc::new(table_behind(2, 8 * BLOCK_BYTES, 4));
            if mix == DirectionMix::Read {
                (2..4).for_each(|zone| table.found(zone, 8 * BLOCK_BYTES, ZoneActivity::None));
            }
            let mut stream = over(&table, plan, 1);
            let mut pointers = [0; 4];
            for _ in 0..200 {
                let io = match stream.draw() {
                    Next::Io(io) => io,
                    Next::Drain => {
                        stream.zoning().drained();
                        continue;
                    }
                    Next::PassEnd => break,
                    _ => continue,
                };
                let end_bytes = io.offset_bytes + io.length_bytes;
                assert!(io.offset_bytes >= border || end_bytes <= border, "{mix:?} {random} {n_blocks}: {io:?}");
                if mix == DirectionMix::Write && io.offset_bytes >= border {
                    let zone = (io.offset_bytes / (8 * BLOCK_BYTES)) as usize;
                    let at = io.offset_bytes % (8 * BLOCK_BYTES);
                    assert!(at == pointers[zone] || at == 0, "{random} {n_blocks}: {io:?} {pointers:?}");
                    pointers[zone] = at + io.length_bytes;
                }
                complete(&mut stream, &io);
            }
        }
    }
}

#[test]
fn no_more_zones_are_open_than_may_be() {
    let spec = SequentialZonesSpec { max_open: 2, ..SPEC };
    let (mut random, table) = stream(RANDWRITE, [8, 8, 8], spec, |plan| plan.pattern.norandommap = true);
    let mut written = Vec::new();
    while written.len() < 64 {
        let io = match random.draw() {
            Next::Io(io) => io,
            Next::Drain => {
                random.zoning().drained();
                continue;
            }
            other => panic!("{other:?} after {} I/Os", written.len()),
        };
        written.push(io.offset_bytes / BLOCK_BYTES);
        complete(&mut random, &io);
        assert!(table.with(|zones| zones.open_zones().count()) <= 2);
    }
    let expected = [
        56, 48, 49, 50, 51, 57, 58, 59, 60, 52, 53, 54, 61, 62, 63, 40, 55, 24, 25, 26, 41, 27, 42, 28, 29, 43, 30, 44,
        31, 0, 1, 45, 2, 3, 4, 46, 47, 40, 41, 5, 42, 43, 44, 45, 46, 47, 6, 40, 41, 7, 56, 57, 42, 43, 44, 58, 45, 46,
        47, 8, 59, 9, 10, 60,
    ];
    assert_eq!(written, expected);
}

#[test]
fn a_job_may_be_limited_to_less_than_all() {
    let spec = SequentialZonesSpec { max_open: 5, job_max_open: 1, ..SPEC };
    let (mut random, table) = stream(RANDWRITE, [8, 8, 8], spec, |plan| plan.limits.ios = 40);
    pass(&mut random);
    assert!(table.with(|zones| zones.open_zones().count()) <= 1);
}

/// Sizes of 1 to 16 blocks in four zones of 16, as fio 3.41 and 3.42 write them with `verify` and `randseed=66402651`.
/// A block that does not fit into the zone of its offset goes to a zone with room, as blocks 45 and 46 do, and no zone
/// is reset in a pass.
#[test]
fn a_verified_pass_fills_each_zone_once() {
    let mut plan = plan(DirectionMix::Write, true);
    plan.seeds = SeedTable::new(66_402_651, 1);
    // All directions of a verified job draw sizes from this seed.
    plan.seeds.set(SeedIndex::BlockSizeWrite, plan.seeds.get(SeedIndex::BlockSizeRead));
    plan.files[0].length_bytes = 64 * BLOCK_BYTES;
    plan.files[0].file_bytes = 64 * BLOCK_BYTES;
    plan.pattern.block_size = PerDirection::all(BlockRange { min_bytes: BLOCK_BYTES, max_bytes: 16 * BLOCK_BYTES });
    let table = Arc::new(table(16 * BLOCK_BYTES, 16 * BLOCK_BYTES, 4, 0));
    let sequential = SequentialPlan { keeps_written: true, ..sequential(SPEC, &table, 1) };
    let zones = SequentialZones::new(&sequential, &plan);
    let mut random = Stream::new(plan, zones).expect("the plan is possible");
    let mut written = Vec::new();
    loop {
        match random.draw() {
            Next::Io(io) => {
                written.push((io.offset_bytes / BLOCK_BYTES, io.length_bytes / BLOCK_BYTES));
                complete(&mut random, &io);
            }
            Next::Drain => random.zoning().drained(),
            Next::PassEnd => break,
            Next::Close(_) => {}
            other => panic!("{other:?} after {written:?}"),
        }
    }
    let expected = [
        (16, 12),
        (28, 4),
        (32, 13),
        (48, 2),
        (50, 8),
        (45, 1),
        (58, 1),
        (59, 2),
        (0, 5),
        (5, 1),
        (46, 1),
        (6, 5),
        (11, 2),
        (13, 3),
        (47, 1),
        (61, 3),
    ];
    assert_eq!(written, expected);
    assert_eq!(random.zoning().n_resets(), 0);
    assert!((0..4).all(|zone| table.written(zone) == 16 * BLOCK_BYTES));
}

/// Every fourth write resets its zone once a tenth of the range is written.
#[test]
fn zones_are_reset_without_need() {
    let spec = SequentialZonesSpec { reset_threshold: 0.1, reset_frequency: 0.25, ..SPEC };
    let change = |plan: &mut WorkloadPlan| {
        plan.pattern.norandommap = true;
        plan.limits.ios = 24;
    };
    let (mut random, _) = stream(RANDWRITE, [8, 8, 8], spec, change);
    let expected = [56, 48, 40, 32, 33, 57, 0, 8, 16, 49, 40, 34, 58, 24, 0, 41, 50, 25, 48, 35, 9, 26, 16, 36];
    assert_eq!(blocks(&pass(&mut random)), expected);
    assert_eq!(random.zoning().n_resets(), 4);
}

/// The share refers to sizes: with a capacity of half the size, a half is written when all zones are full.
#[test]
fn a_share_of_zones_is_one_of_their_sizes() {
    let reset = |reset_threshold: f64| {
        let spec = SequentialZonesSpec { reset_threshold, reset_frequency: 1.0, ..SPEC };
        let (mut writes, _) = stream(WRITE, [4, 4, 2], spec, |plan| plan.limits.ios = 8);
        let blocks = blocks(&pass(&mut writes));
        (blocks, writes.zoning().n_resets())
    };
    assert_eq!(reset(0.5), (vec![0, 1, 4, 5, 8, 9, 12, 13], 0));
    // From the fifth write on a quarter is written, because its own zone counts too.
    let (blocks, n_resets) = reset(0.3);
    assert_eq!(blocks, [0, 1, 4, 5, 8, 8, 8, 8]);
    assert_eq!(n_resets, 3);
}

/// The draws are 15 13 10 8 9 0 1 3 5 14 11 12 2 6 4 7; the last block of a full zone cannot be read, as in fio 3.41.
#[test]
fn reads_go_to_the_nearest_zone_that_holds_data() {
    let (mut random, table) = stream(RANDREAD, [4, 4, 4], SPEC, |_| ());
    table.found(1, 4 * BLOCK_BYTES, ZoneActivity::None);
    let drawn: [u64; 16] = [15, 13, 10, 8, 9, 0, 1, 3, 5, 14, 11, 12, 2, 6, 4, 7];
    assert_eq!(blocks(&pass(&mut random)), drawn.map(|block| 4 + block % 4 % 3));
    // Of two zones at the same distance, the one after is taken.
    table.found(3, 2 * BLOCK_BYTES, ZoneActivity::None);
    let mut random = over(&table, plan(DirectionMix::Read, true), 2);
    let zones: Vec<u64> = blocks(&pass(&mut random)).iter().map(|block| block / 4).collect();
    assert_eq!(zones, drawn.map(|block| if block / 4 >= 2 { 3 } else { 1 }));
}

#[test]
fn reads_in_sequence_leave_out_what_was_not_written() {
    let (mut sequential, table) = stream(READ, [4, 4, 4], SPEC, |_| ());
    assert!(pass(&mut sequential).is_empty());
    table.found(1, 3 * BLOCK_BYTES, ZoneActivity::None);
    table.found(3, BLOCK_BYTES, ZoneActivity::None);
    assert_eq!(blocks(&pass(&mut sequential)), [4, 5, 6, 12]);
    let beyond = SequentialZonesSpec { reads_beyond_written: true, ..SPEC };
    let (mut sequential, _) = stream(READ, [4, 4, 4], beyond, |_| ());
    assert_eq!(pass(&mut sequential).len(), 16);
}

#[test]
fn what_cannot_be_read_yet_is_written() {
    let (mut mixed, _) = stream((DirectionMix::ReadWrite, true), [4, 4, 4], SPEC, |_| ());
    let read = |block| (Direction::Read, block);
    let write = |block| (Direction::Write, block);
    let expected = [
        write(12),
        read(12),
        read(12),
        write(8),
        read(8),
        read(8),
        write(0),
        write(1),
        write(4),
        read(12),
        write(9),
        read(12),
        write(2),
        read(4),
        read(4),
        read(4),
    ];
    assert_eq!(pass(&mut mixed), expected);
}

#[test]
fn zones_may_be_left_out() {
    let spec = SequentialZonesSpec { skip: ZoneSkip::Zones(1), ..SPEC };
    let (mut sequential, _) = stream(WRITE, [4, 4, 4], spec, |plan| plan.limits.ios = 16);
    assert_eq!(blocks(&pass(&mut sequential)), [0, 1, 2, 3, 8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11]);
}

#[test]
fn trims_empty_zones() {
    let change = |plan: &mut WorkloadPlan| set_block(plan, 4);
    let (mut random, table) = stream((DirectionMix::Trim, true), [4, 4, 4], SPEC, change);
    assert!(pass(&mut random).is_empty(), "there is nothing to be trimmed");
    table.found(2, BLOCK_BYTES, ZoneActivity::None);
    assert_eq!(blocks(&pass(&mut random)), [8]);
    assert_eq!((table.written(2), random.zoning().n_resets()), (0, 0));
    let (mut sequential, _) = stream((DirectionMix::Trim, false), [4, 4, 3], SPEC, change);
    assert_eq!(blocks(&pass(&mut sequential)), [0, 4, 8, 12]);
}

#[test]
fn jobs_share_their_zones() {
    let (mut first, table) = stream(WRITE, [4, 4, 4], SPEC, |plan| plan.limits.ios = 6);
    pass(&mut first);
    let mut plan = plan(DirectionMix::Write, false);
    plan.limits.ios = 6;
    let mut second = over(&table, plan, 2);
    assert_eq!(blocks(&pass(&mut second)), [0, 1, 2, 3, 6, 7]);
    assert_eq!(second.zoning().n_resets(), 1);
}
