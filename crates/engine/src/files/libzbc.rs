//! `ioengine=libzbc`: zoned disks of SCSI and ATA, by the kernel's own support of zones instead of the library of that name.
//!
//! Direct reads and writes of the block device, one at a time; with `zonemode=zbd` a trim is a reset of its zone.
//! Must not know: zones. Start reading at `ZonedTransfer`.

use crate::contract::{Engine, EngineError, EngineFile, EngineSetup, IoUnit, OpenTarget, Prepare, Prepared};
use crate::files::inline::{Inline, Transfer};
use ferrio_sys::block_device::BlockDevice;
use ferrio_sys::block_device::zones::ZoneModel;
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_sys::{Errno, file_io};
use std::os::fd::BorrowedFd;

const NAME: &str = "libzbc";

pub(crate) const PREPARE: Prepare = |_| Ok(Box::new(Idle));

/// The engine before it is started.
struct Idle;

impl Prepared for Idle {
    fn start(self: Box<Self>, setup: EngineSetup) -> Result<Box<dyn Engine>, EngineError> {
        if !setup.direct {
            return Err(EngineError::bad_option(
                NAME,
                "direct",
                "0",
                "I/O to zones goes past the page cache: direct=1",
            ));
        }
        Box::new(Inline(ZonedTransfer)).start(setup)
    }
}

/// Reads and writes of a zoned block device.
struct ZonedTransfer;

impl Transfer for ZonedTransfer {
    fn opened(&mut self, file: &EngineFile<'_>) -> Result<(), EngineError> {
        let OpenTarget::Descriptor(fd) = file.target else { return Ok(()) };
        let unfit = |what: &str, is_named: bool, errno: i32| {
            Err(EngineError::Unfit { step: "zbc_open", what: what.to_owned(), is_named, errno })
        };
        let Ok(info) = FileInfo::of_file(&fd) else { return unfit("zbc_open() failed, err=5", true, libc::EIO) };
        match info.kind {
            FileKind::Block => {}
            FileKind::Character => {
                let what = "a zoned disk behind /dev/sgN is not built yet; take its block device (lsscsi -g)";
                return unfit(what, true, libc::EOPNOTSUPP);
            }
            _ => return unfit("ioengine libzbc only works on block or character devices", false, libc::EINVAL),
        }
        let is_zoned =
            BlockDevice::by_number(info.is_device).ok().flatten().and_then(|disk| ZoneModel::of(&disk)).is_some();
        if is_zoned { Ok(()) } else { unfit("zbc_open() failed, err=6: it is no zoned disk", true, libc::ENXIO) }
    }

    fn read(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno> {
        file_io::pread(fd, buffer, unit.offset_bytes)
    }

    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        file_io::pwrite(fd, buffer, unit.offset_bytes)
    }
}
