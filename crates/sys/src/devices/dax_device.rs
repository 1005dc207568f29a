//! Devices of persistent memory without a file system (`/dev/daxX.Y`): their size, their alignment, and their users.
//!
//! Facts: Documentation/ABI/testing/sysfs-bus-dax. Must not know: jobs. Start reading at [`DaxDevice`].

use super::{SYS_DEV_CHAR, in_subsystem, number_in};
use crate::devices::block_device::DeviceNumber;
use crate::error::{Context, Error, Result};
use crate::files::mounts::DeviceUse;
use std::path::Path;

/// The bus and the older class of such devices.
const SUBSYSTEM: &str = "dax";

/// The driver whose devices programs may map.
const DRIVER: &str = "device_dax";

/// A device of persistent memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DaxDevice {
    pub size_bytes: u64,
    /// Mappings begin and end at multiples of it, bytes.
    pub align_bytes: u64,
}

impl DaxDevice {
    /// The device with this number; `None`: it is no such device.
    pub fn of(number: DeviceNumber) -> Result<Option<Self>> {
        Self::in_sysfs(number, Path::new(SYS_DEV_CHAR))
    }

    fn in_sysfs(number: DeviceNumber, characters: &Path) -> Result<Option<Self>> {
        let Some(directory) = in_subsystem(number, characters, SUBSYSTEM)? else { return Ok(None) };
        let read = |attribute| number_in(&directory, attribute);
        let (size_bytes, align_bytes) = (read("size")?, read("align")?);
        if !align_bytes.is_power_of_two() {
            return Err(Error::Parse { what: "align", text: align_bytes.to_string() });
        }
        Ok(Some(Self { size_bytes, align_bytes }))
    }
}

/// The use of the memory with this number, which must not be overwritten then: it is memory of the system, or a program whose
/// mappings can be seen has mapped it, such as a virtual machine. `None`: no use is known, or the device is no such memory.
pub fn use_of(number: DeviceNumber, path: &Path) -> Result<Option<DeviceUse>> {
    let Some(directory) = in_subsystem(number, Path::new(SYS_DEV_CHAR), SUBSYSTEM)? else { return Ok(None) };
    let driver = std::fs::canonicalize(directory.join("driver")).ok();
    let driver = driver.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    if let Some(name) = driver.filter(|name| name != DRIVER) {
        return Ok(Some(DeviceUse::HeldBy(format!("the driver {name}"))));
    }
    let path = std::fs::canonicalize(path).context("resolve", path.display())?;
    Ok(mapped_by(&path, Path::new("/proc")).map(DeviceUse::HeldBy))
}

/// Another program that has mapped a file.
fn mapped_by(path: &Path, processes: &Path) -> Option<String> {
    let wanted = path.to_str()?;
    let own = std::process::id();
    std::fs::read_dir(processes).ok()?.flatten().find_map(|entry| {
        let process: u32 = entry.file_name().to_str()?.parse().ok()?;
        if process == own {
            return None;
        }
        let maps = std::fs::read_to_string(entry.path().join("maps")).ok()?;
        let is_mapped = maps.lines().any(|line| line.split_ascii_whitespace().nth(5) == Some(wanted));
        let name = std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        is_mapped.then(|| format!("process {process} ({})", name.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempDir;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn size_and_alignment_are_those_of_sysfs() {
        let dir = TempDir::new("dax");
        let root = dir.path();
        for directory in ["bus/dax", "class/mem", "devices/dax0.0", "devices/null", "char"] {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        symlink(root.join("bus/dax"), root.join("devices/dax0.0/subsystem")).unwrap();
        symlink(root.join("class/mem"), root.join("devices/null/subsystem")).unwrap();
        symlink(root.join("devices/dax0.0"), root.join("char/251:0")).unwrap();
        symlink(root.join("devices/null"), root.join("char/1:3")).unwrap();
        let of = |major, minor| DaxDevice::in_sysfs(DeviceNumber { major, minor }, &root.join("char"));
        let put = |align: &str| fs::write(root.join("devices/dax0.0/align"), align).unwrap();
        fs::write(root.join("devices/dax0.0/size"), "130023424\n").unwrap();
        put("2097152\n");
        let expected = DaxDevice { size_bytes: 130_023_424, align_bytes: 2 << 20 };
        assert_eq!(of(251, 0).unwrap(), Some(expected));
        assert_eq!(of(1, 3).unwrap(), None);
        assert_eq!(of(9, 9).unwrap(), None);
        for bad in ["0\n", "3\n", "\n", "much"] {
            put(bad);
            assert!(of(251, 0).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_program_that_has_mapped_the_device_is_found() {
        let dir = TempDir::new("dax-maps");
        let process = |number: &str, maps: &str| {
            let directory = dir.path().join(number);
            fs::create_dir(&directory).unwrap();
            fs::write(directory.join("maps"), maps).unwrap();
            fs::write(directory.join("comm"), "qemu\n").unwrap();
        };
        let line = "7f0000000000-7f0000200000 rw-s 00000000 00:05 300   /dev/dax0.0\n";
        process(&std::process::id().to_string(), line);
        process("999999991", "7f0000000000-7f0000200000 rw-s 00000000 00:05 301  /dev/dax1.0\n");
        assert_eq!(mapped_by(Path::new("/dev/dax0.0"), dir.path()), None);
        process("999999992", line);
        let found = mapped_by(Path::new("/dev/dax0.0"), dir.path());
        assert_eq!(found.as_deref(), Some("process 999999992 (qemu)"));
    }
}
