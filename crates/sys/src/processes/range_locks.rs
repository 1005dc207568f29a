//! Locks that threads and processes share, by number or range of numbers: shared or exclusive, free again when their holder
//! dies.
//!
//! They are the kernel's locks of open file descriptions, on bytes of a file in memory that has no contents. Must not
//! know: what the numbers stand for. Start reading at [`LockSpace`].
#![expect(unsafe_code, reason = "fcntl with a flock structure")]

use crate::Errno;
use crate::error::{Context, Result};
use rustix::fs::{MemfdFlags, Mode, OFlags};
use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};

/// The numbers that can be locked. It must be made before the processes that share it.
#[derive(Debug)]
pub struct LockSpace(OwnedFd);

/// An owner of locks: its own locks do not exclude each other.
#[derive(Debug)]
pub struct Locker(OwnedFd);

impl LockSpace {
    /// A space in which nothing is locked.
    ///
    /// # Errors
    /// No descriptor or memory is left.
    pub fn new() -> Result<Self> {
        let file = rustix::fs::memfd_create("ferrio-locks", MemfdFlags::CLOEXEC).context("memfd_create", "locks")?;
        Ok(Self(file))
    }

    /// A locker of its own, for the calling thread or process.
    ///
    /// # Errors
    /// No descriptor is left, or there is no `/proc`.
    pub fn locker(&self) -> Result<Locker> {
        // Opened again, because an inherited descriptor is the same description, whose locks belong to the parent too.
        let path = format!("/proc/thread-self/fd/{}", self.0.as_raw_fd());
        let file = rustix::fs::open(&path, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).context("open", &path)?;
        Ok(Locker(file))
    }
}

impl Locker {
    /// Waits until the number is free: with `shared` for other shared owners too, otherwise for this one alone.
    pub fn lock(&self, number: u32, shared: bool) -> std::result::Result<(), Errno> {
        self.lock_range(&one(number), shared)
    }

    /// Frees the number.
    pub fn unlock(&self, number: u32) -> std::result::Result<(), Errno> {
        self.unlock_range(&one(number))
    }

    /// Waits until all numbers of a range are free. The range is not empty, and ends below 2^63.
    pub fn lock_range(&self, numbers: &Range<u64>, shared: bool) -> std::result::Result<(), Errno> {
        self.set(numbers, if shared { libc::F_RDLCK } else { libc::F_WRLCK })
    }

    /// Frees the numbers of a range.
    pub fn unlock_range(&self, numbers: &Range<u64>) -> std::result::Result<(), Errno> {
        self.set(numbers, libc::F_UNLCK)
    }

    fn set(&self, numbers: &Range<u64>, kind: libc::c_int) -> std::result::Result<(), Errno> {
        // SAFETY: all zero bytes are a valid structure of integers.
        let mut range: libc::flock = unsafe { std::mem::zeroed() };
        // The constants are 0 to 2.
        range.l_type = kind as libc::c_short;
        range.l_whence = libc::SEEK_SET as libc::c_short;
        // Below 2^63, as the callers promise; else the kernel refuses the negative number.
        range.l_start = numbers.start as libc::off_t;
        range.l_len = numbers.end.saturating_sub(numbers.start).max(1) as libc::off_t;
        loop {
            // SAFETY: the descriptor is open, and the structure lives until the call returns.
            if unsafe { libc::fcntl(self.0.as_raw_fd(), libc::F_OFD_SETLKW, &raw const range) } == 0 {
                return Ok(());
            }
            // The errno was just set by the call.
            let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO);
            if errno != libc::EINTR {
                return Err(Errno::from_raw_os_error(errno));
            }
        }
    }
}

fn one(number: u32) -> Range<u64> {
    u64::from(number)..u64::from(number) + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Both sides add to a number without an atomic operation, under the lock: nothing is lost only if they exclude
    /// each other.
    #[test]
    fn exclusive_holders_exclude_each_other() {
        let space = LockSpace::new().unwrap();
        let counter = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let locker = space.locker().unwrap();
                    for _ in 0..500 {
                        locker.lock(7, false).unwrap();
                        let now = counter.load(Ordering::Relaxed);
                        std::thread::yield_now();
                        counter.store(now + 1, Ordering::Relaxed);
                        locker.unlock(7).unwrap();
                    }
                });
            }
        });
        assert_eq!(counter.into_inner(), 2000);
    }

    #[test]
    fn those_who_share_do_not_wait_and_numbers_are_apart() {
        let space = LockSpace::new().unwrap();
        let (one, other) = (space.locker().unwrap(), space.locker().unwrap());
        one.lock(1, true).unwrap();
        other.lock(1, true).unwrap();
        one.lock(2, false).unwrap();
        other.lock(u32::MAX, false).unwrap();
        // The locks of an owner are freed with it.
        drop(one);
        other.lock(2, false).unwrap();
    }

    /// Ranges exclude each other where they overlap, and nowhere else.
    #[test]
    fn ranges_exclude_what_overlaps() {
        let space = LockSpace::new().unwrap();
        let (one, other) = (space.locker().unwrap(), space.locker().unwrap());
        let end = i64::MAX as u64;
        one.lock_range(&(100..200), false).unwrap();
        one.lock_range(&(end - 10..end), false).unwrap();
        other.lock_range(&(0..100), false).unwrap();
        other.lock_range(&(200..end - 10), false).unwrap();
        // A part is freed; the rest is still held.
        one.unlock_range(&(150..200)).unwrap();
        other.lock_range(&(150..200), false).unwrap();
        let got = AtomicU32::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                other.lock_range(&(140..160), false).unwrap();
                got.store(1, Ordering::SeqCst);
            });
            std::thread::yield_now();
            assert_eq!(got.load(Ordering::SeqCst), 0);
            one.unlock_range(&(100..150)).unwrap();
        });
        assert_eq!(got.into_inner(), 1);
    }
}
