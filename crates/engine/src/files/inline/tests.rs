//! The synchronous engines on real files.

use super::{Running, Transfer};
use crate::contract::{CallStamps, Cancellation, Engine, EngineFile, IoResult, IoUnit, OpenTarget, Queued};
use crate::files::fd_table::FdTable;
use crate::testing::{
    BLOCK, N_BLOCKS, Rig, RigOptions, TestFile, check_closed_file, check_end_of_file, check_file_engine, given, setup,
};
use ferrio_sys::{Clock, Errno};
use ferrio_testing::skip_part;
use ferrio_units::Direction;
use std::os::fd::{AsFd, BorrowedFd};

const SYNCHRONOUS: [&str; 5] = ["sync", "psync", "vsync", "pvsync", "pvsync2"];

fn at_depth(iodepth: u32) -> RigOptions {
    RigOptions { iodepth, ..RigOptions::default() }
}

#[test]
fn files_are_read_written_and_synced() {
    for name in SYNCHRONOUS {
        for depth in [1, 2, 8] {
            check_file_engine(name, || at_depth(depth));
        }
        check_end_of_file(name, at_depth(4));
        check_closed_file(name, at_depth(4));
    }
}

#[test]
fn direct_io_reads_and_writes() {
    for name in SYNCHRONOUS {
        check_file_engine(name, || RigOptions { direct: true, ..at_depth(4) });
    }
}

#[test]
fn the_sync_engine_finds_its_place_again_after_an_error() {
    let file = TestFile::new("sync");
    let mut rig = Rig::new("sync", Some(&file), at_depth(1)).unwrap();
    let failing = IoUnit { file_index: 1, ..rig.unit(Direction::Read, 0) };
    assert_eq!(rig.one(rig.unit(Direction::Read, 3)), BLOCK as i64);
    // The engine refuses the closed file before it moves the position, so that the position is right without an lseek.
    assert_eq!(rig.one(failing), -i64::from(libc::EBADF));
    let unit = rig.unit(Direction::Read, 4);
    rig.run(&[unit], |_, _| (), |_, buffer, _| assert_eq!(buffer[0], 5));
}

#[test]
fn vsync_gives_short_counts_to_the_units_at_the_end_of_the_file() {
    let file = TestFile::new("vsync");
    let mut rig = Rig::new("vsync", Some(&file), at_depth(4)).unwrap();
    let start = ((N_BLOCKS - 1) * BLOCK + 96) as u64;
    let units: Vec<_> = (0..3)
        .map(|index| IoUnit { offset_bytes: start + (index * BLOCK) as u64, ..rig.unit(Direction::Read, 0) })
        .collect();
    let results = rig.run(&units, |_, _| (), |_, _, _| ());
    assert_eq!(results, vec![BLOCK as i64 - 96, 0, 0]);
}

#[test]
fn pvsync2_explains_a_refused_option() {
    let file = TestFile::new("pvsync2");
    let options = RigOptions { options: given("pvsync2", &[("nowait", "1")]), ..at_depth(1) };
    let rig = Rig::new("pvsync2", Some(&file), options).unwrap();
    let unit = rig.unit(Direction::Read, 0);
    assert!(rig.engine.hint(&unit, libc::EAGAIN).is_some_and(|hint| hint.contains("nowait")));
    assert!(rig.engine.hint(&unit, libc::EIO).is_none());
}

#[test]
fn uncached_io_works_or_is_explained() {
    for name in ["pvsync2", "io_uring"] {
        let file = TestFile::new(name);
        let options = RigOptions { options: given(name, &[("uncached", "1")]), ..at_depth(1) };
        let Ok(mut rig) = Rig::new(name, Some(&file), options) else {
            skip_part!("uncached_io_works_or_is_explained", "no {name}");
            continue;
        };
        let unit = rig.unit(Direction::Read, 3);
        let result = rig.one(unit);
        if result < 0 {
            assert!(rig.engine.hint(&unit, -result as i32).is_some_and(|hint| hint.contains("uncached")), "{result}");
        } else {
            assert_eq!(result, BLOCK as i64);
        }
    }
}

#[test]
fn pvsync2_refuses_a_percentage_above_100() {
    let options = RigOptions { options: given("pvsync2", &[("hipri_percentage", "101")]), ..at_depth(1) };
    let error = Rig::new("pvsync2", None, options).err().unwrap();
    assert_eq!(error.to_string(), "pvsync2: option hipri_percentage=101: allowed: 0 to 100");
    assert_eq!(error.errno(), libc::EINVAL);
}

/// A call that takes 100 ns to read, 200 ns to write and 300 ns to sync.
struct Slow(Clock);

impl Transfer for Slow {
    fn control(&mut self, _: &FdTable, unit: &IoUnit) -> IoResult {
        self.0.advance(300);
        IoResult::done(unit.length_bytes)
    }

    fn read(&mut self, _: BorrowedFd<'_>, _: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.0.advance(100);
        Ok(buffer.len())
    }

    fn write(&mut self, _: BorrowedFd<'_>, _: &IoUnit, _: &[u8]) -> Result<usize, Errno> {
        self.0.advance(200);
        Err(Errno::NOSPC)
    }
}

#[test]
fn stamps_lie_beside_the_call() {
    let file = TestFile::new("stamps");
    let unit = Rig::new("psync", Some(&file), at_depth(1)).unwrap().unit(Direction::Read, 0);
    let open = std::fs::File::open(file.path()).unwrap();
    let clock = Clock::new_virtual();
    let mut engine = Running::new(Slow(clock.clone()), setup(1, &clock));
    let target = OpenTarget::Descriptor(open.as_fd());
    let opened = EngineFile {
        index: 0,
        target,
        writable: false,
        range_start: 0,
        range_bytes: 1,
        random: false,
        cancellation: Cancellation::ENDLESS,
    };
    engine.open_file(&opened).unwrap();
    let length = IoResult::done(BLOCK);
    let no_space = IoResult::failed(libc::ENOSPC);
    let mut start = 0;
    for (direction, took_ns, result) in
        [(Direction::Read, 100, length), (Direction::Write, 200, no_space), (Direction::Sync, 300, length)]
    {
        let unit = IoUnit { direction, ..unit };
        let expected = CallStamps { before: start, after: start + took_ns };
        assert_eq!(engine.queue_timed(0, &unit, &clock), (Queued::Completed(result), expected), "{direction:?}");
        assert_eq!(engine.queue(0, &unit), Queued::Completed(result), "{direction:?}");
        start += 2 * took_ns;
    }
    let without_file = IoUnit { file_index: 1, ..unit };
    let at_once = CallStamps { before: start, after: start };
    let refused = Queued::Completed(IoResult::failed(libc::EBADF));
    assert_eq!(engine.queue_timed(0, &without_file, &clock), (refused, at_once));
}
