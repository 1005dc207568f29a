//! Tests of processes: the work of a child is visible through its exit code, a socket or shared memory.

use super::*;
use crate::memory::shared_memory::SharedMemory;
use ferrio_testing::skip_part;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

#[test]
fn exit_codes_panics_and_signals_come_back() {
    let cases: [(fn() -> i32, ChildEnd); 4] = [
        (|| 0, ChildEnd::Exited(0)),
        // 256 + 44: eight bits of a code reach the parent.
        (|| 300, ChildEnd::Exited(44)),
        // Panics without a message on stderr.
        (|| std::panic::resume_unwind(Box::new(())), ChildEnd::Exited(PANIC_EXIT_CODE)),
        (
            || {
                kill(process_id(), Signal::KILL).unwrap();
                0
            },
            ChildEnd::Signaled(9),
        ),
    ];
    for (body, expected) in cases {
        assert_eq!(wait(fork(body).unwrap()).unwrap(), expected);
    }
}

#[test]
fn a_child_that_runs_is_not_reported_and_can_be_killed() {
    let child = fork(|| {
        loop {
            std::thread::sleep(std::time::Duration::from_secs(1));
        }
    })
    .unwrap();
    assert_eq!(try_wait(child).unwrap(), None);
    kill(child, Signal::TERM).unwrap();
    assert_eq!(wait(child).unwrap(), ChildEnd::Signaled(15));
    assert_eq!(try_wait(child).unwrap_err().errno(), Some(libc::ECHILD));
}

#[test]
fn memory_is_shared_with_children_and_a_futex_wakes_across() {
    let shared = SharedMemory::<AtomicU32>::new(2).unwrap();
    let child = fork(|| {
        while shared[0].load(Ordering::Acquire) == 0 {
            crate::futex_wait(&shared[0], 0, None);
        }
        shared[1].store(42, Ordering::Release);
        0
    })
    .unwrap();
    shared[0].store(1, Ordering::Release);
    let end = loop {
        crate::futex_wake(&shared[0], 1);
        if let Some(end) = try_wait(child).unwrap() {
            break end;
        }
        std::thread::yield_now();
    };
    assert_eq!((end, shared[1].load(Ordering::Acquire)), (ChildEnd::Exited(0), 42));
}

#[test]
fn session_name_and_owner_of_a_child() {
    let child = fork(|| {
        let named = set_comm("a name of more than 15 bytes").is_ok() && comm().unwrap() == "a name of more ";
        let is_leader = set_session().is_ok() && rustix::process::getsid(None).ok() == Some(process_id());
        let is_first_thread = set_session().is_err() && thread_id() == rustix::thread::gettid();
        i32::from(!(named && is_leader && is_first_thread))
    })
    .unwrap();
    assert_eq!(wait(child).unwrap(), ChildEnd::Exited(0));
}

#[test]
fn user_and_group_change_for_root_only() {
    let is_root = rustix::process::getuid().is_root();
    if !is_root {
        skip_part!("user_and_group_change_for_root_only", "half of it: not root");
    }
    let child = fork(move || {
        // Not those of nobody, who runs these tests too and may keep its own.
        let changed = set_group_id(65_533).is_ok() && set_user_id(65_533).is_ok();
        let is_so = rustix::process::getuid().as_raw() == 65_533 && rustix::process::getgid().as_raw() == 65_533;
        i32::from((changed && is_so) != is_root)
    })
    .unwrap();
    assert_eq!(wait(child).unwrap(), ChildEnd::Exited(0));
    assert_eq!(set_user_id(u32::MAX).unwrap_err().errno(), Some(libc::EINVAL));
}

#[test]
fn a_thread_with_its_own_files_closes_only_its_own() {
    let file = std::fs::File::open("/dev/null").unwrap();
    let number = file.as_raw_fd();
    let thread = spawn_with_own_files("own".to_owned(), move || {
        #[expect(unsafe_code, reason = "closing the copy of a descriptor in another table")]
        // SAFETY: the number is open in this thread's copied table and nobody else owns it there.
        let copy = unsafe { OwnedFd::from_raw_fd(number) };
        drop(copy);
        rustix::fs::open("/dev/zero", rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty()).unwrap().as_raw_fd()
    });
    assert!(thread.unwrap().join().unwrap().unwrap() >= 0);
    assert!(file.metadata().is_ok(), "still open in the first table");
}

#[test]
fn a_child_can_be_bound_to_its_parent() {
    let child = fork(|| i32::from(signal_on_parent_death(Signal::KILL).is_err() || parent_id().is_none())).unwrap();
    assert_eq!(wait(child).unwrap(), ChildEnd::Exited(0));
}

#[test]
fn a_parent_that_is_gone_is_noticed() {
    let parent = process_id();
    let with = |expected: Pid| fork(move || i32::from(!die_with_parent(expected).unwrap())).unwrap();
    assert_eq!(wait(with(parent)).unwrap(), ChildEnd::Exited(0));
    // A process that lost its parent belongs to another.
    assert_eq!(wait(with(Pid::from_raw(i32::MAX).unwrap())).unwrap(), ChildEnd::Exited(1));
}
