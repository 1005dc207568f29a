//! `serialize_overlap` with `io_submit_mode=offload`: an I/O waits until no I/O of any job touches its bytes.
//!
//! Each thread of a pool holds at most one lock, the one on the bytes of its I/O, so threads cannot wait for each other
//! in a circle. The kernel frees the locks of a thread that dies. Must not know: jobs, engines. Start reading at
//! [`RangeGuard::around`].
//! Facts: reference "Rates and pauses", last line.

use crate::contract::{IoResult, IoUnit};
use ferrio_sys::range_locks::Locker;
use std::ops::Range;
use std::sync::Arc;

/// Low bits of a lock's number that hold the offset; the bits above them hold the file. A larger offset wraps around,
/// so that an I/O may wait for one that it does not overlap: it is only late.
const OFFSET_BITS: u32 = 47;

/// Bits of a file's number that are used; with the offset they make 62. Two files may get the same bits, with the same
/// effect: a wait without need.
const FILE_MASK: u64 = 0x7fff;

/// The locks of one thread.
pub(super) struct RangeGuard {
    locker: Locker,
    file_numbers: Arc<[u32]>,
}

impl RangeGuard {
    pub(super) fn new(locker: Locker, file_numbers: Arc<[u32]>) -> Self {
        Self { locker, file_numbers }
    }

    /// Does an I/O while no other I/O touches any of its bytes. An I/O without bytes, such as a sync, waits for none.
    pub(super) fn around(&self, unit: &IoUnit, carry_out: impl FnOnce() -> IoResult) -> IoResult {
        let Some(numbers) = self.numbers(unit) else { return carry_out() };
        if let Err(errno) = self.locker.lock_range(&numbers, false) {
            return IoResult::failed(errno.raw_os_error());
        }
        let result = carry_out();
        // Unlocking cannot fail: it frees all that this thread holds, for which the kernel needs no memory.
        let _ = self.locker.unlock_range(&numbers);
        result
    }

    fn numbers(&self, unit: &IoUnit) -> Option<Range<u64>> {
        unit.direction.data()?;
        let file = self.file_numbers.get(unit.file_index as usize).copied().unwrap_or_default();
        Some(numbers(file, unit.offset_bytes, unit.length_bytes as u64))
    }
}

fn numbers(file_number: u32, offset: u64, length: u64) -> Range<u64> {
    let limit = 1 << OFFSET_BITS;
    let start = offset % limit;
    let end = start.saturating_add(length.max(1)).min(limit);
    let base = (u64::from(file_number) & FILE_MASK) << OFFSET_BITS;
    base + start..base + end
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_sys::range_locks::LockSpace;
    use ferrio_units::Direction;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};

    fn unit(direction: Direction, offset: u64) -> IoUnit {
        IoUnit {
            direction,
            file_index: 0,
            offset_bytes: offset,
            length_bytes: 4096,
            buffer_offset: 0,
            sync_flags: 0,
            ioprio: 0,
        }
    }

    /// The largest number of I/Os that two threads did at the same time. With a barrier the threads meet within each
    /// I/O.
    fn most_at_once(files: [u32; 2], units: [IoUnit; 2], n_ios: u32, meeting: Option<&Barrier>) -> u32 {
        let space = LockSpace::new().unwrap();
        let (n_inside, most) = (AtomicU32::new(0), AtomicU32::new(0));
        let carry_out = || {
            let n_now = n_inside.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(n_now, Ordering::SeqCst);
            std::thread::yield_now();
            if let Some(barrier) = meeting {
                barrier.wait();
            }
            n_inside.fetch_sub(1, Ordering::SeqCst);
            IoResult::done(4096)
        };
        std::thread::scope(|scope| {
            for (file, unit) in files.into_iter().zip(units) {
                let guard = RangeGuard::new(space.locker().unwrap(), Arc::from([file]));
                scope.spawn(move || {
                    (0..n_ios).for_each(|_| assert_eq!(guard.around(&unit, carry_out), IoResult::done(4096)));
                });
            }
        });
        most.into_inner()
    }

    #[test]
    fn the_same_bytes_are_touched_by_one_at_a_time() {
        for other in [0, 1, 4095] {
            let units = [unit(Direction::Write, 4096), unit(Direction::Read, 4096 + other)];
            assert_eq!(most_at_once([3, 3], units, 500, None), 1, "{other}");
            let units = [unit(Direction::Trim, 4096), unit(Direction::Write, 4096 - other)];
            assert_eq!(most_at_once([3, 3], units, 500, None), 1, "{other}");
        }
    }

    /// The threads wait for each other within their I/Os: the test would hang if one I/O excluded the other.
    #[test]
    fn other_bytes_other_files_and_syncs_are_not_waited_for() {
        let barrier = Barrier::new(2);
        let write = unit(Direction::Write, 4096);
        for (files, other) in [
            ([3, 3], unit(Direction::Write, 8192)),
            ([3, 3], unit(Direction::Write, 0)),
            ([3, 4], write),
            ([3, 3], unit(Direction::Sync, 4096)),
        ] {
            assert_eq!(most_at_once(files, [write, other], 10, Some(&barrier)), 2);
        }
    }

    #[test]
    fn numbers_are_below_the_limit_of_the_kernel() {
        for (file, offset, length) in
            [(u32::MAX, u64::MAX, u64::MAX), (0xffff, (1 << OFFSET_BITS) - 1, 4096), (0, 0, 0)]
        {
            let range = numbers(file, offset, length);
            assert!(range.start < range.end && i64::try_from(range.end).is_ok(), "{range:?}");
        }
        assert_eq!(numbers(1, 10, 5), (1 << OFFSET_BITS) + 10..(1 << OFFSET_BITS) + 15);
    }
}
