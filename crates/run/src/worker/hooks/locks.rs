//! `lockfile`: each I/O holds a lock of its file, which all jobs of the run share.
//!
//! Only the engines of jobs that lock are wrapped. The lock is held during `queue`, and `compat` decides whether an I/O
//! that the engine submits later is completed there. Must not know: how a lock is made. Start reading at [`lock_files`].

use crate::compat;
use crate::error::{Failure, errno_of, failure};
use crate::files::FileSet;
use crate::link::board::Board;
use crate::plan::WorkerPlan;
use crate::wrapped::{Wrapped, Wrapper};
use ferrio_engine::{Completion, Engine, IoResult, IoUnit, Queued};
use ferrio_spec::FileLocking;
use ferrio_stats::Note;
use ferrio_stats::note::During;
use ferrio_sys::errno::EIO;
use ferrio_sys::range_locks::Locker;
use ferrio_units::Direction;
use ferrio_units::jhash;
use std::io;
use std::os::unix::ffi::OsStrExt;

/// An engine whose I/Os wait for locks.
struct FileLocks {
    locker: Locker,
    /// Reads do not exclude other reads.
    shares_reads: bool,
    /// Number of each file's lock. If two files have the same number, their I/Os wait for each other without need.
    numbers: Vec<u32>,
    /// Completes an I/O before its lock is released; `None`: the lock is released when `queue` returns.
    finisher: Option<Finisher>,
}

/// Completes I/Os one at a time, with room for the completion.
struct Finisher(Vec<Completion>);

impl Finisher {
    fn new() -> Self {
        Self(Vec::with_capacity(1))
    }

    /// The result of the unit that was just queued: it is the only one, so the next completion is its own.
    fn finish(&mut self, inner: &mut dyn Engine) -> Queued {
        let result = self.commit_and_reap(inner);
        let failed = |error: io::Error| IoResult::failed(error.raw_os_error().unwrap_or(EIO));
        Queued::Completed(result.unwrap_or_else(failed))
    }

    fn commit_and_reap(&mut self, inner: &mut dyn Engine) -> io::Result<IoResult> {
        // The kernel may lack room that I/Os of other jobs take.
        while inner.commit()? == 0 {
            std::thread::yield_now();
        }
        self.0.clear();
        loop {
            inner.reap(1, 1, &mut self.0)?;
            if let Some(completion) = self.0.first() {
                return Ok(completion.result);
            }
        }
    }
}

/// Wraps the engine of a job that locks its files.
pub(crate) fn lock_files<'a>(
    worker: &WorkerPlan,
    set: &FileSet,
    board: &Board,
    inner: Box<dyn Engine + 'a>,
) -> Result<Box<dyn Engine + 'a>, Failure> {
    let (Some(space), locking) = (board.locks(), worker.spec.target.locking) else { return Ok(inner) };
    if locking == FileLocking::None {
        return Ok(inner);
    }
    let locker = space.locker().map_err(|error| {
        failure!(errno_of(&error), "lockfile").explained(Note::system(During::Option("lockfile".into()), &error))
    })?;
    let shares_reads = locking == FileLocking::ReadWrite;
    let finisher = (!compat::unlocks_before_done(worker)).then(Finisher::new);
    let locks = FileLocks { locker, shares_reads, numbers: path_numbers(set), finisher };
    Ok(Box::new(Wrapped::new(inner, locks)))
}

/// A number for each file of a job; all jobs give the same path the same number.
pub(crate) fn path_numbers(set: &FileSet) -> Vec<u32> {
    set.files.iter().map(|file| jhash(file.path.as_os_str().as_bytes())).collect()
}

impl Wrapper for FileLocks {
    fn queue(&mut self, inner: &mut dyn Engine, unit_index: u32, unit: &IoUnit) -> Queued {
        let number = self.numbers[unit.file_index as usize];
        let shared = self.shares_reads && unit.direction == Direction::Read;
        if let Err(errno) = self.locker.lock(number, shared) {
            return Queued::Completed(IoResult::failed(errno.raw_os_error()));
        }
        let queued = match (inner.queue(unit_index, unit), &mut self.finisher) {
            (Queued::Queued, Some(finisher)) => finisher.finish(inner),
            (queued, _) => queued,
        };
        // Cannot fail: the lock is held, and freeing all of it needs no memory.
        let _ = self.locker.unlock(number);
        queued
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_sys::range_locks::LockSpace;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// An engine that counts the threads inside `queue`, or meets the other one there.
    struct Visitor<'a> {
        n_inside: &'a AtomicU32,
        most: &'a AtomicU32,
        meeting: Option<&'a Barrier>,
    }

