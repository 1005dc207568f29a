//! Names of places: by those, two hosts find out that a file or device of one is that of the other.
//!
//! A name is certain if it stands for one place in the world. A place on a file system over a network has two: one by its server and
//! path, and one by its number and the time of its last change, for hosts that have the server under different names. Must not know:
//! jobs, comparisons. Start reading at [`KnownNames::of_path`].

use ferrio_spec::EngineSpec;
use ferrio_sys::block_device::identity::DiskIdentity;
use ferrio_sys::block_device::{BlockDevice, DeviceNumber, Partition};
use ferrio_sys::file::{FileInfo, FileKind};
use ferrio_sys::mounts::{Mount, disk_of, mount_of, mounts};
use ferrio_sys::nvme::node::BlockSide;
use ferrio_sys::scsi::node::ScsiSide;
use ferrio_sys::system_info::boot_id;
use ferrio_sys::{nvme, scsi};
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PlaceNames {
    /// Each stands for this place alone.
    pub(super) certain: Vec<String>,
    /// Places with one in common may be one.
    pub(super) hints: Vec<String>,
    /// The byte of what the names stand for with which the place begins: that of a partition on its disk.
    pub(super) begins_at_bytes: u64,
}

impl PlaceNames {
    pub(super) fn unknown(hint: String) -> Self {
        Self { hints: vec![hint], ..Self::default() }
    }

    /// A target that an engine has on a server: equal options lead all hosts to one server, unless that is on each host.
    pub(super) fn of_server(engine: &EngineSpec, path: &Path) -> Self {
        let options = serde_json::to_string(&engine.options).unwrap_or_default();
        let text = format!("{} {options} {}", engine.name, path.display());
        let is_here = ["localhost", "127.0.0.1", "[::1]", "unix:", "+unix"].iter().any(|word| text.contains(word));
        let text = if is_here { format!("{} {text}", boot_id()) } else { text };
        Self { certain: vec![text], ..Self::default() }
    }
}

/// Kinds of file system that are of one machine, though they are on no disk.
const LOCAL_KINDS: [&str; 20] = [
    "tmpfs",
    "ramfs",
    "rootfs",
    "overlay",
    "aufs",
    "devtmpfs",
    "hugetlbfs",
    "squashfs",
    "proc",
    "sysfs",
    "zfs",
    "btrfs",
    "bcachefs",
    "ecryptfs",
    "devpts",
    "cgroup2",
    "configfs",
    "efivarfs",
    "fuse.lxcfs",
    "dax",
];

/// Kinds of file system on a disk that several hosts mount at once.
const CLUSTER_KINDS: [&str; 2] = ["gfs2", "ocfs2"];

/// Major number of `/dev/null`, `/dev/zero` and their like.
const MEMORY_DEVICES: u32 = 1;

/// Names of paths, and what was found out for them: each mount and disk is looked at once.
pub(super) struct KnownNames {
    machine: String,
    mounts: Vec<Mount>,
    disks: HashMap<DeviceNumber, DiskIdentity>,
}

impl Default for KnownNames {
    fn default() -> Self {
        Self { machine: boot_id(), mounts: mounts(), disks: HashMap::new() }
    }
}

impl KnownNames {
    /// The names of a path, which need not exist.
    pub(super) fn of_path(&mut self, path: &Path) -> PlaceNames {
        let Some((place, rest)) = existing(path) else { return PlaceNames::unknown(path.display().to_string()) };
        let Ok(info) = FileInfo::of_path(&place) else { return PlaceNames::unknown(path.display().to_string()) };
        match info.kind {
            FileKind::Block => self.of_device(info.is_device),
            FileKind::Character => self.of_character(info.is_device),
            _ => self.of_file(&place, &info, &rest),
        }
    }

    fn of_character(&mut self, number: DeviceNumber) -> PlaceNames {
        // What is written to these is nowhere.
        if number.major == MEMORY_DEVICES {
            return PlaceNames::default();
        }
        let of_path = |path: PathBuf| FileInfo::of_path(&path).ok().map(|info| info.is_device);
        let block = match nvme::node::block_device_of(number) {
            Ok(BlockSide::At(path)) => of_path(path),
            _ => match scsi::node::block_device_of(number) {
                Ok(ScsiSide::Disk(path)) => of_path(path),
                _ => None,
            },
        };
        if let Some(block) = block {
            return self.of_device(block);
        }
        PlaceNames { certain: vec![self.here(&format!("character device {number}"))], ..PlaceNames::default() }
    }

