//! Block devices: size, block size and flush by `ioctl`, and the place of a device in sysfs. Discards are in
//! [`crate::files::io_calls`].
//!
//! Must not know: why it is asked. Start reading at [`DeviceNumber`], then [`BlockDevice`].
#![expect(unsafe_code, reason = "ioctl with the kernel's own opcodes")]

pub mod identity;
pub mod link;
pub mod metadata;
mod partition;
pub mod zones;

use crate::error::{Context, Error, Result};
use crate::files::file::{FileInfo, FileKind};
use rustix::fd::AsFd;
use rustix::ioctl::{Getter, NoArg, Opcode, ioctl, opcode};
use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

pub use partition::Partition;

/// Group byte of the block layer's opcodes in `linux/fs.h`.
const GROUP: u8 = 0x12;
const BLKFLSBUF: Opcode = opcode::none(GROUP, 97);
const BLKGETSIZE64: Opcode = opcode::read::<usize>(GROUP, 114);

/// Directory of sysfs that lists block devices by number.
const SYS_DEV_BLOCK: &str = "/sys/dev/block";

/// Size of an open block device.
pub fn size_bytes(device: impl AsFd) -> Result<u64> {
    // SAFETY: this opcode writes one u64 (its opcode says size_t for historical reasons).
    unsafe { ioctl(device, Getter::<BLKGETSIZE64, u64>::new()) }.context("ioctl", "BLKGETSIZE64")
}

/// Logical block size of an open block device: the least unit of direct I/O.
pub fn logical_block_bytes(device: impl AsFd) -> Result<u32> {
    rustix::fs::ioctl_blksszget(device).context("ioctl", "BLKSSZGET")
}

/// Writes dirty buffers of a block device back and drops its page cache.
pub fn flush_buffers(device: impl AsFd) -> Result<()> {
    // SAFETY: this opcode takes no argument.
    unsafe { ioctl(device, NoArg::<BLKFLSBUF>::new()) }.context("ioctl", "BLKFLSBUF")
}

/// Major and minor number of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeviceNumber {
    pub major: u32,
    pub minor: u32,
}

impl DeviceNumber {
    /// From the number in a `stat`.
    pub fn from_raw(raw: u64) -> Self {
        Self { major: rustix::fs::major(raw), minor: rustix::fs::minor(raw) }
    }

    /// From sysfs's and mountinfo's form `major:minor`.
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

/// The name in `/dev` that the kernel has for the block device with this number; `None` if sysfs does not know it.
pub fn path_of(number: DeviceNumber) -> Option<PathBuf> {
    let uevent = std::fs::read_to_string(Path::new(SYS_DEV_BLOCK).join(number.to_string()).join("uevent")).ok()?;
    let name = uevent.lines().find_map(|line| line.strip_prefix("DEVNAME="))?;
    Some(Path::new("/dev").join(name))
}

/// A whole disk as sysfs shows it. A partition is represented by its disk, because the kernel schedules and counts
/// there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockDevice {
    /// Name, as in `/sys/block` and reports: `sda`, `dm-0`.
    pub name: String,
    /// Number of the whole disk.
    pub number: DeviceNumber,
    directory: PathBuf,
}

impl BlockDevice {
    /// The disk behind a path: of the device itself if it is a block device, else of the file system that it is on.
    /// `None` if there is none in sysfs, as with tmpfs, network file systems and character devices.
    pub fn behind_path(path: &Path) -> Result<Option<Self>> {
        let info = FileInfo::of_path(path)?;
        match info.kind {
            FileKind::Block => Self::by_number(info.is_device),
            FileKind::Character => Ok(None),
            _ => Self::by_number(info.on_device),
        }
    }

