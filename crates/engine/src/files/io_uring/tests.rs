//! The engine on real files, with every option.

use super::{FdTable, failed};
use crate::contract::{Completion, IoResult, IoUnit, Queued};
use crate::testing::{BLOCK, LoopedTestFile, Rig, RigOptions, TestFile, check_end_of_file, check_file_engine, given};
use ferrio_sys::uring::RingCompletion;
use ferrio_testing::{skip, skip_part};
use ferrio_units::Direction;

fn options(iodepth: u32, direct: bool, options: &[(&str, &str)]) -> RigOptions {
    RigOptions { iodepth, direct, options: given("io_uring", options), ..RigOptions::default() }
}

#[test]
fn files_are_read_written_and_synced_with_every_option() {
    let cases: [&[(&str, &str)]; 8] = [
        &[],
        &[("fixedbufs", "1")],
        &[("registerfiles", "1")],
        &[("fixedbufs", "1"), ("registerfiles", "1")],
        &[("nonvectored", "0")],
        &[("nonvectored", "1"), ("force_async", "3")],
        &[("sqthread_poll", "1")],
        &[("sqthread_poll", "1"), ("fixedbufs", "1")],
    ];
    for case in cases {
        for (depth, direct) in [(1, false), (8, false), (1, true), (8, true)] {
            check_file_engine("io_uring", || options(depth, direct, case));
        }
    }
}

#[test]
fn the_end_of_the_file_is_found() {
    if Rig::new("io_uring", None, options(1, false, &[])).is_ok() {
        check_end_of_file("io_uring", options(4, false, &[]));
    }
}

#[test]
fn a_bad_descriptor_is_a_result() {
    let file = TestFile::new("io_uring");
    let Ok(mut rig) = Rig::new("io_uring", Some(&file), options(4, false, &[])) else { return };
    let good = rig.unit(Direction::Read, 1);
    let bad = IoUnit { file_index: 1, ..good };
    let refused = -i64::from(libc::EBADF);
    assert_eq!(rig.run(&[good, bad, good], |_, _| (), |_, _, _| ()), [BLOCK as i64, refused, BLOCK as i64]);
}

#[test]
fn a_closed_file_is_out_of_the_table() {
    let file = TestFile::new("io_uring");
    let Ok(mut rig) = Rig::new("io_uring", Some(&file), options(1, false, &[("registerfiles", "1")])) else { return };
    let unit = rig.unit(Direction::Read, 1);
    assert_eq!(rig.one(unit), BLOCK as i64);
    rig.engine.close_file(0);
    assert_eq!(rig.one(unit), -i64::from(libc::EBADF));
}

#[test]
fn a_trim_waits_until_what_was_queued_is_submitted_and_a_sync_goes_along() {
    let file = TestFile::new("io_uring");
    let Ok(mut rig) = Rig::new("io_uring", Some(&file), options(4, false, &[])) else { return };
    let [write, sync, trim] =
        [Direction::Write, Direction::Sync, Direction::Trim].map(|direction| rig.unit(direction, 1));
    assert_eq!(rig.engine.queue(0, &write), Queued::Queued);
    assert_eq!(rig.engine.queue(1, &sync), Queued::Queued);
    assert_eq!(rig.engine.queue(2, &trim), Queued::Busy);
    assert_eq!(rig.engine.commit().unwrap(), 2);
    assert_eq!(rig.engine.commit().unwrap(), 0);
    assert_eq!(rig.engine.queue(2, &trim), Queued::Completed(IoResult::failed(libc::ENOTTY)));
    let mut completions = Vec::with_capacity(4);
    rig.engine.reap(4, 4, &mut completions).unwrap();
    completions.sort_by_key(|completion| completion.unit_index);
    let done = |unit_index| Completion { unit_index, result: IoResult::done(BLOCK) };
    assert_eq!(completions, [done(0), done(1)]);
}

fn loop_device(test: &str) -> Option<LoopedTestFile> {
    LoopedTestFile::new("io_uring").inspect_err(|reason| skip!(test, "{reason}")).ok()
}

#[test]
fn trims_of_a_block_device_are_in_flight_together() {
    let test = "trims_of_a_block_device_are_in_flight_together";
    let Some(device) = loop_device(test) else { return };
    for (way, is_by_ring) in [("fixedbufs", true), ("registerfiles", true), ("sqthread_poll", true), ("hipri", false)] {
        let Ok(mut rig) = Rig::on_path("io_uring", Some(device.path()), options(4, false, &[(way, "1")])) else {
            skip_part!(test, "with {way}: no such ring");
            continue;
        };
        let done = |unit_index| Completion { unit_index, result: IoResult::done(BLOCK) };
        let mut completions = Vec::with_capacity(4);
        for slot in 0..4 {
            let trim = rig.unit(Direction::Trim, slot as usize);
            let expected = if is_by_ring { Queued::Queued } else { Queued::Completed(IoResult::done(BLOCK)) };
            assert_eq!(rig.engine.queue(slot, &trim), expected, "{way}");
        }
        if !is_by_ring {
            continue;
        }
        assert_eq!(rig.engine.commit().unwrap(), 4, "{way}");
        rig.engine.reap(4, 4, &mut completions).unwrap();
        completions.sort_by_key(|completion| completion.unit_index);
        assert_eq!(completions, [0, 1, 2, 3].map(done), "{way}");
    }
}

