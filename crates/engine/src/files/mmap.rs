//! `ioengine=mmap`: files mapped into memory, data moved by copying.
//!
//! The engine maps the job's whole range when a file is opened, as fio does. Where the address space has no room for
//! that, it maps windows of 1 GiB divided by the number of files, one at a time for each file. Syncs are `msync(2)` of
//! the mapping; with `direct=1` every write is followed by an `msync` of its bytes. `thp` asks for huge pages.
//!
//! An I/O on a page that the file does not have (any more), or that cannot be read, fails with EIO; the handler of
//! `SIGBUS` that this needs is in `ferrio_sys`. The next I/O maps the file anew.
//!
//! Deviations from fio 3.41: with `thp=1` mappings stay shared (fio's are private, so that its writes never reach the
//! file), and with an offset the range at the offset is mapped (fio's mapping begins at 0). With `direct=1` reads are
//! not followed by an `msync`, which has no effect on them. Must not know: batches. Start reading at `Mmap`, then
//! `window`.

mod window;

use crate::contract::options::EngineOptions;
use crate::contract::{EngineError, EngineFile, EngineSetup, IoResult, IoUnit, OpenTarget, Prepare};
use crate::files::control;
use crate::files::fd_table::FdTable;
use crate::files::inline::{Inline, Transfer};
use ferrio_spec::engines::options::mmap::THP;
use ferrio_sys::file_mapping::{FileMapping, MappingAdvice};
use ferrio_sys::{Errno, file_cache};
use ferrio_units::Direction;
use std::io;
use std::os::fd::BorrowedFd;
use window::MappedWindow;

pub(crate) const PREPARE: Prepare = |options| Ok(Box::new(Inline(Mmap::new(options))));

/// The mappings of a job.
struct Mmap {
    has_huge_pages: bool,
    is_direct: bool,
    /// Length of windows, where a file cannot be mapped whole.
    window_bytes: u64,
    files: Vec<Option<MappedFile>>,
}

/// An open file and the part of it that is mapped at present.
struct MappedFile {
    range: MappedWindow,
    is_writable: bool,
    is_random: bool,
    mapped: Option<(MappedWindow, FileMapping)>,
}

impl Mmap {
    fn new(options: &EngineOptions) -> Self {
        Self { has_huge_pages: options.get(&THP), is_direct: false, window_bytes: 0, files: Vec::new() }
    }

    /// The mapping that holds a unit, and the unit's offset in it.
    fn mapping_of(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit) -> Result<(&mut FileMapping, usize), Errno> {
        let Self { has_huge_pages, window_bytes, .. } = *self;
        let file = self.files.get_mut(unit.file_index as usize).and_then(Option::as_mut).ok_or(Errno::BADF)?;
        let wanted = MappedWindow::new(unit.offset_bytes, unit.length_bytes as u64);
        let is_usable = |(window, mapping): &(MappedWindow, FileMapping)| window.holds(wanted) && !mapping.is_damaged();
        if !file.mapped.as_ref().is_some_and(is_usable) {
            // Unmaps the old window before it maps the new one, so that two are never mapped at the same time.
            file.mapped = None;
            let window = file.range.part_for(wanted, window_bytes);
            let mapping = file.map(fd, window, has_huge_pages)?;
            file.mapped = Some((window, mapping));
        }
        let (window, mapping) = file.mapped.as_mut().ok_or(Errno::INVAL)?;
        Ok((mapping, (unit.offset_bytes - window.start) as usize))
    }

    fn sync(&self, fds: &FdTable, unit: &IoUnit) -> Result<(), Errno> {
        let file = self.files.get(unit.file_index as usize).and_then(Option::as_ref).ok_or(Errno::BADF)?;
        match &file.mapped {
            Some((window, mapping)) if window.holds(file.range) => mapping.sync(0, mapping.len()),
            // The sync must also cover windows that were mapped before.
            _ => file_cache::sync(fds.get(unit.file_index)?),
        }
    }
}

