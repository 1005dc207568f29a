//! Devices: block devices and their zones, NVMe, SCSI, flash, persistent memory; their counters and temperatures.
//!
//! Must not know: queues. Start reading at [`block_device`], then [`nvme`] and [`scsi`].

pub mod block_device;
pub mod dax_device;
pub mod disk_stats;
pub mod heat;
pub mod mtd;
pub mod nvme;
pub mod scsi;

use crate::error::{Context, Error, Result};
use block_device::DeviceNumber;
use std::io;
use std::path::{Path, PathBuf};

/// Directory of sysfs that lists character devices by number.
const SYS_DEV_CHAR: &str = "/sys/dev/char";

/// The entry of a character device in sysfs; `None`: the device with this number does not belong to the subsystem (a bus or a class).
fn in_subsystem(number: DeviceNumber, characters: &Path, name: &str) -> Result<Option<PathBuf>> {
    let link = characters.join(number.to_string());
    let subsystem = link.join("subsystem");
    match std::fs::canonicalize(&subsystem) {
        Ok(found) => Ok(found.file_name().is_some_and(|found| found == name).then_some(link)),
        // Some devices, such as terminals of other name spaces, are not in sysfs: no memory is among them.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).context("resolve", subsystem.display()),
    }
}

/// A number that sysfs has about a device.
fn number_in(directory: &Path, attribute: &'static str) -> Result<u64> {
    let path = directory.join(attribute);
    let text = std::fs::read_to_string(&path).context("read", path.display())?;
    text.trim().parse::<u64>().map_err(|_| Error::Parse { what: attribute, text })
}