    /// A text that stands for a place of this machine alone.
    fn here(&self, text: &str) -> String {
        format!("{} {text}", self.machine)
    }

    /// A block device: its disk, and the place on it.
    fn of_device(&mut self, number: DeviceNumber) -> PlaceNames {
        let disk = BlockDevice::by_number(number).ok().flatten();
        let Some(disk) = disk else {
            return PlaceNames { certain: vec![self.here(&format!("device {number}"))], ..PlaceNames::default() };
        };
        let start = Partition::by_number(number).map_or(0, |partition| partition.start_sector.saturating_mul(512));
        let mut names = PlaceNames { begins_at_bytes: start, ..PlaceNames::default() };
        names.certain.push(self.here(&format!("device {}", disk.number)));
        match self.identity(&disk) {
            DiskIdentity::Known(name) => names.certain.push(format!("disk {name}")),
            DiskIdentity::Unknown => {
                let n_sectors = disk.attribute("size").unwrap_or_default();
                names.hints.push(format!("disk without a name, {n_sectors} sectors"));
            }
            DiskIdentity::Local => {}
        }
        // A loop device is the file behind it, from its beginning on.
        let backing = disk.loop_backing_file().filter(|_| disk.attribute("loop/offset").as_deref() == Some("0"));
        if let Some(backing) =
            backing.filter(|path| FileInfo::of_path(path).is_ok_and(|info| info.kind == FileKind::Regular))
        {
            let behind = self.of_path(&backing);
            names.certain.extend(behind.certain);
            names.hints.extend(behind.hints);
        }
        names
    }

    fn identity(&mut self, disk: &BlockDevice) -> DiskIdentity {
        self.disks.entry(disk.number).or_insert_with(|| DiskIdentity::of(disk)).clone()
    }

    /// A file; `rest` is the part of its path that does not exist yet.
    fn of_file(&mut self, place: &Path, info: &FileInfo, rest: &Path) -> PlaceNames {
        let below = if rest.as_os_str().is_empty() { String::new() } else { format!("/{}", rest.display()) };
        let file = format!("file {}{below}", info.inode);
        let mut names = PlaceNames::default();
        names.certain.push(self.here(&format!("{} {file}", info.on_device)));
        let mount = mount_of(&self.mounts, place).cloned();
        if let Some(disk) = disk_of(place, mount.as_ref()) {
            // Where two hosts have a disk mounted: a cluster file system, or an accident.
            let is_of_cluster = mount.is_some_and(|mount| CLUSTER_KINDS.contains(&mount.file_system.as_str()));
            match self.identity(&disk) {
                DiskIdentity::Known(name) => names.certain.push(format!("disk {name} {file}")),
                DiskIdentity::Unknown if is_of_cluster => names.hints.push(format!("cluster {file}")),
                DiskIdentity::Unknown | DiskIdentity::Local => {}
            }
            return names;
        }
        let Some(mount) = mount else { return names };
        if LOCAL_KINDS.contains(&mount.file_system.as_str()) {
            return names;
        }
        let kind = family(&mount.file_system);
        if let Ok(about) = place.metadata() {
            let changed = (about.ctime(), about.ctime_nsec());
            names.certain.push(format!("{kind} {file} changed {}.{:09}", changed.0, changed.1));
        }
        let inside = mount.root.join(place.strip_prefix(&mount.place).unwrap_or(place)).join(rest);
        // Without the slash that a root without anything behind it has.
        let inside = inside.components().collect::<PathBuf>();
        let served = format!("{kind} {} {}", mount.source.to_lowercase(), inside.display());
        match server(&mount.source) {
            Some(ServerSide::Elsewhere) => names.certain.push(served),
            Some(ServerSide::Here) => names.certain.push(self.here(&served)),
            None => names.hints.push(served),
        }
        names
    }
}

/// Where a file system over a network has its files.
#[derive(Debug, PartialEq, Eq)]
enum ServerSide {
    Elsewhere,
    /// On the machine itself, under a name that each machine has for itself.
    Here,
}

/// The server that the source of a mount names (`server:/export`, `//server/share`); `None`: it names none.
fn server(source: &str) -> Option<ServerSide> {
    let share = source.strip_prefix("//").and_then(|rest| rest.split('/').next());
    let host = share.or_else(|| source.split_once(":/").map(|(host, _)| host))?;
    let host = host.rsplit('@').next().unwrap_or(host).trim_matches(['[', ']']);
    let is_here = host == "localhost" || host.starts_with("127.") || host == "::1";
    Some(if is_here { ServerSide::Here } else { ServerSide::Elsewhere })
}

