//! From a target down to the devices below it, by the mounts and sysfs.
//!
//! Must not know: counters. Start reading at [`Stacks`].

use super::cache;
use ferrio_stats::{BackingFile, DeviceLink, LayerKind, StorageLayer};
use ferrio_sys::block_device::BlockDevice;
use ferrio_sys::block_device::link::HardwareLink;
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_sys::mounts::{Mount, btrfs_disks, disk_of, mount_of};
use std::path::{Path, PathBuf};

/// File systems with their data in memory.
const IN_MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs"];
/// File systems of servers on the network.
const OF_NETWORK: [&str; 12] =
    ["nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "afs", "lustre", "gpfs", "beegfs", "orangefs", "glusterfs"];
/// File systems that the host of a virtual machine serves.
const OF_HOST: [&str; 5] = ["9p", "virtiofs", "vboxsf", "vmhgfs", "prl_fs"];
/// More layers than this are not on top of each other; a loop device may be in a file of its own file system.
const MAX_DEPTH: usize = 16;

/// The layers found so far, each once, the upper ones first.
#[derive(Debug, Default)]
pub(in crate::evidence::probe) struct Stacks(Vec<(StorageLayer, Option<BlockDevice>)>);

impl Stacks {
    pub(super) fn into_layers(self) -> impl Iterator<Item = (StorageLayer, Option<BlockDevice>)> {
        self.0.into_iter()
    }

    /// Adds the file system that holds a path without links, and all below it; returns its name.
    pub(in crate::evidence::probe) fn add_path(&mut self, path: &Path, mounts: &[Mount]) -> Option<String> {
        self.file_system(path, mounts, 0)
    }

    /// Adds a device and all below it; returns its name.
    pub(in crate::evidence::probe) fn add_device(&mut self, device: &BlockDevice, mounts: &[Mount]) -> Option<String> {
        self.device(device, mounts, 0)
    }

    /// The place for a new layer; `None`: it is known already.
    fn room_for(&mut self, name: &str) -> Option<usize> {
        if self.0.iter().any(|(layer, _)| layer.name == name) {
            return None;
        }
        self.0.push((StorageLayer { name: name.to_owned(), ..StorageLayer::default() }, None));
        Some(self.0.len() - 1)
    }

    fn file_system(&mut self, path: &Path, mounts: &[Mount], depth: usize) -> Option<String> {
        let mount = mount_of(mounts, path).filter(|_| depth < MAX_DEPTH)?;
        let name = mount.place.display().to_string();
        let Some(index) = self.room_for(&name) else { return Some(name) };
        let kind = kind_of(&mount.file_system);
        let (below, is_cut) = match kind {
            LayerKind::Overlay => self.all_of(&overlay_directories(&mount.options), mounts, depth),
            LayerKind::FileSystem => {
                let disks = disks_of(path, mount);
                (disks.iter().filter_map(|disk| self.device(disk, mounts, depth + 1)).collect(), false)
            }
            _ => (Vec::new(), false),
        };
        let layer = &mut self.0[index].0;
        (layer.kind, layer.below, layer.is_cut) = (kind, below, is_cut);
        (layer.detail, layer.source) = (mount.file_system.clone(), mount.source.clone());
        Some(name)
    }

    /// The file systems of directories; true: one is not visible.
    fn all_of(&mut self, directories: &[PathBuf], mounts: &[Mount], depth: usize) -> (Vec<String>, bool) {
        let mut below: Vec<String> = Vec::new();
        let mut is_cut = directories.is_empty();
        for directory in directories {
            // A relative path is one of the process that has mounted it.
            let there = Some(directory).filter(|path| path.is_absolute()).and_then(|path| path.canonicalize().ok());
            match there.and_then(|path| self.file_system(&path, mounts, depth + 1)) {
                Some(name) if below.contains(&name) => {}
                Some(name) => below.push(name),
                None => is_cut = true,
            }
        }
        (below, is_cut)
    }

    fn device(&mut self, device: &BlockDevice, mounts: &[Mount], depth: usize) -> Option<String> {
        if depth >= MAX_DEPTH {
            return None;
        }
        let name = device.name.clone();
        let Some(index) = self.room_for(&name) else { return Some(name) };
        let slaves = device.slaves().unwrap_or_default();
        let mut layer = StorageLayer { name: name.clone(), kind: LayerKind::Disk, ..StorageLayer::default() };
        layer.read_ahead_kb = device.queue_attribute("read_ahead_kb").and_then(|text| text.trim().parse().ok());
        layer.polls = device.queue_attribute("io_poll").map(|text| text.trim() != "0");
        if let Some(path) = device.loop_backing_file() {
            layer.kind = LayerKind::Loop;
            let below = self.behind_loop(&path, mounts, depth);
            (layer.is_cut, layer.below) = (below.is_none(), below.into_iter().collect());
            let path = path.display().to_string();
            layer.backing = Some(BackingFile { path, direct_io: device.loop_direct_io(), ..BackingFile::default() });
        } else if !slaves.is_empty() {
            layer.kind = LayerKind::Stacked;
            layer.detail = owner_of(device);
            (layer.cache, layer.is_thin) = (cache::find(device, &slaves), cache::is_thin(device, &slaves));
            layer.below = slaves.iter().filter_map(|slave| self.device(slave, mounts, depth + 1)).collect();
            layer.is_cut = layer.below.len() < slaves.len();
        } else if device.attribute("mm_stat").is_some() {
            layer.kind = LayerKind::Zram;
        } else if is_memory_disk(&name) {
            layer.kind = LayerKind::Memory;
        } else {
            let link = HardwareLink::slowest(device);
            layer.link = link.map(|HardwareLink { name, bytes_per_sec }| DeviceLink { name, bytes_per_sec });
        }
        self.0[index] = (layer, Some(device.clone()));
        Some(name)
    }

    /// What holds the file behind a loop device; `None`: the file is removed, or not visible from here.
    fn behind_loop(&mut self, path: &Path, mounts: &[Mount], depth: usize) -> Option<String> {
        let info = FileInfo::of_path(path).ok()?;
        match info.kind {
            FileKind::Block => self.device(&BlockDevice::by_number(info.is_device).ok()??, mounts, depth + 1),
            FileKind::Regular => self.file_system(&path.canonicalize().ok()?, mounts, depth + 1),
            _ => None,
        }
    }
}

fn kind_of(file_system: &str) -> LayerKind {
    match file_system {
        kind if IN_MEMORY.contains(&kind) => LayerKind::Memory,
        kind if OF_NETWORK.contains(&kind) => LayerKind::Network,
        kind if OF_HOST.contains(&kind) || kind == "fuse" || kind.starts_with("fuse.") => LayerKind::Served,
        "overlay" => LayerKind::Overlay,
        _ => LayerKind::FileSystem,
    }
}

/// The disks of a file system: those of btrfs by sysfs, those of others by the number of the file or the source of the mount, which
/// names several with colons between (bcachefs).
fn disks_of(path: &Path, mount: &Mount) -> Vec<BlockDevice> {
    if mount.file_system == "btrfs" {
        let number = FileInfo::of_path(Path::new(&mount.source)).map(|info| info.is_device);
        return number.map(btrfs_disks).unwrap_or_default();
    }
    if mount.source.contains(":/dev/") {
        let paths = mount.source.split(':').map(Path::new);
        let disks: Option<Vec<_>> = paths.map(|path| BlockDevice::behind_path(path).ok().flatten()).collect();
        return disks.unwrap_or_default();
    }
    disk_of(path, Some(mount)).into_iter().collect()
}

/// RAM disks of the driver `brd`.
fn is_memory_disk(name: &str) -> bool {
    name.strip_prefix("ram").is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Level of a RAID, or the program that made a mapped device, which puts its name in front of the device's id.
fn owner_of(device: &BlockDevice) -> String {
    let level = device.attribute("md/level");
    let id = || device.attribute("dm/uuid").filter(|id| !id.is_empty());
    level.or_else(|| id().map(|id| id.split('-').next().unwrap_or_default().to_owned())).unwrap_or_default()
}

/// The directories that an overlay shows, by its mount options. A backslash in front of a comma, a colon or a backslash makes that a
/// part of a name.
fn overlay_directories(options: &str) -> Vec<PathBuf> {
    let mut directories = Vec::new();
    for option in split_unescaped(options, ',') {
        let Some((name, value)) = option.split_once('=') else { continue };
        match name {
            "lowerdir" => {
                let lower = split_unescaped(value, ':').into_iter().filter(|part| !part.is_empty());
                directories.extend(lower.map(|part| PathBuf::from(without_escapes(part))));
            }
            "upperdir" | "lowerdir+" | "datadir+" => directories.push(PathBuf::from(without_escapes(value))),
            _ => {}
        }
    }
    directories
}

fn split_unescaped(text: &str, separator: char) -> Vec<&str> {
    let mut is_escaped = false;
    let split = |char: char| {
        let is_end = char == separator && !is_escaped;
        is_escaped = char == '\\' && !is_escaped;
        is_end
    };
    text.split(split).collect()
}

fn without_escapes(text: &str) -> String {
    let mut chars = text.chars();
    let mut plain = String::with_capacity(text.len());
    while let Some(char) = chars.next() {
        plain.extend(if char == '\\' { chars.next() } else { Some(char) });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_an_overlay_are_found_behind_escapes() {
        let paths = |options: &str| -> Vec<String> {
            overlay_directories(options).iter().map(|path| path.display().to_string()).collect()
        };
        assert_eq!(paths("rw,lowerdir=/a:/b,upperdir=/u,workdir=/w"), ["/a", "/b", "/u"]);
        assert_eq!(paths(r"lowerdir=/a\:1\,2:/b\\,upperdir=/u"), ["/a:1,2", r"/b\", "/u"]);
        assert_eq!(paths("rw,lowerdir+=/a,lowerdir+=/b,datadir+=/d"), ["/a", "/b", "/d"]);
        assert!(paths("rw,relatime,lowerdir").is_empty());
    }

    #[test]
    fn kinds_of_file_systems_say_where_the_data_is() {
        for (name, kind) in [
            ("ext4", LayerKind::FileSystem),
            ("fuseblk", LayerKind::FileSystem),
            ("fuse.sshfs", LayerKind::Served),
            ("virtiofs", LayerKind::Served),
            ("nfs4", LayerKind::Network),
            ("tmpfs", LayerKind::Memory),
            ("overlay", LayerKind::Overlay),
        ] {
            assert_eq!(kind_of(name), kind, "{name}");
        }
        assert!(is_memory_disk("ram0") && !is_memory_disk("ramen") && !is_memory_disk("sda"));
    }

    #[test]
    fn a_file_in_memory_has_nothing_below() {
        let mount = |place: &str, kind: &str, source: &str| Mount {
            device: ferrio_sys::block_device::DeviceNumber { major: 0, minor: 99 },
            place: PathBuf::from(place),
            root: PathBuf::from("/"),
            file_system: kind.to_owned(),
            source: source.to_owned(),
            options: format!("lowerdir=/proc:/no/such/directory,upperdir={place}"),
        };
        let mounts = [mount("/", "tmpfs", "none"), mount("/proc", "nfs4", "server:/export")];
        let mut stacks = Stacks::default();
        assert_eq!(stacks.add_path(Path::new("/etc/x"), &mounts).as_deref(), Some("/"));
        assert_eq!(stacks.add_path(Path::new("/proc/y"), &mounts).as_deref(), Some("/proc"));
        assert_eq!(stacks.add_path(Path::new("/proc/z"), &mounts).as_deref(), Some("/proc"));
        let kinds: Vec<LayerKind> = stacks.into_layers().map(|(layer, _)| layer.kind).collect();
        assert_eq!(kinds, [LayerKind::Memory, LayerKind::Network]);
        // An overlay whose upper directory is its own mount does not go round for ever.
        let mounts = [mount("/", "overlay", "none"), mount("/proc", "tmpfs", "none")];
        let mut stacks = Stacks::default();
        stacks.add_path(Path::new("/etc"), &mounts);
        let layers: Vec<StorageLayer> = stacks.into_layers().map(|(layer, _)| layer).collect();
        assert_eq!((layers[0].below.join(" "), layers[0].is_cut), ("/proc /".to_owned(), true));
    }
}
