//! `ioengine=ftruncate`: each write cuts or extends the file to the offset of the I/O by `ftruncate(2)`. No data is moved; reads and
//! trims are errors.
//!
//! As seen on fio 3.41 by strace. Must not know: batches. Start reading at `Ftruncate`.

use crate::contract::{IoResult, IoUnit, Prepare};
use crate::files::control;
use crate::files::fd_table::FdTable;
use crate::files::inline::{Inline, Transfer};
use ferrio_sys::{Errno, file_space};
use ferrio_units::Direction;
use std::os::fd::BorrowedFd;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(Inline(Ftruncate)));

/// Changes the size of files.
struct Ftruncate;

impl Transfer for Ftruncate {
    fn control(&mut self, fds: &FdTable, unit: &IoUnit) -> IoResult {
        match unit.direction {
            Direction::Trim => control::error_result(Errno::INVAL),
            _ => control::run(fds, unit),
        }
    }

    fn read(&mut self, _: BorrowedFd<'_>, _: &IoUnit, _: &mut [u8]) -> Result<usize, Errno> {
        Err(Errno::INVAL)
    }

    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        file_space::truncate(fd, unit.offset_bytes).map(|()| buffer.len())
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        let is_other = !matches!(unit.direction, Direction::Write);
        (is_other && errno == libc::EINVAL).then_some("the engine ftruncate takes writes only")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{BLOCK, Rig, RigOptions, TestFile};

    #[test]
    fn a_write_sets_the_size_and_nothing_else_is_taken() {
        let file = TestFile::new("ftruncate");
        let mut rig = Rig::new("ftruncate", Some(&file), RigOptions::default()).unwrap();
        for block in [3, 7, 0] {
            assert_eq!(rig.one(rig.unit(Direction::Write, block)), BLOCK as i64);
            assert_eq!(file.contents().len(), block * BLOCK);
        }
        for direction in [Direction::Read, Direction::Trim] {
            let unit = rig.unit(direction, 0);
            assert_eq!(rig.one(unit), -i64::from(libc::EINVAL));
            assert!(rig.engine.hint(&unit, libc::EINVAL).is_some_and(|hint| hint.contains("writes only")));
        }
    }
}
