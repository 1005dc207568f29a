//! `ioengine=falloc`: `fallocate(2)`. An I/O that counts as a read allocates within the size of the file, a write
//! allocates beyond it, and a trim punches a hole. No data is moved.
//!
//! As seen on fio 3.41 by strace. Must not know: batches. Start reading at `Falloc`.

use crate::contract::{IoResult, IoUnit, Prepare};
use crate::files::control;
use crate::files::fd_table::FdTable;
use crate::files::inline::{Inline, Transfer};
use ferrio_sys::{Errno, file_space};
use ferrio_units::Direction;
use std::os::fd::BorrowedFd;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(Inline(Falloc)));

/// Changes the allocation of a file, not its contents.
struct Falloc;

impl Transfer for Falloc {
    fn control(&mut self, fds: &FdTable, unit: &IoUnit) -> IoResult {
        if unit.direction != Direction::Trim {
            return control::run(fds, unit);
        }
        let length = unit.length_bytes as u64;
        let punched = fds.get(unit.file_index).and_then(|fd| file_space::punch_hole(fd, unit.offset_bytes, length));
        control::result_of(punched.map(|()| unit.length_bytes))
    }

    fn read(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno> {
        file_space::fallocate_keep_size(fd, unit.offset_bytes, unit.length_bytes as u64).map(|()| buffer.len())
    }

    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        file_space::fallocate_extend(fd, unit.offset_bytes, unit.length_bytes as u64).map(|()| buffer.len())
    }

    fn hint(&self, _unit: &IoUnit, errno: i32) -> Option<&'static str> {
        (errno == libc::EOPNOTSUPP).then_some("this file system or device has no fallocate(2) of this kind")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{BLOCK, N_BLOCKS, Rig, RigOptions, TestFile};
    use ferrio_testing::skip;

    #[test]
    fn a_write_extends_a_read_keeps_the_size_and_a_trim_punches() {
        let file = TestFile::new("falloc");
        let mut rig = Rig::new("falloc", Some(&file), RigOptions::default()).unwrap();
        let behind = |direction| IoUnit { offset_bytes: (N_BLOCKS * BLOCK) as u64, ..rig.unit(direction, 0) };
        let (read, write, trim) = (behind(Direction::Read), behind(Direction::Write), rig.unit(Direction::Trim, 1));
        let result = rig.one(read);
        if result == -i64::from(libc::EOPNOTSUPP) {
            skip!("a_write_extends_a_read_keeps_the_size_and_a_trim_punches", "no fallocate here");
            assert!(rig.engine.hint(&read, libc::EOPNOTSUPP).is_some());
            return;
        }
        assert_eq!((result, file.contents().len()), (BLOCK as i64, N_BLOCKS * BLOCK));
        assert_eq!((rig.one(write), file.contents().len()), (BLOCK as i64, (N_BLOCKS + 1) * BLOCK));
        assert_eq!(rig.one(trim), BLOCK as i64);
        let contents = file.contents();
        assert_eq!([contents[0], contents[BLOCK], contents[2 * BLOCK]], [1, 0, 3]);
        assert_eq!(rig.one(IoUnit { length_bytes: 0, ..rig.unit(Direction::Sync, 0) }), 0);
    }
}
