//! A lock in memory that processes share. One that is killed while it holds the lock does not stop the others for ever.
//!
//! Must not know: the protected data. Start reading at [`SharedLock::lock`].
#![expect(unsafe_code, reason = "a structure in shared memory, by the macro that argues for it")]

use crate::processes::futex::{FutexWait, futex_wait, futex_wake};
use crate::processes::process;
use rustix::process::Pid;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Bit that is set while a process sleeps until the lock is free; process ids are below it.
const AWAITED: u32 = 1 << 31;

/// Number of looks before a waiter sleeps, because critical sections take less than a microsecond.
const N_LOOKS: u32 = 200;

/// After this time a waiter looks whether the holder still lives.
const PATIENCE: Duration = Duration::from_millis(50);

crate::shared_struct! {
    /// A lock. All zero bytes are a free one.
    pub struct SharedLock {
        /// Process that holds it, 0: none; with [`AWAITED`] while another sleeps.
        holder: AtomicU32,
    }
}

/// The lock is held as long as this lives.
#[derive(Debug)]
pub struct SharedLockGuard<'a>(&'a SharedLock);

impl SharedLock {
    /// Waits until the lock is free, or until its holder is dead, and takes it. Data that a dead holder was changing
    /// stays as it is.
    pub fn lock(&self) -> SharedLockGuard<'_> {
        let me = process::process_id().as_raw_nonzero().get().unsigned_abs();
        for _ in 0..N_LOOKS {
            if self.holder.compare_exchange_weak(0, me, Ordering::Acquire, Ordering::Relaxed).is_ok() {
                return SharedLockGuard(self);
            }
            std::hint::spin_loop();
        }
        loop {
            // The process that slept may not be the last sleeper.
            match self.holder.compare_exchange(0, me | AWAITED, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return SharedLockGuard(self),
                Err(seen) if self.sleep_or_take_over(seen, me) => return SharedLockGuard(self),
                Err(_) => {}
            }
        }
    }

    /// Sleeps while another process holds the lock. True: that process is dead, and the lock is ours.
    fn sleep_or_take_over(&self, seen: u32, me: u32) -> bool {
        let awaited = seen | AWAITED;
        if seen != awaited && self.holder.compare_exchange(seen, awaited, Ordering::Relaxed, Ordering::Relaxed).is_err()
        {
            return false;
        }
        let timed_out = futex_wait(&self.holder, awaited, Some(PATIENCE)) == FutexWait::TimedOut;
        timed_out
            && !is_alive(seen & !AWAITED)
            && self.holder.compare_exchange(awaited, me | AWAITED, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

impl Drop for SharedLockGuard<'_> {
    fn drop(&mut self) {
        if self.0.holder.swap(0, Ordering::Release) & AWAITED != 0 {
            futex_wake(&self.0.holder, 1);
        }
    }
}

/// True if a process with this id exists, including one that was not waited for yet.
fn is_alive(process: u32) -> bool {
    let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) else { return false };
    !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SharedMemory;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn one_at_a_time() {
        let lock = SharedMemory::<SharedLock>::new(1).unwrap();
        let count = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..5_000 {
                        let _held = lock[0].lock();
                        let seen = count.load(Ordering::Relaxed);
                        std::hint::spin_loop();
                        count.store(seen + 1, Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(count.into_inner(), 20_000);
        assert_eq!(lock[0].holder.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn the_lock_of_a_dead_process_is_taken_over() {
        let lock = SharedMemory::<SharedLock>::new(1).unwrap();
        let child = process::fork(|| {
            std::mem::forget(lock[0].lock());
            0
        })
        .unwrap();
        process::wait(child).unwrap();
        assert_ne!(lock[0].holder.load(Ordering::Relaxed), 0);
        drop(lock[0].lock());
        assert_eq!(lock[0].holder.load(Ordering::Relaxed), 0);
    }
}
