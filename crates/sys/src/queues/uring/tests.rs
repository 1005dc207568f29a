//! Tests of rings on a real file, in every form.

use super::*;
use crate::memory::arena::{Arena, ArenaKind, ArenaRequest};
use crate::test_support::TempDir;
use ferrio_testing::skip;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};

const BLOCK: usize = 4096;
const DEPTH: u32 = 8;

fn arena() -> Arena {
    let size_bytes = BLOCK * DEPTH as usize;
    Arena::new(&ArenaRequest { kind: ArenaKind::Malloc, size_bytes, offset_bytes: 0, hugepage_bytes: 0 }).unwrap()
}

fn ring(request: &RingRequest, test: &str) -> Option<IoRing> {
    IoRing::new(request).inspect_err(|error| skip!(test, "{error}")).ok()
}

fn open(dir: &TempDir) -> File {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false).open(dir.path().join("file")).unwrap()
}

fn io(is_write: bool, fd: RingFd, form: BufferForm, arena: &Arena, slot: u32) -> RingIo {
    let offset = slot as usize * BLOCK;
    RingIo {
        is_write,
        fd,
        region: arena.region(offset, BLOCK),
        form,
        offset: offset as u64,
        rw_flags: 0,
        io_priority: 0,
        is_forced_async: slot == 1,
    }
}

/// Pushes one I/O for each slot and reaps them all.
fn run_all(ring: &mut IoRing, is_write: bool, fd: RingFd, form: BufferForm, arena: &Arena) {
    for slot in 0..DEPTH {
        // SAFETY: the callers keep arena and file until the requests are reaped below; each slot is used once.
        assert!(unsafe { ring.push_io(slot, &io(is_write, fd, form, arena, slot)) });
    }
    let mut seen = vec![0; DEPTH as usize];
    while ring.n_outstanding() > 0 {
        ring.submit_and_wait(3).unwrap();
        ring.pop(5, |completion| {
            assert_eq!(completion.result, BLOCK as i32);
            seen[completion.slot as usize] += 1;
        });
    }
    assert_eq!(seen, vec![1; DEPTH as usize]);
}

fn write_and_read_back(ring: &mut IoRing, fd: RingFd, form: BufferForm, arena: &mut Arena) {
    (0..DEPTH as usize).for_each(|slot| arena.slice_mut(slot * BLOCK, BLOCK).fill(slot as u8 + 1));
    run_all(ring, true, fd, form, arena);
    arena.slice_mut(0, BLOCK * DEPTH as usize).fill(0);
    run_all(ring, false, fd, form, arena);
    for slot in 0..DEPTH as usize {
        assert!(arena.slice(slot * BLOCK, BLOCK).iter().all(|&byte| byte == slot as u8 + 1));
    }
}

#[test]
fn what_is_written_is_read_back_in_every_form() {
    let dir = TempDir::new("uring");
    let file = open(&dir);
    let mut arena = arena();
    let Some(mut ring) = ring(&RingRequest::new(DEPTH), "what_is_written_is_read_back_in_every_form") else { return };
    let open = RingFd::Open(file.as_raw_fd());
    assert!(ring.supports_plain_io());
    write_and_read_back(&mut ring, open, BufferForm::Plain, &mut arena);
    write_and_read_back(&mut ring, open, BufferForm::Vector, &mut arena);
    // SAFETY: the arena is dropped after the ring.
    unsafe { ring.register_buffers(&[arena.whole()]) }.unwrap();
    ring.register_file_table(2).unwrap();
    ring.set_registered_file(1, Some(file.as_fd())).unwrap();
    write_and_read_back(&mut ring, RingFd::Registered(1), BufferForm::Registered(0), &mut arena);
    write_and_read_back(&mut ring, RingFd::Registered(1), BufferForm::Vector, &mut arena);
    ring.set_registered_file(1, None).unwrap();
    // SAFETY: the place in the table is empty, which is an error of the request.
    assert!(unsafe { ring.push_sync(0, RingFd::Registered(1), SyncKind::All) });
    ring.submit_and_wait(1).unwrap();
    assert_eq!(ring.pop(1, |completion| assert_eq!(completion.result, -libc::EBADF)), 1);
    drop(ring);
}

#[test]
fn a_polling_kernel_thread_takes_requests() {
    let dir = TempDir::new("uring-sqpoll");
    let file = open(&dir);
    let mut arena = arena();
    let sqpoll = Some(SqPoll { idle_ms: 1, cpu: Some(crate::processes::scheduling::current_cpu()) });
    let request = RingRequest { sqpoll, ..RingRequest::new(DEPTH) };
    let Some(mut ring) = ring(&request, "a_polling_kernel_thread_takes_requests") else { return };
    for _ in 0..3 {
        write_and_read_back(&mut ring, RingFd::Open(file.as_raw_fd()), BufferForm::Plain, &mut arena);
    }
}

#[test]
fn room_behind_a_polling_kernel_thread_is_waited_for() {
    // Room for both completions, of which the second would else wait for the first to be popped.
    let sqpoll = Some(SqPoll { idle_ms: 1, cpu: None });
    let request = RingRequest { sqpoll, completion_entries: 2, ..RingRequest::new(1) };
    let Some(mut ring) = ring(&request, "room_behind_a_polling_kernel_thread_is_waited_for") else { return };
    for _ in 0..3 {
        // The thread has long gone to sleep: the queue stays full until it is woken.
        std::thread::sleep(std::time::Duration::from_millis(50));
        let mut n_pushed = 0;
        while n_pushed < 2 {
            if ring.push_nop(0) {
                n_pushed += 1;
            } else {
                ring.wait_for_room().unwrap();
            }
        }
        ring.submit_and_wait(2).unwrap();
        assert_eq!(ring.pop(2, |completion| assert_eq!(completion.result, 0)), 2);
    }
}

