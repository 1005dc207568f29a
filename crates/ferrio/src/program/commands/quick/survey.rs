//! Examines what holds a directory: file system, device, free space.
//!
//! Must not know: the conclusions. Start reading at [`DirectorySurvey::of_directory`].

use anyhow::Result;
use ferrio_sys::block_device::BlockDevice;
use ferrio_sys::file_space::file_system_space;
use ferrio_sys::mounts::{disk_of, mount_of, mounts};
use ferrio_units::humanize::bytes_text;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// File systems that keep their data in memory. Some of them take `O_DIRECT` all the same.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];

#[derive(Debug, Clone)]
pub(super) struct DirectorySurvey {
    /// Kind of file system, such as `ext4`.
    pub(super) file_system: String,
    /// Mount point of the file system.
    pub(super) mounted_on: PathBuf,
    /// True if the file system has no device and keeps its data in memory.
    pub(super) is_memory: bool,
    /// The disk under it; `None` if the kernel shows none.
    pub(super) device: Option<TestedDisk>,
    /// Free for anyone.
    pub(super) available_bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct TestedDisk {
    pub(super) name: String,
    /// Its size; 0 if unknown.
    pub(super) bytes: u64,
    pub(super) model: Option<String>,
    /// Its parts: a file (loop devices) or other disks (dm, md).
    pub(super) made_of: Vec<String>,
    /// True for a loop device that uses the page cache of its file.
    pub(super) is_cached: bool,
}

impl DirectorySurvey {
    /// Looks at a directory, which must be absolute and without links.
    pub(super) fn of_directory(directory: &Path) -> Result<Self> {
        let space = file_system_space(directory)?;
        let mounts = mounts();
        let mount = mount_of(&mounts, directory);
        let file_system = mount.map_or_else(|| "unknown".to_owned(), |mount| mount.file_system.clone());
        let is_memory = IN_MEMORY.contains(&file_system.as_str());
        Ok(Self {
            mounted_on: mount.map_or_else(|| PathBuf::from("/"), |mount| mount.place.clone()),
            device: if is_memory { None } else { disk_of(directory, mount).map(|disk| TestedDisk::of(&disk)) },
            is_memory,
            file_system,
            available_bytes: space.available_bytes,
        })
    }
}

impl TestedDisk {
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

impl std::fmt::Display for TestedDisk {
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
    use ferrio_testing::skip_part;

    #[test]
    fn a_device_in_one_line() {
        let mut device =
            TestedDisk { name: "vda".to_owned(), bytes: 0, model: None, made_of: vec![], is_cached: false };
        assert_eq!(device.to_string(), "vda");
        device.bytes = 252 << 30;
        device.model = Some("QEMU HARDDISK".to_owned());
        assert_eq!(device.to_string(), "vda, 252 GiB, QEMU HARDDISK");
        device.made_of = vec!["sda".to_owned(), "sdb".to_owned()];
        assert_eq!(device.to_string(), "vda, 252 GiB, QEMU HARDDISK, made of sda, sdb");
    }

    #[test]
    fn process_information_is_no_memory_file_system_but_shm_is() {
        assert!(!DirectorySurvey::of_directory(Path::new("/proc")).unwrap().is_memory);
        if Path::new("/dev/shm").is_dir() {
            let survey = DirectorySurvey::of_directory(Path::new("/dev/shm")).unwrap();
            assert!(!survey.is_memory || survey.device.is_none(), "{survey:?}");
        } else {
            skip_part!("process_information_is_no_memory_file_system_but_shm_is", "no /dev/shm");
        }
    }
}
