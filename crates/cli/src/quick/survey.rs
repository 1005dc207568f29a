//! What a directory lies on: file system, device, free space.
//!
//! Must not know: what follows from it. Start reading at [`Survey::of_directory`].

use super::numbers::bytes_text;
use anyhow::Result;
use ferrio_sys::block_device::BlockDevice;
use ferrio_sys::file_space::file_system_space;
use ferrio_sys::mounts::{Mount, parse_mountinfo};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// File systems that keep their data in memory. Some of them take `O_DIRECT` all the same.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];

/// Facts about a directory.
#[derive(Debug, Clone)]
pub(super) struct Survey {
    /// Kind of file system, such as `ext4`.
    pub(super) file_system: String,
    /// Where it is mounted.
    pub(super) mounted_on: PathBuf,
    /// It has no device, its data is in memory.
    pub(super) is_memory: bool,
    /// The disk under it; `None` if the kernel shows none.
    pub(super) device: Option<Device>,
    /// Free for anyone.
    pub(super) available_bytes: u64,
}

/// A disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Device {
    /// As in `/sys/block`.
    pub(super) name: String,
    /// Its size; 0 if it is not known.
    pub(super) bytes: u64,
    /// What its maker calls it.
    pub(super) model: Option<String>,
    /// What it is made of: a file (loop devices) or other disks (dm, md).
    pub(super) made_of: Vec<String>,
    /// It is a loop device that goes through the page cache of its file.
    pub(super) is_cached: bool,
}

impl Survey {
    /// Looks at a directory, which must be absolute and without links.
    pub(super) fn of_directory(directory: &Path) -> Result<Self> {
        let space = file_system_space(directory)?;
        let mounts = parse_mountinfo(&std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default());
        let mount = mount_of(&mounts, directory);
        let file_system = mount.map_or_else(|| "unknown".to_owned(), |mount| mount.file_system.clone());
        let is_memory = IN_MEMORY.contains(&file_system.as_str());
        Ok(Self {
            mounted_on: mount.map_or_else(|| PathBuf::from("/"), |mount| mount.place.clone()),
            device: if is_memory { None } else { device_of(directory, mount).map(|disk| Device::of(&disk)) },
            is_memory,
            file_system,
            available_bytes: space.available_bytes,
        })
    }
}

/// The mount with the longest way; of several at one place, the last is on top.
fn mount_of<'a>(mounts: &'a [Mount], directory: &Path) -> Option<&'a Mount> {
    let covering = mounts.iter().filter(|mount| directory.starts_with(&mount.place));
    covering.max_by_key(|mount| mount.place.as_os_str().len())
}

/// The disk by the number in `stat`, or by what was mounted: btrfs shows numbers of its own.
fn device_of(directory: &Path, mount: Option<&Mount>) -> Option<BlockDevice> {
    let by_number = BlockDevice::behind_path(directory).ok().flatten();
    let source = mount.map(|mount| Path::new(&mount.source)).filter(|source| source.starts_with("/dev"));
    by_number.or_else(|| BlockDevice::behind_path(source?).ok().flatten())
}

impl Device {
    fn of(disk: &BlockDevice) -> Self {
        let n_sectors: u64 = disk.attribute("size").and_then(|text| text.parse().ok()).unwrap_or(0);
        let backing = disk.loop_backing_file().map(|path| path.display().to_string());
        let slaves = disk.slaves().unwrap_or_default().into_iter().map(|slave| slave.name);
        Self {
            name: disk.name.clone(),
            bytes: n_sectors.saturating_mul(512),
            model: disk.attribute("device/model").filter(|model| !model.is_empty()),
            is_cached: disk.attribute("loop/dio").is_some_and(|flag| flag == "0"),
            made_of: backing.into_iter().chain(slaves).collect(),
        }
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        if self.bytes > 0 {
            write!(f, ", {}", bytes_text(self.bytes))?;
        }
        if let Some(model) = &self.model {
            write!(f, ", {model}")?;
        }
        if !self.made_of.is_empty() {
            write!(f, ", made of {}", self.made_of.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTINFO: &str = "22 1 254:1 / / rw - ext4 /dev/vda1 rw\n\
        23 22 0:40 / /mnt rw - tmpfs tmpfs rw\n\
        24 22 0:41 /sub /mnt/data rw - btrfs /dev/sdb rw\n\
        25 22 8:32 / /mnt/data rw - xfs /dev/sdc rw\n";

    #[test]
    fn the_longest_and_the_last_mount_count() {
        let mounts = parse_mountinfo(MOUNTINFO);
        let kind = |directory: &str| mount_of(&mounts, Path::new(directory)).map(|mount| mount.file_system.clone());
        assert_eq!(kind("/mnt/data/deep/er").as_deref(), Some("xfs"));
        assert_eq!(kind("/mnt/database").as_deref(), Some("tmpfs"));
        assert_eq!(kind("/home").as_deref(), Some("ext4"));
        assert!(mount_of(&[], Path::new("/")).is_none());
    }

    #[test]
    fn a_device_in_one_line() {
        let mut device = Device { name: "vda".to_owned(), bytes: 0, model: None, made_of: vec![], is_cached: false };
        assert_eq!(device.to_string(), "vda");
        device.bytes = 252 << 30;
        device.model = Some("QEMU HARDDISK".to_owned());
        assert_eq!(device.to_string(), "vda, 252 GiB, QEMU HARDDISK");
        device.made_of = vec!["sda".to_owned(), "sdb".to_owned()];
        assert_eq!(device.to_string(), "vda, 252 GiB, QEMU HARDDISK, made of sda, sdb");
    }

    #[test]
    fn process_information_is_no_memory_file_system_but_shm_is() {
        assert!(!Survey::of_directory(Path::new("/proc")).unwrap().is_memory);
        if Path::new("/dev/shm").is_dir() {
            let survey = Survey::of_directory(Path::new("/dev/shm")).unwrap();
            assert!(!survey.is_memory || survey.device.is_none(), "{survey:?}");
        } else {
            eprintln!("SKIPPED process_information_is_no_memory_file_system_but_shm_is: no /dev/shm");
        }
    }
}
