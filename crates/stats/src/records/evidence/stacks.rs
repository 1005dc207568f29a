//! The layers of storage below the targets, from a file system down to the lowest device that the kernel counts.
//!
//! Must not know: how they are found. Start reading at [`StorageLayer`].

use super::Reading;
use ferrio_sys::extents::ExtentBytes;
use serde::{Deserialize, Serialize};

/// A layer of storage: a file system, or a block device. The layers of a run form a graph by their names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StorageLayer {
    /// Mount point of a file system, or name of a block device in `/sys/block`; each name is there once.
    pub name: String,
    pub kind: LayerKind,
    /// Kind of a file system (`ext4`), level of a RAID (`raid1`), owner of a mapped device (`LVM`, `CRYPT`); else empty.
    pub detail: String,
    /// Source of a mount (`/dev/sda1`, `server:/export`); empty for a device.
    pub source: String,
    /// Names of the layers directly below.
    pub below: Vec<String>,
    /// True: a part of what is below cannot be seen from here, such as a directory of another mount namespace.
    pub is_cut: bool,
    /// Bytes that a block device has read and written since the run began (`/sys/block/X/stat`).
    pub bytes: Option<[u64; 2]>,
    /// The file behind a loop device.
    pub backing: Option<BackingFile>,
    /// What a device that compresses in memory (zram) has stored.
    pub stored: Option<StoredBytes>,
    /// The slowest link on the way to a device, if it is known.
    pub link: Option<DeviceLink>,
    /// The cache that a device of several parts has among them.
    #[serde(default)]
    pub cache: Option<DeviceCache>,
    /// A volume of a thin pool: blocks are allocated by their first write.
    #[serde(default)]
    pub is_thin: bool,
    /// A device with queues whose completions can be polled for; `None`: not known.
    #[serde(default)]
    pub polls: Option<bool>,
    /// Read-ahead of the kernel on a device, KiB; 0: off.
    #[serde(default)]
    pub read_ahead_kb: Option<u64>,
}

/// A fast device that caches a slow one, both below one device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceCache {
    /// The driver of the cache: `bcache`, `dm-cache`, `dm-writecache`, `md journal`.
    pub kind: String,
    /// The mode, such as `writeback`; empty: not known.
    pub mode: String,
    /// I/Os during the run that the cache has answered, and those that it has not; `None`: it does not count them.
    pub hits: Option<[u64; 2]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerKind {
    /// A file system on the devices below it; without any: it does not tell them.
    #[default]
    FileSystem,
    /// A file system that shows directories of others (overlay).
    Overlay,
    /// A file system of a server on the network.
    Network,
    /// A file system that a program (FUSE) or the host of a virtual machine (9p, virtiofs) serves.
    Served,
    /// A file system or a device whose data is in memory.
    Memory,
    /// A device that keeps its data compressed in memory.
    Zram,
    /// A device whose data is in a file.
    Loop,
    /// A device that is made of others (dm, md, bcache).
    Stacked,
    /// A device of which nothing further is known to be below.
    Disk,
}

/// The file behind a loop device.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BackingFile {
    /// Its path, as it was when the device was set up.
    pub path: String,
    /// The loop device bypasses the page cache of the file; `None`: the kernel does not tell.
    pub direct_io: Option<bool>,
    pub size_bytes: u64,
    /// Bytes that its file system had allocated for it before the run.
    pub allocated_before_bytes: u64,
    /// Bytes that its file system has allocated for it now.
    pub allocated_bytes: u64,
    /// Its extents before the run; only where files may be opened for that.
    pub extents: Reading<ExtentBytes>,
}

/// Contents of a zram device (`/sys/block/X/mm_stat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StoredBytes {
    /// Bytes as they were written, before the run, with pages of one repeated value.
    pub original_before_bytes: u64,
    /// The same now.
    pub original_bytes: u64,
    /// Their compressed size before the run.
    pub compressed_before_bytes: u64,
    /// Their compressed size now.
    pub compressed_bytes: u64,
    /// Bytes as they were written, at the time of the run at which there were most of them; the probe looks once a second.
    #[serde(default)]
    pub original_most_bytes: u64,
    /// Their compressed size at that time.
    #[serde(default)]
    pub compressed_at_most_bytes: u64,
    /// Bytes of pages of one repeated value before the run; they take no memory.
    pub same_before_bytes: u64,
    /// The same now.
    pub same_bytes: u64,
}

/// A link between a device and the memory of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DeviceLink {
    /// The link in words, such as `PCIe 8.0 GT/s x4`.
    pub name: String,
    /// Bytes per second in one direction, after the line code, before any protocol: no data can be faster.
    pub bytes_per_sec: u64,
}