#[test]
fn a_trim_that_the_ring_refuses_is_done_in_the_thread() {
    let Some(device) = loop_device("a_trim_that_the_ring_refuses_is_done_in_the_thread") else { return };
    let Ok(mut rig) = Rig::on_path("io_uring", Some(device.path()), options(4, false, &[])) else { return };
    let (trim, read) = (rig.unit(Direction::Trim, 1), rig.unit(Direction::Read, 1));
    let mut fds = FdTable::new(1);
    rig.with_file(|file| fds.open(file));
    for errno in [libc::EOPNOTSUPP, libc::EINVAL] {
        let (mut trims, mut by_ring) = ([None, Some(trim)], [true]);
        let refused = RingCompletion { slot: 1, result: -errno };
        assert_eq!(failed(refused, &mut trims, &mut by_ring, &fds).number(), BLOCK as i64);
        assert_eq!((trims[1].is_none(), by_ring), (true, [false]));
    }
    rig.run(&[read], |_, _| (), |_, buffer, _| assert!(buffer.iter().all(|byte| *byte == 0)));
    // Any other error comes from the device. An error of a slot without a trim is not the error of a trim.
    let (mut trims, mut by_ring) = ([Some(trim), None], [true]);
    let completion = |slot, errno: i32| RingCompletion { slot, result: -errno };
    assert_eq!(failed(completion(0, libc::EIO), &mut trims, &mut by_ring, &fds).number(), -i64::from(libc::EIO));
    assert_eq!(failed(completion(1, libc::EINVAL), &mut trims, &mut by_ring, &fds).number(), -i64::from(libc::EINVAL));
    assert_eq!(by_ring, [true]);
}

#[test]
fn an_error_after_a_trim_in_its_slot_trims_nothing() {
    let Some(device) = loop_device("an_error_after_a_trim_in_its_slot_trims_nothing") else { return };
    let Ok(mut rig) = Rig::on_path("io_uring", Some(device.path()), options(1, false, &[])) else { return };
    let (trim, write, read) =
        (rig.unit(Direction::Trim, 1), rig.unit(Direction::Write, 1), rig.unit(Direction::Read, 1));
    assert_eq!(rig.one(trim), BLOCK as i64);
    assert_eq!(rig.run(&[write], |_, buffer| buffer.fill(7), |_, _, _| ()), [BLOCK as i64]);
    assert_eq!(rig.one(IoUnit { offset_bytes: 1 << 63, ..read }), -i64::from(libc::EINVAL));
    rig.run(&[read], |_, _| (), |_, buffer, _| assert!(buffer.iter().all(|byte| *byte == 7)));
}

#[test]
fn a_polling_kernel_thread_that_lags_is_waited_for() {
    let file = TestFile::new("io_uring");
    for case in [&[("sqthread_poll", "1")][..], &[("sqthread_poll", "1"), ("fixedbufs", "1")]] {
        for depth in [1, 2, 3] {
            let Ok(mut rig) = Rig::new("io_uring", Some(&file), options(depth, false, case)) else { return };
            let unit = rig.unit(Direction::Read, 1);
            let mut completions = Vec::with_capacity(1);
            for _ in 0..3_000 {
                // Nothing is in flight: the engine has no reason to be busy.
                assert_eq!(rig.engine.queue(0, &unit), Queued::Queued);
                assert_eq!(rig.engine.commit().unwrap(), 1);
                completions.clear();
                rig.engine.reap(1, 1, &mut completions).unwrap();
                assert_eq!(completions, [Completion { unit_index: 0, result: IoResult::done(BLOCK) }]);
            }
        }
    }
}

#[test]
fn dropping_the_engine_waits_for_what_is_in_flight() {
    let file = TestFile::new("io_uring");
    let Ok(mut rig) = Rig::new("io_uring", Some(&file), options(4, true, &[])) else { return };
    rig.arena.borrow_mut().slice_mut(0, BLOCK).fill(0xee);
    let unit = rig.unit(Direction::Write, 2);
    rig.engine.queue(0, &unit);
    rig.engine.commit().unwrap();
    drop(rig);
    assert!(file.contents()[2 * BLOCK..3 * BLOCK].iter().all(|&byte| byte == 0xee));
}

#[test]
fn what_the_kernel_refuses_is_explained() {
    let file = TestFile::new("io_uring");
    let Ok(mut rig) = Rig::new("io_uring", Some(&file), options(1, true, &[("hipri", "1")])) else { return };
    let unit = rig.unit(Direction::Read, 0);
    let result = rig.one(unit);
    if result < 0 {
        let hint = rig.engine.hint(&unit, -result as i32);
        assert!(hint.is_some_and(|hint| hint.contains("hipri")), "{result}: {hint:?}");
    }
    // A ring that polls takes no syncs: they are done in the thread.
    assert_eq!(rig.one(rig.unit(Direction::Sync, 0)), BLOCK as i64);
}
