//! The block device of the disk behind a `/dev/sgN` or `/dev/bsg/H:C:T:L`, by sysfs: both have the same data.
//!
//! Must not know: commands. Start reading at [`block_device_of`].

use crate::devices::SYS_DEV_CHAR;
use crate::devices::block_device::{DeviceNumber, path_of};
use crate::error::{Context, Error, Result};
use std::path::{Path, PathBuf};

/// The classes of `/dev/sgN` and of `/dev/bsg/H:C:T:L`.
const CLASSES: [&str; 2] = ["scsi_generic", "bsg"];

/// The kind of a character device of SCSI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScsiClass {
    /// `/dev/sgN`.
    Generic,
    /// `/dev/bsg/H:C:T:L`.
    Bsg,
}

/// The kind of the character device with this number; `None`: it is none of SCSI, or that cannot be found out.
pub fn class_of(number: DeviceNumber) -> Option<ScsiClass> {
    class(number, Path::new(SYS_DEV_CHAR))
}

fn class(number: DeviceNumber, characters: &Path) -> Option<ScsiClass> {
    let class = std::fs::canonicalize(characters.join(number.to_string()).join("subsystem")).ok()?;
    let name = class.file_name()?;
    [ScsiClass::Generic, ScsiClass::Bsg]
        .into_iter()
        .zip(CLASSES)
        .find(|(_, known)| name == *known)
        .map(|(kind, _)| kind)
}

/// What is behind a character device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScsiSide {
    /// A disk with this block device.
    Disk(PathBuf),
    /// A device of SCSI without a block device, such as a tape.
    NoDisk,
    /// The character device is none of SCSI.
    NotScsi,
}

/// What is behind the character device with this number.
pub fn block_device_of(number: DeviceNumber) -> Result<ScsiSide> {
    side(number, Path::new(SYS_DEV_CHAR))
}

fn side(number: DeviceNumber, characters: &Path) -> Result<ScsiSide> {
    let link = characters.join(number.to_string());
    let class = link.join("subsystem");
    let class = std::fs::canonicalize(&class).context("resolve", class.display())?;
    if class.file_name().is_none_or(|name| CLASSES.iter().all(|class| name != *class)) {
        return Ok(ScsiSide::NotScsi);
    }
    let blocks = link.join("device/block");
    let mut entries = match std::fs::read_dir(&blocks) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(ScsiSide::NoDisk),
        Err(error) => return Err(error).context("list", blocks.display()),
    };
    let Some(entry) = entries.next() else { return Ok(ScsiSide::NoDisk) };
    let entry = entry.context("list", blocks.display())?;
    let file = entry.path().join("dev");
    let text = std::fs::read_to_string(&file).context("read", file.display())?;
    let number = DeviceNumber::parse(&text).ok_or(Error::Parse { what: "number of a device", text })?;
    Ok(ScsiSide::Disk(path_of(number).unwrap_or_else(|| Path::new("/dev").join(entry.file_name()))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_disk_a_tape_and_another_device_are_told_apart() {
        let root = std::env::temp_dir().join(format!("ferrio-sys-scsi-{}", std::process::id()));
        for directory in
            ["class/scsi_generic", "class/mem", "char/21:0/device/block/sdx", "char/21:1/device", "char/1:3"]
        {
            fs::create_dir_all(root.join(directory)).unwrap();
        }
        for (device, class) in [("21:0", "scsi_generic"), ("21:1", "scsi_generic"), ("1:3", "mem")] {
            symlink(root.join("class").join(class), root.join("char").join(device).join("subsystem")).unwrap();
        }
        fs::write(root.join("char/21:0/device/block/sdx/dev"), "4095:1\n").unwrap();
        let of = |major, minor| side(DeviceNumber { major, minor }, &root.join("char"));
        assert_eq!(of(21, 0).unwrap(), ScsiSide::Disk(PathBuf::from("/dev/sdx")));
        assert_eq!(of(21, 1).unwrap(), ScsiSide::NoDisk);
        assert_eq!(of(1, 3).unwrap(), ScsiSide::NotScsi);
        assert!(of(9, 9).is_err());
        let class = |major, minor| class(DeviceNumber { major, minor }, &root.join("char"));
        assert_eq!([class(21, 1), class(1, 3), class(9, 9)], [Some(ScsiClass::Generic), None, None]);
        fs::remove_dir_all(root).unwrap();
    }
}