impl MappedFile {
    fn map(&self, fd: BorrowedFd<'_>, window: MappedWindow, has_huge_pages: bool) -> Result<FileMapping, Errno> {
        let len = usize::try_from(window.length_bytes).map_err(|_| Errno::NOMEM)?;
        let errno_of = |error: ferrio_sys::Error| Errno::from_raw_os_error(error.errno().unwrap_or(libc::EIO));
        let mapping = FileMapping::new(fd, window.start, len, self.is_writable).map_err(errno_of)?;
        if has_huge_pages {
            mapping.advise(MappingAdvice::HugePages).map_err(errno_of)?;
        }
        let advice = if self.is_random { MappingAdvice::Random } else { MappingAdvice::Sequential };
        mapping.advise(advice).map_err(errno_of)?;
        Ok(mapping)
    }
}

impl Transfer for Mmap {
    fn start(&mut self, setup: &EngineSetup) {
        self.is_direct = setup.direct;
        self.window_bytes = MappedWindow::bytes_for(setup.n_files, setup.max_block_bytes as u64);
        self.files = (0..setup.n_files).map(|_| None).collect();
    }

    fn opened(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        let mut mapped = MappedFile {
            range: MappedWindow::new(file.range_start, file.range_bytes),
            is_writable: file.writable,
            is_random: file.random,
            mapped: None,
        };
        let whole = mapped.range.aligned();
        if let (OpenTarget::Descriptor(fd), true) = (file.target, whole.length_bytes > 0) {
            match mapped.map(fd, whole, self.has_huge_pages) {
                Ok(mapping) => mapped.mapped = Some((whole, mapping)),
                // No room for the whole file: windows are mapped when an I/O needs them.
                Err(Errno::NOMEM) => {}
                Err(errno) => return Err(explain(errno, self.has_huge_pages)),
            }
        }
        if let Some(place) = self.files.get_mut(file.index as usize) {
            *place = Some(mapped);
        }
        Ok(())
    }

    fn closed(&mut self, file_index: u32) {
        if let Some(file) = self.files.get_mut(file_index as usize) {
            *file = None;
        }
    }

    #[inline]
    fn read(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno> {
        let (mapping, at) = self.mapping_of(fd, unit)?;
        mapping.read(at, buffer)?;
        Ok(buffer.len())
    }

    #[inline]
    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        let is_direct = self.is_direct;
        let (mapping, at) = self.mapping_of(fd, unit)?;
        mapping.write(at, buffer)?;
        if is_direct {
            mapping.sync(at, buffer.len())?;
        }
        Ok(buffer.len())
    }

    fn control(&mut self, fds: &FdTable, unit: &IoUnit) -> IoResult {
        match unit.direction {
            Direction::Sync | Direction::Datasync | Direction::SyncFileRange => {
                control::result_of(self.sync(fds, unit).map(|()| unit.length_bytes))
            }
            _ => control::run(fds, unit),
        }
    }

    fn hint(&self, _unit: &IoUnit, errno: i32) -> Option<&'static str> {
        match errno {
            libc::EIO => Some("the file was truncated under its mapping, or the device failed to read a page"),
            libc::ENOMEM => Some("the address space has no room for a window of the file: see ulimit -v"),
            _ => None,
        }
    }
}

fn explain(errno: Errno, has_huge_pages: bool) -> EngineError {
    let hint = match errno {
        Errno::INVAL if has_huge_pages => "thp needs a kernel with transparent huge pages; leave it out",
        Errno::NODEV => "this file system or device cannot be mapped; use ioengine=psync",
        Errno::ACCESS => "the file is not open for what the mapping needs",
        _ => "use ioengine=psync",
    };
    EngineError::Refused {
        engine: "mmap",
        what: "mapping the file".to_owned(),
        source: io::Error::from(errno),
        hint: hint.to_owned(),
    }
}

#[cfg(test)]
mod tests;