    /// The disk with this number, or the disk of the partition with this number. `None` if sysfs does not know it.
    pub fn by_number(number: DeviceNumber) -> Result<Option<Self>> {
        let link = Path::new(SYS_DEV_BLOCK).join(number.to_string());
        match std::fs::canonicalize(&link) {
            Ok(directory) => Self::in_directory(&directory).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).context("resolve", link.display()),
        }
    }

    /// All block devices of this machine that are not partitions.
    pub fn all() -> Result<Vec<Self>> {
        let path = Path::new("/sys/block");
        let entries = std::fs::read_dir(path).context("list", path.display())?;
        entries.map(|entry| Self::in_directory(&resolve(&entry.context("list", path.display())?.path())?)).collect()
    }

    /// From the directory of a disk or partition in sysfs. That of a partition has a file `partition` and is within that of its
    /// disk.
    ///
    /// # Errors
    /// It has no file `dev` with a device number.
    pub fn in_directory(directory: &Path) -> Result<Self> {
        let directory = match directory.parent() {
            Some(disk) if directory.join("partition").exists() => disk,
            _ => directory,
        };
        let bad = || Error::Parse { what: "block device in sysfs", text: directory.display().to_string() };
        let name = directory.file_name().and_then(|name| name.to_str()).ok_or_else(bad)?;
        let number = DeviceNumber::parse(&read(&directory.join("dev"))?).ok_or_else(bad)?;
        // sysfs writes the slashes of a name such as cciss/c0d0 as exclamation marks.
        Ok(Self { name: name.replace('!', "/"), number, directory: directory.to_owned() })
    }

    /// The devices that this one is made of (dm, md), as their whole disks, each once. Empty for a plain disk.
    pub fn slaves(&self) -> Result<Vec<Self>> {
        let mut slaves: Vec<Self> = Vec::new();
        for entry in self.entries("slaves")? {
            let slave = Self::in_directory(&resolve(&entry)?)?;
            if !slaves.contains(&slave) {
                slaves.push(slave);
            }
        }
        slaves.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(slaves)
    }

    /// Names of the devices (dm, md) that use this one or a partition of it. If there are any, it is in use.
    pub fn holders(&self) -> Result<Vec<String>> {
        let mut holders = Vec::new();
        for directory in std::iter::once(self.directory.clone()).chain(self.partition_directories()?) {
            holders.extend(list(&directory.join("holders"))?.iter().filter_map(|path| file_name(path)));
        }
        holders.sort();
        holders.dedup();
        Ok(holders)
    }

    /// Names of the devices that use exactly the disk or partition with this number.
    pub fn holders_of(number: DeviceNumber) -> Result<Vec<String>> {
        let directory = Path::new(SYS_DEV_BLOCK).join(number.to_string()).join("holders");
        Ok(list(&directory)?.iter().filter_map(|path| file_name(path)).collect())
    }

    /// Numbers of the disk and all its partitions.
    pub fn numbers(&self) -> Result<Vec<DeviceNumber>> {
        let mut numbers = vec![self.number];
        for directory in self.partition_directories()? {
            numbers.extend(DeviceNumber::parse(&read(&directory.join("dev"))?));
        }
        Ok(numbers)
    }

    /// The statistics as the kernel prints them; see [`crate::devices::disk_stats::DiskStats::parse`].
    pub fn stat_text(&self) -> Result<String> {
        read(&self.directory.join("stat"))
    }

    /// A value of the device, such as `size` (in sectors of 512 bytes) or `device/model`, without white space around it.
    /// `None` if this device does not have it.
    pub fn attribute(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.directory.join(name)).ok().map(|text| text.trim().to_owned())
    }

    /// A value of the device's queue, such as `scheduler` or `rotational`, without white space around it. `None` if this
    /// kernel does not have it.
    pub fn queue_attribute(&self, name: &str) -> Option<String> {
        self.attribute(&format!("queue/{name}"))
    }

    /// The scheduler of the device. `None`: it has none, or this kernel does not tell.
    pub fn scheduler(&self) -> Option<String> {
        self.queue_attribute("scheduler").map(|list| chosen(&list).to_owned())
    }

    /// Sets the scheduler of the device. False: this device has no schedulers.
    ///
    /// # Errors
    /// `EACCES` of the step `open` for a user who may not set it; `EINVAL` of the step `write` for a scheduler that the kernel does
    /// not know.
    pub fn set_scheduler(&self, name: &str) -> Result<bool> {
        let path = self.directory.join("queue/scheduler");
        let mut file = match std::fs::File::options().write(true).open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            opened => opened.context("open", path.display())?,
        };
        file.write_all(name.as_bytes()).context("write", path.display())?;
        Ok(true)
    }

    /// The file or device behind a loop device, as it was when it was set up. `None` for other devices.
    pub fn loop_backing_file(&self) -> Option<PathBuf> {
        let text = std::fs::read_to_string(self.directory.join("loop/backing_file")).ok()?;
        Some(PathBuf::from(text.trim_end_matches('\n')))
    }

    /// The entries of the driver's queues to the device, one number a queue. Empty for devices without such queues: those that pass
    /// their I/O on as it comes (dm, md, zram), and those of old kernels.
    pub fn queue_tags(&self) -> Vec<u64> {
        let queues = self.entries("mq").unwrap_or_default();
        let tags = |queue: &PathBuf| std::fs::read_to_string(queue.join("nr_tags")).ok()?.trim().parse().ok();
        queues.iter().filter_map(tags).collect()
    }

    /// The NUMA node that the device is attached to. `None`: the machine has one node only, or the device belongs to none.
    pub fn numa_node(&self) -> Option<u32> {
        let texts = self.directory.ancestors().map(|directory| std::fs::read_to_string(directory.join("numa_node")));
        texts.flatten().next()?.trim().parse().ok()
    }

    /// Directories in which sensors of the drive are read (`hwmon`): NVMe drives, and SATA drives with the module drivetemp.
    pub fn sensor_directories(&self) -> Vec<PathBuf> {
        let is_sensor =
            |path: &PathBuf| file_name(path).is_some_and(|name| name.starts_with("hwmon") && name != "hwmon");
        let below = ["device", "device/hwmon"].iter().flat_map(|place| self.entries(place).unwrap_or_default());
        below.filter(is_sensor).collect()
    }

    /// A loop device bypasses the page cache of the file behind it. `None` for other devices.
    pub fn loop_direct_io(&self) -> Option<bool> {
        self.attribute("loop/dio").map(|flag| flag == "1")
    }

    fn partition_directories(&self) -> Result<Vec<PathBuf>> {
        let mut entries = list(&self.directory)?;
        entries.retain(|entry| entry.join("partition").exists());
        Ok(entries)
    }

    fn entries(&self, name: &str) -> Result<Vec<PathBuf>> {
        list(&self.directory.join(name))
    }
}

/// The entry in brackets of a list such as `none [mq-deadline]`; a list with one entry may have no brackets.
fn chosen(list: &str) -> &str {
    let inside = list.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(list, |(name, _)| name)
}

/// Entries of a directory; empty if it does not exist.
fn list(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        result => result.context("list", directory.display())?,
    };
    entries.map(|entry| Ok(entry.context("list", directory.display())?.path())).collect()
}

fn file_name(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).context("read", path.display())
}

fn resolve(path: &Path) -> Result<PathBuf> {
    std::fs::canonicalize(path).context("resolve", path.display())
}

#[cfg(test)]
mod tests;
