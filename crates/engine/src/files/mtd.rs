//! `ioengine=mtd`: flash memory without a controller, by reads and writes of `/dev/mtdN`, cut at the blocks that are erased as a whole.
//!
//! A trim erases whole blocks; a write does not erase before it. A written block is on the flash when the call returns, so that a
//! sync has nothing to do. The size is that of the memory.
//! Facts: reference engines.md, section 11; fio 3.41 on mtdram and nandsim. Must not know: batches. Start reading at `FlashTransfer`.

use crate::contract::{
    Cancellation, Engine, EngineError, EngineFile, EngineSetup, IoResult, IoUnit, OpenTarget, Prepare, Prepared,
};
use crate::files::control;
use crate::files::fd_table::FdTable;
use crate::files::inline::{Inline, Transfer};
use ferrio_spec::engines::options::mtd::SKIP_BAD;
use ferrio_sys::file::OpenRequest;
use ferrio_sys::mtd::{self, Flash};
use ferrio_sys::{Errno, file_io};
use ferrio_units::Direction;
use std::os::fd::BorrowedFd;
use std::path::Path;

pub(crate) const PREPARE: Prepare = |options| Ok(Box::new(Idle { skips_bad: options.get(&SKIP_BAD) }));

/// The engine before it is started.
struct Idle {
    skips_bad: bool,
}

/// The geometry of the memory behind a file.
fn flash(file: BorrowedFd<'_>) -> Result<Flash, EngineError> {
    match Flash::of(file) {
        Ok(Some(flash)) => Ok(flash),
        Ok(None) => {
            let what = "it is no flash memory (/dev/mtdN)".to_owned();
            Err(EngineError::Unfit { step: "mtd_get_dev_info", what, is_named: true, errno: libc::EINVAL })
        }
        Err(source) => Err(EngineError::Target { step: "mtd_get_dev_info".to_owned(), source }),
    }
}

impl Prepared for Idle {
    fn target_bytes(&self, name: &Path, _cancellation: Cancellation<'_>) -> Result<Option<u64>, EngineError> {
        let file = OpenRequest::default()
            .open(name)
            .map_err(|source| EngineError::Target { step: format!("open({})", name.display()), source })?;
        flash(std::os::fd::AsFd::as_fd(&file)).map(|flash| Some(flash.size_bytes))
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        let by_file = vec![None; setup.n_files as usize];
        Box::new(Inline(FlashTransfer { skips_bad: self.skips_bad, by_file })).start(setup)
    }
}

/// Reads and writes of flash memories.
struct FlashTransfer {
    skips_bad: bool,
    /// The geometries of open files.
    by_file: Vec<Option<Flash>>,
}

impl FlashTransfer {
    fn flash(&self, unit: &IoUnit) -> Result<Flash, Errno> {
        self.by_file.get(unit.file_index as usize).copied().flatten().ok_or(Errno::BADF)
    }

    /// Does each part of an I/O that lies in one block that is erased as a whole, also after a part that failed; the first error
    /// is that of the I/O.
    fn by_parts(
        &self,
        fd: BorrowedFd<'_>,
        unit: &IoUnit,
        mut work: impl FnMut(u64, std::ops::Range<usize>) -> Result<(), Errno>,
    ) -> Result<usize, Errno> {
        let erase_bytes = self.flash(unit)?.erase_bytes;
        let (mut n_done, mut outcome) = (0, Ok(()));
        while n_done < unit.length_bytes {
            let offset = unit.offset_bytes + n_done as u64;
            let left = usize::try_from(erase_bytes - offset % erase_bytes).unwrap_or(usize::MAX);
            let part = n_done..n_done + left.min(unit.length_bytes - n_done);
            n_done = part.end;
            if self.skips_bad && mtd::is_bad(fd, offset - offset % erase_bytes) == Ok(true) {
                continue;
            }
            let done = work(offset, part);
            outcome = outcome.and(done);
        }
        outcome.map(|()| unit.length_bytes)
    }
}

impl Transfer for FlashTransfer {
    fn opened(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        let OpenTarget::Descriptor(fd) = file.target else { return Ok(()) };
        self.by_file[file.index as usize] = Some(flash(fd)?);
        Ok(())
    }

    fn closed(&mut self, file_index: u32) {
        self.by_file[file_index as usize] = None;
    }

    fn control(&mut self, fds: &FdTable, unit: &IoUnit) -> IoResult {
        if unit.direction != Direction::Trim {
            return IoResult::done(unit.length_bytes);
        }
        let erased = fds.get(unit.file_index).and_then(|fd| {
            let erase_bytes = self.flash(unit)?.erase_bytes;
            let is_whole =
                [unit.offset_bytes, unit.length_bytes as u64].iter().all(|at| at.is_multiple_of(erase_bytes));
            if !is_whole {
                return Err(Errno::INVAL);
            }
            self.by_parts(fd, unit, |offset, part| mtd::erase(fd, offset, part.len() as u64))
        });
        control::result_of(erased)
    }

    fn read(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno> {
        self.by_parts(fd, unit, |offset, part| {
            let n_bytes = part.len();
            whole(file_io::pread(fd, &mut buffer[part], offset), n_bytes)
        })
    }

    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        let write_bytes = self.flash(unit)?.write_bytes;
        if [unit.offset_bytes, unit.length_bytes as u64].iter().any(|at| !at.is_multiple_of(write_bytes)) {
            return Err(Errno::INVAL);
        }
        self.by_parts(fd, unit, |offset, part| {
            let n_bytes = part.len();
            whole(file_io::pwrite(fd, &buffer[part], offset), n_bytes)
        })
    }

    /// The kernel knows no sync of such a device.
    fn sync_apart(&mut self) -> Option<i32> {
        Some(0)
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        match (Errno::from_raw_os_error(errno), unit.direction) {
            (Errno::INVAL, Direction::Trim) => {
                Some("a trim erases whole blocks; their size is in /sys/class/mtd/mtd0/erasesize and so on; see bs")
            }
            (Errno::INVAL, Direction::Write) => {
                Some("a write is a multiple of /sys/class/mtd/mtd0/writesize and so on; see bs")
            }
            (Errno::IO, _) => Some("a block may be bad; see skip_bad"),
            _ => None,
        }
    }
}

/// A part of an I/O is moved as a whole, or not.
fn whole(moved: Result<usize, Errno>, n_bytes: usize) -> Result<(), Errno> {
    if moved? == n_bytes { Ok(()) } else { Err(Errno::IO) }
}
