//! Tests of native AIO on a real file, with both ways to reap.

use super::*;
use crate::memory::arena::{Arena, ArenaKind, ArenaRequest};
use crate::test_support::TempDir;
use ferrio_testing::skip;
use std::os::fd::AsRawFd;

const BLOCK: usize = 4096;
const DEPTH: u32 = 8;

fn arena() -> Arena {
    let size_bytes = BLOCK * DEPTH as usize;
    Arena::new(&ArenaRequest { kind: ArenaKind::Malloc, size_bytes, offset_bytes: 0, hugepage_bytes: 0 }).unwrap()
}

fn context(reaps_in_user_space: bool, test: &str) -> Option<AioContext> {
    AioContext::new(DEPTH, reaps_in_user_space).inspect_err(|error| skip!(test, "{error}")).ok()
}

fn request(operation: AioOperation, file: &std::fs::File, arena: &Arena, slot: u32) -> AioRequest {
    let offset = slot as usize * BLOCK;
    let region = arena.region(offset, BLOCK);
    AioRequest { operation, fd: file.as_raw_fd(), region, offset: offset as u64, io_priority: 0, rw_flags: 0 }
}

#[test]
fn layouts_are_those_of_the_kernel() {
    assert_eq!((size_of::<ControlBlock>(), size_of::<IoEvent>()), (64, 32));
    assert_eq!((std::mem::offset_of!(ControlBlock, buffer), std::mem::offset_of!(ControlBlock, flags)), (24, 56));
}

#[test]
fn what_is_written_is_read_back_with_both_ways_to_reap() {
    for reaps_in_user_space in [false, true] {
        let Some(mut context) = context(reaps_in_user_space, "what_is_written_is_read_back") else { return };
        assert_eq!(context.reaps_in_user_space(), reaps_in_user_space, "the ring has the known form");
        let dir = TempDir::new("aio");
        let mut options = std::fs::File::options();
        let file = options.read(true).write(true).create(true).truncate(false).open(dir.path().join("file")).unwrap();
        let mut arena = arena();
        let plain = [AioOperation::Write, AioOperation::Read];
        let by_vector = [AioOperation::WriteVector, AioOperation::ReadVector];
        for operation in [plain, by_vector].concat() {
            let is_write = matches!(operation, AioOperation::Write | AioOperation::WriteVector);
            let byte_of = |slot: u32| if is_write { slot as u8 + 1 } else { 0 };
            (0..DEPTH).for_each(|slot| arena.slice_mut(slot as usize * BLOCK, BLOCK).fill(byte_of(slot)));
            for slot in 0..DEPTH {
                // SAFETY: arena and file outlive the context's requests, which are all reaped below; slots are used once.
                assert!(unsafe { context.push(slot, &request(operation, &file, &arena, slot)) });
            }
            // SAFETY: refused, so the kernel gets nothing.
            assert!(!unsafe { context.push(0, &request(operation, &file, &arena, 0)) });
            assert_eq!((context.n_queued(), context.submit(), context.n_in_flight()), (DEPTH, Ok(DEPTH), DEPTH));
            let mut seen = vec![0; DEPTH as usize];
            let mut n_reaped = 0;
            while n_reaped < DEPTH {
                n_reaped += context
                    .reap(3, 5, |completion| {
                        assert_eq!(completion.result, BLOCK as i64);
                        seen[completion.slot as usize] += 1;
                    })
                    .unwrap();
            }
            assert_eq!((seen, context.n_in_flight()), (vec![1; DEPTH as usize], 0));
        }
        for slot in 0..DEPTH as usize {
            assert!(arena.slice(slot * BLOCK, BLOCK).iter().all(|&byte| byte == slot as u8 + 1));
        }
        assert_eq!(context.reap(4, 4, |_| ()), Ok(0), "nothing in flight: no wait");
    }
}

#[test]
fn a_bad_descriptor_is_refused_and_can_be_taken_out() {
    let Some(mut context) = context(false, "a_bad_descriptor_is_refused_and_can_be_taken_out") else { return };
    let arena = arena();
    let file = std::fs::File::open("/dev/null").unwrap();
    let bad = AioRequest { fd: -1, ..request(AioOperation::Read, &file, &arena, 3) };
    // SAFETY: arena and file outlive the requests; the bad one is refused.
    unsafe {
        assert!(context.push(3, &bad));
        assert!(context.push(4, &request(AioOperation::Read, &file, &arena, 4)));
    }
    assert_eq!(context.submit(), Err(Errno::BADF));
    assert_eq!((context.drop_oldest(), context.n_queued()), (Some(3), 1));
    // /dev/null may take asynchronous reads or refuse them, by kernel; the slot is the other one in any case.
    if context.submit() == Ok(1) {
        assert_eq!(context.reap(1, 1, |completion| assert_eq!(completion.slot, 4)), Ok(1));
    } else {
        assert_eq!(context.drop_oldest(), Some(4));
    }
    assert_eq!((context.submit(), context.drop_oldest()), (Ok(0), None));
}

#[test]
fn dropping_waits_for_what_is_in_flight() {
    let Some(mut context) = context(true, "dropping_waits_for_what_is_in_flight") else { return };
    let dir = TempDir::new("aio-drop");
    let file = std::fs::File::create(dir.path().join("file")).unwrap();
    let arena = arena();
    // SAFETY: arena and file outlive the context, whose drop waits.
    assert!(unsafe { context.push(0, &request(AioOperation::Write, &file, &arena, 0)) });
    assert_eq!(context.submit(), Ok(1));
    drop(context);
    assert_eq!(file.metadata().unwrap().len(), BLOCK as u64);
}

#[test]
fn a_depth_beyond_the_system_limit_is_an_error_that_names_it() {
    let error = AioContext::new(i32::MAX as u32, false).unwrap_err();
    assert!(error.errno().is_some() && error.to_string().contains("aio-max-nr"), "{error}");
}
