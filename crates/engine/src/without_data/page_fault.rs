//! `ioengine=page_fault`: I/Os copy between their buffers and private memory of as many bytes as the job uses, so that the first touch
//! of each page is a page fault, which the report counts.
//!
//! Each target of the job is a mapping of its own. It is made when the target is first opened and stays until the end
//! of the job, so that later passes touch pages that are present. A read before any write touches the kernel's page of
//! zeroes. Syncs do nothing; trims are errors. Huge pages are used according to the machine's settings.
//! Facts: reference "`page_fault`"; fio 3.41 does not have it. Must not know: files. Start reading at `PageFault`.

use crate::contract::{Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, Prepare, Prepared, Queued};
use crate::files::control;
use ferrio_sys::Errno;
use ferrio_sys::arena::{Arena, ArenaKind, ArenaRequest};
use ferrio_units::Direction;
use std::cell::RefCell;
use std::io;
use std::rc::Rc;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(Unmapped));

/// The engine in its first state.
struct Unmapped;

impl Prepared for Unmapped {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let targets = (0..setup.n_files).map(|_| None).collect();
        Ok(Box::new(PageFault { arena: setup.arena, targets }))
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        hint(unit, errno)
    }
}

/// The engine in its second state.
struct PageFault {
    /// The buffers of the job.
    arena: Rc<RefCell<Arena>>,
    targets: Vec<Option<Target>>,
}

struct Target {
    /// Offset of the first byte.
    start: u64,
    memory: Arena,
}

impl Target {
    fn map(start: u64, n_bytes: u64) -> Result<Self, ferrio_sys::Error> {
        let request = ArenaRequest {
            kind: ArenaKind::Mmap(None),
            size_bytes: usize::try_from(n_bytes).unwrap_or(usize::MAX),
            offset_bytes: 0,
            hugepage_bytes: 0,
        };
        Ok(Self { start, memory: Arena::new(&request)? })
    }

    fn place(&self, unit: &IoUnit) -> Result<usize, Errno> {
        let at =
            unit.offset_bytes.checked_sub(self.start).and_then(|at| usize::try_from(at).ok()).ok_or(Errno::INVAL)?;
        let is_within = at.checked_add(unit.length_bytes).is_some_and(|end| end <= self.memory.len());
        is_within.then_some(at).ok_or(Errno::INVAL)
    }
}

impl PageFault {
    fn copy(&mut self, unit: &IoUnit) -> Result<usize, Errno> {
        let target = self.targets.get_mut(unit.file_index as usize).and_then(Option::as_mut).ok_or(Errno::BADF)?;
        let at = target.place(unit)?;
        let mut arena = self.arena.borrow_mut();
        let buffer = arena.slice_mut(unit.buffer_offset, unit.length_bytes);
        match unit.direction {
            Direction::Read => buffer.copy_from_slice(target.memory.slice(at, unit.length_bytes)),
            Direction::Write => target.memory.slice_mut(at, unit.length_bytes).copy_from_slice(buffer),
            _ => return Err(Errno::INVAL),
        }
        Ok(unit.length_bytes)
    }
}

impl Engine for PageFault {
    fn open_file(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        let Some(place) = self.targets.get_mut(file.index as usize) else { return Ok(()) };
        let is_there =
            |target: &Target| target.start == file.range_start && target.memory.len() as u64 == file.range_bytes;
        if place.as_ref().is_some_and(is_there) {
            return Ok(());
        }
        // First the old one: two are never there at a time.
        *place = None;
        *place = Some(Target::map(file.range_start, file.range_bytes).map_err(|error| refused(&error))?);
        Ok(())
    }

    #[inline]
    fn queue(&mut self, _unit_index: u32, unit: &IoUnit) -> Queued {
        Queued::Completed(match unit.direction {
            Direction::Read | Direction::Write => control::result_of(self.copy(unit)),
            Direction::Trim => control::error_result(Errno::INVAL),
            _ => IoResult::done(unit.length_bytes),
        })
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        hint(unit, errno)
    }
}

fn hint(unit: &IoUnit, errno: i32) -> Option<&'static str> {
    (unit.direction == Direction::Trim && errno == libc::EINVAL).then_some("the engine page_fault has nothing to trim")
}

