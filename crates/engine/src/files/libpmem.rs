//! `ioengine=libpmem`: files in persistent memory, mapped past the page cache (`MAP_SYNC`), without the library of that name.
//!
//! With `direct=1` writes are stores past the caches, else by the caches, which are then written back. A sync waits until the data is
//! in the memory (a fence); with `sync` each write does. `PMEM_IS_PMEM_FORCE=1` in the environment takes any file for persistent memory,
//! as the library does. Facts: reference engines.md, section 11; fio 3.41 on an emulated NVDIMM.
//! Must not know: devices. Start reading at `PmemFiles`, then `pmem`.

use crate::contract::{EngineError, EngineFile, EngineSetup, Prepare, Prepared};
use crate::files::pmem::{self, MappedRange, MemoryKind};
use ferrio_spec::SyncMode;
use ferrio_sys::Errno;
use ferrio_sys::file_mapping::FileMapping;
use ferrio_sys::persistent_memory::CopyKind;
use std::os::fd::BorrowedFd;

pub(crate) const PREPARE: Prepare = |_| {
    let is_forced = std::env::var_os(FORCE).is_some_and(|value| value == "1");
    Ok(Box::new(PmemFiles { is_forced }))
};

/// The variable by which any file is taken for persistent memory.
const FORCE: &str = "PMEM_IS_PMEM_FORCE";

/// Offset and length of mappings are multiples of it, bytes: the largest page of any machine.
const ALIGN_BYTES: u64 = 65_536;

/// Files in persistent memory.
struct PmemFiles {
    is_forced: bool,
}

impl Prepared for PmemFiles {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn crate::contract::Engine>, EngineError> {
        pmem::start(*self, setup)
    }
}

impl MemoryKind for PmemFiles {
    const NAME: &'static str = "libpmem";

    fn map(&self, fd: BorrowedFd<'_>, file: &EngineFile<'_>) -> Result<MappedRange, EngineError> {
        let (start, _) = pmem::aligned(file, ALIGN_BYTES).map_err(not_mapped)?;
        // A mapping may end anywhere, unlike one of a device.
        let length = file.range_start.saturating_add(file.range_bytes) - start;
        let length = usize::try_from(length).map_err(|_| not_mapped(Errno::NOMEM))?;
        let mapped = match FileMapping::new_persistent(fd, start, length, file.writable) {
            Err(error) if error.errno() == Some(libc::EOPNOTSUPP) && self.is_forced => {
                FileMapping::new(fd, start, length, file.writable)
            }
            mapped => mapped,
        };
        match mapped {
            Ok(mapping) => Ok(MappedRange { start, mapping }),
            Err(error) if error.errno() == Some(libc::EOPNOTSUPP) => Err(EngineError::Unfit {
                step: "file_name does not point to persistent memory",
                what: "it is not in persistent memory that is mapped directly (mount with dax=always); PMEM_IS_PMEM_FORCE=1 \
                       in the environment takes it all the same, without durability"
                    .to_owned(),
                is_named: true,
                errno: libc::EOPNOTSUPP,
            }),
            Err(error) => Err(pmem::map_error(Self::NAME, &error)),
        }
    }

    fn writes(&self, setup: &EngineSetup) -> (CopyKind, bool) {
        let copy = if setup.direct { CopyKind::NonTemporal } else { CopyKind::Temporal };
        (copy, setup.job.syncs.mode != SyncMode::None)
    }
}

fn not_mapped(errno: Errno) -> EngineError {
    EngineError::Failed {
        engine: PmemFiles::NAME,
        step: "mmap",
        what: "mapping the range of the job".to_owned(),
        source: errno.into(),
    }
}
