//! The descriptors of a job's open files, by the file index that a unit carries.
//!
//! Must not know: what is done with them. Start reading at [`FdTable`].
#![expect(unsafe_code, reason = "the table outlives the borrow of a descriptor, which the loop keeps open")]

use crate::contract::{EngineFile, EngineSetup, OpenTarget};
use ferrio_sys::Errno;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The table that every engine over descriptors has.
pub(crate) struct FdTable {
    by_file: Vec<Option<BorrowedFd<'static>>>,
    /// Trims of regular files give their blocks back to the file system.
    pub(crate) punches_holes: bool,
}

impl FdTable {
    pub(crate) fn of(setup: &EngineSetup) -> Self {
        Self { punches_holes: setup.job.commands.punches_holes, ..Self::new(setup.n_files) }
    }

    pub(crate) fn new(n_files: u32) -> Self {
        Self { by_file: vec![None; n_files as usize], punches_holes: false }
    }

    /// Called after the run has opened a file.
    pub(crate) fn open(&mut self, file: &EngineFile<'_>) {
        let (OpenTarget::Descriptor(fd), Some(entry)) = (file.target, self.by_file.get_mut(file.index as usize)) else {
            return;
        };
        // SAFETY: by the contract of engines the run closes a file only after `close_file`, which takes the entry away.
        *entry = Some(unsafe { BorrowedFd::borrow_raw(fd.as_raw_fd()) });
    }

    /// Called before the run closes the file.
    pub(crate) fn close(&mut self, file_index: u32) {
        if let Some(entry) = self.by_file.get_mut(file_index as usize) {
            *entry = None;
        }
    }

    /// The descriptor of an open file; EBADF for a file that is not open.
    #[inline]
    pub(crate) fn get(&self, file_index: u32) -> Result<BorrowedFd<'_>, Errno> {
        match self.by_file.get(file_index as usize) {
            Some(Some(fd)) => Ok(*fd),
            _ => Err(Errno::BADF),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Cancellation;
    use std::os::fd::AsFd;

    #[test]
    fn a_file_has_a_descriptor_while_it_is_open() {
        let (reader, _writer) = std::io::pipe().unwrap();
        let target = OpenTarget::Descriptor(reader.as_fd());
        let file = EngineFile {
            index: 1,
            target,
            writable: false,
            range_start: 0,
            range_bytes: 1,
            random: false,
            cancellation: Cancellation::ENDLESS,
        };
        let mut table = FdTable::new(2);
        table.open(&file);
        assert_eq!(table.get(1).map(|fd| fd.as_raw_fd()), Ok(reader.as_raw_fd()));
        assert!([0, 2].into_iter().all(|index| table.get(index).is_err()));
        table.close(1);
        assert_eq!(table.get(1).map(|fd| fd.as_raw_fd()), Err(Errno::BADF));
        // The table keeps nothing of a file whose index is beyond its end.
        table.open(&EngineFile { index: 2, ..file });
        assert!(table.get(2).is_err());
    }
}
