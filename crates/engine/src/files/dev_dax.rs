//! `ioengine=dev-dax`: persistent memory without a file system, behind `/dev/daxX.Y`.
//!
//! The size is that of the device. A write is in the memory when it returns, so that a sync has nothing to do.
//! Facts: reference engines.md, section 11; fio 3.41 on an emulated NVDIMM. Must not know: files. Start reading at `DaxMemory`, then `pmem`.

use crate::contract::{Cancellation, EngineError, EngineFile, EngineSetup, Prepare, Prepared};
use crate::files::pmem::{self, MappedRange, MemoryKind};
use ferrio_sys::dax_device::DaxDevice;
use ferrio_sys::file::FileInfo;
use ferrio_sys::file_mapping::FileMapping;
use ferrio_sys::persistent_memory::CopyKind;
use std::os::fd::BorrowedFd;
use std::path::Path;

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(DaxMemory));

/// Devices of persistent memory.
struct DaxMemory;

fn device(info: ferrio_sys::Result<FileInfo>) -> Result<DaxDevice, EngineError> {
    let found = info.and_then(|info| DaxDevice::of(info.is_device));
    match found.map_err(|source| EngineError::Target { step: "dax_size".to_owned(), source })? {
        Some(device) => Ok(device),
        None => Err(EngineError::Unfit {
            step: "dax_size",
            what: "it is not a DAX device (/dev/daxX.Y; ndctl list -D names them)".to_owned(),
            is_named: true,
            errno: libc::EINVAL,
        }),
    }
}

impl Prepared for DaxMemory {
    fn target_bytes(&self, name: &Path, _cancellation: Cancellation<'_>) -> Result<Option<u64>, EngineError> {
        device(FileInfo::of_path(name)).map(|device| Some(device.size_bytes))
    }

    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn crate::contract::Engine>, EngineError> {
        pmem::start(*self, setup)
    }
}

impl MemoryKind for DaxMemory {
    const NAME: &'static str = "dev-dax";

    fn map(&self, fd: BorrowedFd<'_>, file: &EngineFile<'_>) -> Result<MappedRange, EngineError> {
        let align_bytes = device(FileInfo::of_file(&fd))?.align_bytes;
        let (start, length) = pmem::aligned(file, align_bytes).map_err(|errno| EngineError::Failed {
            engine: Self::NAME,
            step: "mmap",
            what: "mapping the range of the job".to_owned(),
            source: errno.into(),
        })?;
        // The device gives no mapping without MAP_SYNC less than one with it; older kernels refuse the flag here.
        let mapping = FileMapping::new(fd, start, length, file.writable);
        mapping.map(|mapping| MappedRange { start, mapping }).map_err(|error| pmem::map_error(Self::NAME, &error))
    }

    fn writes(&self, _setup: &EngineSetup) -> (CopyKind, bool) {
        (CopyKind::NonTemporal, true)
    }
}
