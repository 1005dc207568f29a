//! What `libpmem` and `dev-dax` share: the range of a job mapped into memory, reads and writes by copies, and the instructions that
//! make the copies durable. No library and no system call is needed for an I/O.
//!
//! Must not know: where the memory comes from. Start reading at [`MappedMemory`].

use crate::contract::{EngineError, EngineFile, EngineSetup, IoResult, IoUnit, OpenTarget, Prepared};
use crate::files::control;
use crate::files::fd_table::FdTable;
use crate::files::inline::{Inline, Transfer};
use ferrio_sys::Errno;
use ferrio_sys::file_mapping::FileMapping;
use ferrio_sys::persistent_memory::{CopyKind, WriteBack};
use ferrio_units::Direction;
use std::io;
use std::os::fd::BorrowedFd;

/// The way in which an engine maps and writes.
pub(crate) trait MemoryKind {
    const NAME: &'static str;

    /// The mapping of `len` bytes of a file from an offset, both rounded as the memory needs it; `at`: where the job's range begins.
    fn map(&self, fd: BorrowedFd<'_>, file: &EngineFile<'_>) -> Result<MappedRange, EngineError>;

    /// How the data of a write gets into the memory, and whether the write waits for that.
    fn writes(&self, setup: &EngineSetup) -> (CopyKind, bool);
}

/// A mapped part of a file.
pub(crate) struct MappedRange {
    /// First byte of the file that is mapped.
    pub(crate) start: u64,
    pub(crate) mapping: FileMapping,
}

/// A range extended to multiples of the alignment of mappings, as offset and length.
pub(crate) fn aligned(file: &EngineFile<'_>, align_bytes: u64) -> Result<(u64, usize), Errno> {
    let start = file.range_start / align_bytes * align_bytes;
    let end = file.range_start.checked_add(file.range_bytes).and_then(|end| end.checked_next_multiple_of(align_bytes));
    let length = end.ok_or(Errno::OVERFLOW)? - start;
    usize::try_from(length).map(|length| (start, length)).map_err(|_| Errno::NOMEM)
}

pub(crate) fn map_error(engine: &'static str, error: &ferrio_sys::Error) -> EngineError {
    let errno = error.errno().unwrap_or(libc::EIO);
    let hint = match errno {
        libc::ENOMEM => "the address space has no room for the range of the job: see ulimit -v, or give a smaller size",
        libc::EACCES => "the file is not open for what the mapping needs",
        _ => "see the page of the engines for what this memory allows",
    };
    EngineError::Refused {
        engine,
        what: "mapping the memory".to_owned(),
        source: io::Error::from_raw_os_error(errno),
        hint: hint.to_owned(),
    }
}

/// An engine over persistent memory before it is started.
pub(crate) fn start<K: MemoryKind + 'static>(
    kind: K,
    setup: EngineSetup,
) -> Result<Box<dyn crate::contract::Engine>, EngineError> {
    let Some(write_back) = WriteBack::of_cpu() else {
        return Err(EngineError::Refused {
            engine: K::NAME,
            what: "writing back cache lines".to_owned(),
            source: io::Error::from(Errno::OPNOTSUPP),
            hint: "ferrio knows how to do this on x86-64 and aarch64 only".to_owned(),
        });
    };
    let (copy, is_drained) = kind.writes(&setup);
    let files = (0..setup.n_files).map(|_| None).collect();
    Box::new(Inline(MappedMemory { kind, write_back, copy, is_drained, files })).start(setup)
}

struct MappedMemory<K> {
    kind: K,
    write_back: WriteBack,
    copy: CopyKind,
    /// Each write waits until its data is in the memory.
    is_drained: bool,
    files: Vec<Option<MappedRange>>,
}

impl<K> MappedMemory<K> {
    #[inline]
    fn place_of(&mut self, unit: &IoUnit) -> Result<(&mut FileMapping, usize), Errno> {
        let file = self.files.get_mut(unit.file_index as usize).and_then(Option::as_mut).ok_or(Errno::BADF)?;
        let at = unit.offset_bytes.checked_sub(file.start).ok_or(Errno::INVAL)?;
        Ok((&mut file.mapping, usize::try_from(at).map_err(|_| Errno::INVAL)?))
    }
}

impl<K: MemoryKind> Transfer for MappedMemory<K> {
    fn opened(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        let OpenTarget::Descriptor(fd) = file.target else { return Ok(()) };
        let mapped = self.kind.map(fd, file)?;
        if let Some(place) = self.files.get_mut(file.index as usize) {
            *place = Some(mapped);
        }
        Ok(())
    }

    fn closed(&mut self, file_index: u32) {
        if let Some(place) = self.files.get_mut(file_index as usize) {
            *place = None;
        }
    }

    #[inline]
    fn read(&mut self, _fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno> {
        let (mapping, at) = self.place_of(unit)?;
        mapping.read(at, buffer)?;
        Ok(buffer.len())
    }

    #[inline]
    fn write(&mut self, _fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        let (write_back, copy, is_drained) = (self.write_back, self.copy, self.is_drained);
        let (mapping, at) = self.place_of(unit)?;
        mapping.write_through(at, buffer, write_back, copy)?;
        if is_drained {
            write_back.drain();
        }
        Ok(buffer.len())
    }

    fn control(&mut self, fds: &FdTable, unit: &IoUnit) -> IoResult {
        match unit.direction {
            Direction::Trim => control::error_result(Errno::INVAL),
            Direction::Syncfs => control::run(fds, unit),
            _ => {
                self.write_back.drain();
                IoResult::done(unit.length_bytes)
            }
        }
    }

    fn sync_apart(&mut self) -> Option<i32> {
        self.write_back.drain();
        Some(0)
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        match (Errno::from_raw_os_error(errno), unit.direction) {
            (Errno::INVAL, Direction::Trim) => Some("persistent memory has no trim"),
            (Errno::IO, _) => Some("the memory could not be read, or the file was cut under its mapping"),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_begins_and_ends_at_multiples_of_the_alignment() {
        let file = |range_start, range_bytes| EngineFile {
            index: 0,
            target: OpenTarget::Name(std::path::Path::new("a")),
            writable: true,
            range_start,
            range_bytes,
            random: false,
            cancellation: crate::contract::Cancellation::ENDLESS,
        };
        assert_eq!(aligned(&file(5 << 20, 1 << 20), 2 << 20), Ok((4 << 20, 2 << 20)));
        assert_eq!(aligned(&file(0, 1), 4096), Ok((0, 4096)));
        assert_eq!(aligned(&file(4095, 2), 4096), Ok((0, 8192)));
        assert_eq!(aligned(&file(u64::MAX - 1, 2), 4096), Err(Errno::OVERFLOW));
    }
}