#[test]
fn blocks_of_a_device_are_discarded() {
    let Some(device) = crate::test_support::LoopDevice::new("discard", 1 << 20) else {
        skip!("blocks_of_a_device_are_discarded", "no loop device can be set up");
        return;
    };
    let file = File::options().read(true).write(true).open(device.path()).unwrap();
    let Some(mut ring) = ring(&RingRequest::new(2), "blocks_of_a_device_are_discarded") else { return };
    let mut block = [1; 3 * BLOCK];
    std::os::unix::fs::FileExt::write_all_at(&file, &block, 0).unwrap();
    file.sync_all().unwrap();
    let discard = Discard { offset: BLOCK as u64, length: BLOCK as u64 };
    // SAFETY: the file outlives the request, which is reaped below.
    assert!(unsafe { ring.push_discard(1, RingFd::Open(file.as_raw_fd()), discard) });
    ring.submit_and_wait(1).unwrap();
    let mut result = 1;
    ring.pop(1, |completion| result = completion.result);
    if result == -libc::EOPNOTSUPP || result == -libc::EINVAL {
        skip!("blocks_of_a_device_are_discarded", "this kernel does not discard by a ring");
        return;
    }
    assert_eq!(result, 0);
    std::os::unix::fs::FileExt::read_exact_at(&file, &mut block, 0).unwrap();
    let expected: Vec<u8> = [1, 0, 1].iter().flat_map(|byte| [*byte; BLOCK]).collect();
    assert!(block[..] == expected[..]);
}

#[test]
fn syncs_complete() {
    let dir = TempDir::new("uring-sync");
    let file = open(&dir);
    file.set_len(BLOCK as u64).unwrap();
    let Some(mut ring) = ring(&RingRequest::new(4), "syncs_complete") else { return };
    let fd = RingFd::Open(file.as_raw_fd());
    let range = SyncKind::Range { offset: 0, len: BLOCK as u32, flags: 2 };
    for (slot, kind) in [SyncKind::All, SyncKind::Data, range].into_iter().enumerate() {
        // SAFETY: the file outlives the requests, which are reaped below.
        assert!(unsafe { ring.push_sync(slot as u32, fd, kind) });
    }
    assert!(ring.push_nop(3));
    assert_eq!((ring.n_unsubmitted(), ring.n_outstanding()), (4, 4));
    ring.submit_and_wait(u32::MAX).unwrap();
    let mut results = vec![1; 4];
    assert_eq!(ring.pop(u32::MAX, |completion| results[completion.slot as usize] = completion.result), 4);
    assert_eq!((results, ring.n_outstanding()), (vec![0; 4], 0));
    ring.submit_and_wait(1).unwrap();
    assert_eq!(ring.pop(1, |_| ()), 0, "nothing outstanding: no wait");
}

#[test]
fn looking_without_waiting_finds_deferred_completions() {
    let Some(mut ring) = ring(&RingRequest::new(2), "looking_without_waiting_finds_deferred_completions") else {
        return;
    };
    assert!(ring.push_nop(0) && ring.push_nop(1));
    assert!(!ring.push_nop(0), "the submission queue is full");
    let mut n_popped = 0;
    while n_popped < 2 {
        ring.submit_and_wait(0).unwrap();
        n_popped += ring.pop(1, |_| ());
    }
    assert_eq!((n_popped, ring.submit()), (2, Ok(0)));
}

#[test]
fn dropping_waits_for_what_is_in_flight() {
    let dir = TempDir::new("uring-drop");
    let file = open(&dir);
    let arena = arena();
    let Some(mut ring) = ring(&RingRequest::new(2), "dropping_waits_for_what_is_in_flight") else { return };
    let write = io(true, RingFd::Open(file.as_raw_fd()), BufferForm::Plain, &arena, 1);
    // SAFETY: arena and file outlive the ring, whose drop waits.
    assert!(unsafe { ring.push_io(1, &write) });
    drop(ring);
    assert_eq!(file.metadata().unwrap().len(), 2 * BLOCK as u64);
}

#[test]
fn a_ring_that_cannot_be_is_an_error() {
    let error = IoRing::new(&RingRequest {
        sqpoll: Some(SqPoll { idle_ms: 0, cpu: Some(crate::processes::scheduling::MAX_CPUS) }),
        ..RingRequest::new(4)
    });
    assert!(error.unwrap_err().errno().is_some());
}

/// A thread has room for 16 rings in its table.
#[test]
fn a_ring_without_a_place_in_the_table_is_entered_by_its_descriptor() {
    let test = "a_ring_without_a_place_in_the_table_is_entered_by_its_descriptor";
    let rings: Option<Vec<IoRing>> = (0..20).map(|_| ring(&RingRequest::new(1), test)).collect();
    let Some(mut rings) = rings else { return };
    let n_in_table = rings.iter().filter(|ring| ring.entry.is_in_table()).count();
    assert!(n_in_table <= 16, "{n_in_table}");
    for ring in &mut rings {
        assert!(ring.push_nop(0));
        ring.submit_and_wait(1).expect("the kernel is entered");
        assert_eq!(ring.pop(1, |completion| assert_eq!(completion.result, 0)), 1);
    }
}

#[test]
fn a_ring_that_is_dropped_leaves_its_place() {
    let is_in_table =
        || Some(ring(&RingRequest::new(1), "a_ring_that_is_dropped_leaves_its_place")?.entry.is_in_table());
    let Some(first) = is_in_table() else { return };
    for _ in 0..20 {
        assert_eq!(is_in_table(), Some(first));
    }
}