/// The family of a kind of file system: hosts may mount the same with different versions.
fn family(kind: &str) -> &str {
    match kind {
        "nfs" | "nfs4" => "nfs",
        "cifs" | "smb3" => "smb",
        other => other,
    }
}

/// The longest part of a path that exists, without links, and the rest.
fn existing(path: &Path) -> Option<(PathBuf, PathBuf)> {
    let normal: PathBuf = path.components().collect();
    normal.ancestors().find_map(|above| {
        let there = if above.as_os_str().is_empty() { Path::new(".") } else { above };
        let place = there.canonicalize().ok()?;
        Some((place, normal.strip_prefix(above).unwrap_or(Path::new("")).to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_told_from_tags() {
        assert_eq!(server("nas:/export"), Some(ServerSide::Elsewhere));
        assert_eq!(server("10.0.0.1@tcp:10.0.0.2@tcp:/lustre"), Some(ServerSide::Elsewhere));
        assert_eq!(server("//nas/share"), Some(ServerSide::Elsewhere));
        assert_eq!(server("user@localhost:/x"), Some(ServerSide::Here));
        assert_eq!(server("127.0.0.1:/x"), Some(ServerSide::Here));
        assert_eq!(server("[::1]:/x"), Some(ServerSide::Here));
        assert_eq!((server("shared"), server("none"), server("gpfs0")), (None, None, None));
    }

    /// Mounts as they are told by the kernel, and the names of a file on them.
    fn names_on(mountinfo: &str, path: &Path) -> PlaceNames {
        let mut known = KnownNames { mounts: ferrio_sys::mounts::parse_mountinfo(mountinfo), ..KnownNames::default() };
        // The file is really in memory, so that no disk is found under it.
        known.of_path(path)
    }

    #[test]
    fn a_file_of_a_server_has_its_names_on_every_host() {
        let path = Path::new("/dev/shm");
        if !path.is_dir() {
            ferrio_testing::skip!("a_file_of_a_server_has_its_names_on_every_host", "there is no /dev/shm");
            return;
        }
        let on =
            |line: &str| names_on(&format!("1 0 0:1 / / rw - tmpfs none rw\n2 1 0:99 {line}\n"), &path.join("no/such"));
        let one = on("/ /dev/shm rw - nfs4 nas:/export rw,addr=1");
        let other_version = on("/ /dev/shm rw - nfs NAS:/export rw");
        assert!(one.certain.contains(&"nfs nas:/export /no/such".to_owned()), "{one:?}");
        assert!(one.certain.iter().all(|name| other_version.certain.contains(name)));
        assert_eq!(one.certain.len(), 3, "{one:?}");
        // A part of the same export, as a container has it, is another place.
        let part = on("/pod-1 /dev/shm rw - nfs4 nas:/export rw");
        assert!(part.certain.contains(&"nfs nas:/export /pod-1/no/such".to_owned()), "{part:?}");
        let tag = on("/ /dev/shm rw - virtiofs shared rw");
        assert_eq!(tag.hints, ["virtiofs shared /no/such"]);
        let memory = on("/ /dev/shm rw - tmpfs tmpfs rw");
        assert_eq!((memory.certain.len(), memory.hints.len()), (1, 0));
        let here = on("/ /dev/shm rw - nfs4 localhost:/export rw");
        assert!(here.certain.iter().any(|name| *name == format!("{} nfs localhost:/export /no/such", boot_id())));
    }

    #[test]
    fn devices_that_keep_nothing_are_no_place() {
        assert_eq!(KnownNames::default().of_path(Path::new("/dev/null")), PlaceNames::default());
        assert_eq!(KnownNames::default().of_path(Path::new("/dev/tty")).certain.len(), 1);
    }

    #[test]
    fn targets_of_servers_are_named_by_their_options() {
        let engine = EngineSpec { name: "nbd".to_owned(), ..ferrio_spec::JobSpec::default().engine };
        let one = PlaceNames::of_server(&engine, Path::new("a"));
        assert_eq!(one, PlaceNames::of_server(&engine, Path::new("a")));
        assert_ne!(one, PlaceNames::of_server(&engine, Path::new("b")));
        let here = PlaceNames::of_server(&engine, Path::new("nbd+unix:///?socket=/x"));
        assert!(here.certain[0].starts_with(&boot_id()));
    }
}