    impl Engine for Visitor<'_> {
        fn queue(&mut self, _: u32, unit: &IoUnit) -> Queued {
            let n_inside = self.n_inside.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(n_inside, Ordering::SeqCst);
            std::thread::yield_now();
            if let Some(barrier) = self.meeting {
                barrier.wait();
            }
            self.n_inside.fetch_sub(1, Ordering::SeqCst);
            Queued::Completed(IoResult::done(unit.length_bytes))
        }
    }

    const UNIT: IoUnit = IoUnit {
        direction: Direction::Read,
        file_index: 0,
        offset_bytes: 0,
        length_bytes: 4096,
        buffer_offset: 0,
        sync_flags: 0,
        ioprio: 0,
    };

    /// The largest number of jobs that were in the file at once.
    fn most_inside(shares_reads: bool, directions: [Direction; 2], n_ios: u32, meeting: Option<&Barrier>) -> u32 {
        let space = LockSpace::new().unwrap();
        let (n_inside, most) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for direction in directions {
                let inner = Visitor { n_inside: &n_inside, most: &most, meeting };
                let locker = space.locker().unwrap();
                scope.spawn(move || {
                    let locks = FileLocks { locker, shares_reads, numbers: vec![1], finisher: None };
                    let mut engine = Wrapped::new(Box::new(inner), locks);
                    let unit = IoUnit { direction, ..UNIT };
                    (0..n_ios)
                        .for_each(|_| assert_eq!(engine.queue(0, &unit), Queued::Completed(IoResult::done(4096))));
                });
            }
        });
        most.into_inner()
    }

    #[test]
    fn an_exclusive_file_has_one_io_at_a_time() {
        assert_eq!(most_inside(false, [Direction::Read; 2], 500, None), 1);
        assert_eq!(most_inside(true, [Direction::Read, Direction::Write], 500, None), 1);
        assert_eq!(most_inside(true, [Direction::Sync, Direction::Trim], 500, None), 1);
    }

    /// An engine that completes its unit when it is reaped, and refuses every other batch for lack of room.
    #[derive(Default)]
    struct Later {
        pending: Option<u32>,
        n_commits: u32,
        fails: bool,
    }

    impl Engine for Later {
        fn queue(&mut self, unit_index: u32, _: &IoUnit) -> Queued {
            self.pending = Some(unit_index);
            Queued::Queued
        }

        fn commit(&mut self) -> io::Result<u32> {
            self.n_commits += 1;
            if self.fails { Err(io::Error::from_raw_os_error(EIO)) } else { Ok(1 - self.n_commits % 2) }
        }

        fn reap(&mut self, _: u32, _: u32, completions: &mut Vec<Completion>) -> io::Result<()> {
            completions
                .extend(self.pending.take().map(|unit_index| Completion { unit_index, result: IoResult::done(4096) }));
            Ok(())
        }
    }

    #[test]
    fn an_io_is_done_before_its_lock_is_released_or_later() {
        let space = LockSpace::new().unwrap();
        let answer = |finisher, fails| {
            let locks = FileLocks { locker: space.locker().unwrap(), shares_reads: false, numbers: vec![1], finisher };
            Wrapped::new(Box::new(Later { fails, ..Later::default() }), locks).queue(3, &UNIT)
        };
        assert_eq!(answer(None, false), Queued::Queued);
        assert_eq!(answer(Some(Finisher::new()), false), Queued::Completed(IoResult::done(4096)));
        assert_eq!(answer(Some(Finisher::new()), true), Queued::Completed(IoResult::failed(EIO)));
    }

    /// The threads wait for each other inside: the test would hang if one read excluded the other.
    #[test]
    fn reads_that_share_meet() {
        assert_eq!(most_inside(true, [Direction::Read; 2], 10, Some(&Barrier::new(2))), 2);
    }
}