fn refused(error: &ferrio_sys::Error) -> EngineError {
    EngineError::Refused {
        engine: "page_fault",
        what: "mapping memory of the size of the job".to_owned(),
        source: io::Error::from_raw_os_error(error.errno().unwrap_or(libc::ENOMEM)),
        hint: "use a smaller size, or look at /proc/sys/vm/overcommit_memory and ulimit -v".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::{Cancellation, OpenTarget};
    use crate::testing::{BLOCK, N_BLOCKS, Rig, RigOptions};

    fn rig() -> Rig {
        Rig::new("page_fault", None, RigOptions::default()).unwrap()
    }

    fn of_bytes(range_bytes: u64) -> EngineFile<'static> {
        let target = OpenTarget::Name("of the engine's own".as_ref());
        EngineFile {
            index: 0,
            target,
            writable: true,
            range_start: 0,
            range_bytes,
            random: false,
            cancellation: Cancellation::ENDLESS,
        }
    }

    /// The first byte that a read of a block returns.
    fn byte_at(rig: &mut Rig, block: usize) -> u8 {
        let (unit, mut found) = (rig.unit(Direction::Read, block), 0);
        let results = rig.run(&[unit], |_, buffer| buffer.fill(0xee), |_, buffer, _| found = buffer[0]);
        assert_eq!(results, [BLOCK as i64]);
        found
    }

    #[test]
    fn what_is_written_is_read_back_and_the_rest_is_zero() {
        let mut rig = rig();
        for block in [5, N_BLOCKS - 1] {
            let unit = rig.unit(Direction::Write, block);
            assert_eq!(rig.run(&[unit], |_, buffer| buffer.fill(7), |_, _, _| ()), [BLOCK as i64]);
        }
        assert_eq!([0, 5, 6, N_BLOCKS - 1].map(|block| byte_at(&mut rig, block)), [0, 7, 0, 7]);
    }

    #[test]
    fn it_stays_until_the_end_of_the_job() {
        let mut rig = rig();
        let unit = rig.unit(Direction::Write, 3);
        rig.run(&[unit], |_, buffer| buffer.fill(9), |_, _, _| ());
        rig.engine.close_file(0);
        rig.engine.open_file(&of_bytes((N_BLOCKS * BLOCK) as u64)).unwrap();
        assert_eq!(byte_at(&mut rig, 3), 9);
    }

    #[test]
    fn syncs_do_nothing_and_trims_fail() {
        let mut rig = rig();
        for direction in [Direction::Sync, Direction::Datasync, Direction::SyncFileRange] {
            let unit = IoUnit { length_bytes: BLOCK * N_BLOCKS * 2, ..rig.unit(direction, 0) };
            assert_eq!(rig.engine.queue(0, &unit), Queued::Completed(IoResult::done(unit.length_bytes)));
        }
        let unit = rig.unit(Direction::Trim, 0);
        assert_eq!(rig.one(unit), -i64::from(libc::EINVAL));
        assert_eq!(rig.engine.hint(&unit, libc::EINVAL), Some("the engine page_fault has nothing to trim"));
        assert_eq!(rig.engine.hint(&rig.unit(Direction::Read, 0), libc::EINVAL), None);
    }

    #[test]
    fn what_lies_elsewhere_is_an_error() {
        let mut rig = rig();
        for unit in [
            rig.unit(Direction::Read, N_BLOCKS),
            IoUnit { offset_bytes: ((N_BLOCKS - 1) * BLOCK + 1) as u64, ..rig.unit(Direction::Write, 0) },
            IoUnit { offset_bytes: u64::MAX, ..rig.unit(Direction::Write, 0) },
        ] {
            assert_eq!(rig.one(unit), -i64::from(libc::EINVAL));
        }
        let unit = IoUnit { file_index: 1, ..rig.unit(Direction::Read, 0) };
        assert_eq!(rig.one(unit), -i64::from(libc::EBADF));
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error() {
        let error = rig().engine.open_file(&of_bytes(1 << 62)).unwrap_err();
        assert_eq!(error.errno(), libc::ENOMEM);
        assert!(error.to_string().contains("use a smaller size"), "{error}");
    }
}
