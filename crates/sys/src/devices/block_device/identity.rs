//! The identity of a disk beyond this machine: a name that another host gives to the same disk, and to no other.
//!
//! Names that makers of drives and of storage systems give are such; those that virtual machines invent are not, because many machines
//! invent the same. Must not know: why it is asked. Start reading at [`DiskIdentity::of`].

use super::BlockDevice;

/// What is known of a disk, seen from other hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DiskIdentity {
    /// A name that is the same on every host that has this disk, and on no other.
    Known(String),
    /// No other host has it: it is in the memory of this machine, or over a file of it.
    Local,
    /// Another host may have it, and it has no name by which that can be told.
    Unknown,
}

impl DiskIdentity {
    /// The identity of a whole disk. A device that is made of others (dm, md) is known if all of these are.
    pub fn of(disk: &BlockDevice) -> Self {
        let slaves = disk.slaves().unwrap_or_default();
        if slaves.is_empty() {
            return of_plain(disk);
        }
        // A path of a multipath device has the name of the whole, without the digit for its kind.
        let mapped = disk.attribute("dm/uuid").unwrap_or_default();
        if let Some(wwid) = mapped.strip_prefix("mpath-3") {
            return Self::Known(format!("naa.{wwid}"));
        }
        let below: Vec<Self> = slaves.iter().map(Self::of).collect();
        if below.contains(&Self::Unknown) {
            return Self::Unknown;
        }
        let names: Vec<&str> = below.iter().filter_map(Self::name).collect();
        if names.len() < below.len() { Self::Local } else { Self::Known(format!("{mapped}({})", names.join(" "))) }
    }

    fn name(&self) -> Option<&str> {
        match self {
            Self::Known(name) => Some(name),
            Self::Local | Self::Unknown => None,
        }
    }
}

/// Kinds of disk that the kernel counts among the virtual ones, and that another host may have too, over a network or several paths.
const SERVED: [&str; 5] = ["nbd", "drbd", "rnbd", "ublkb", "nvme"];

fn of_plain(disk: &BlockDevice) -> DiskIdentity {
    let given = disk.attribute("wwid").or_else(|| disk.attribute("device/wwid"));
    if let Some(wwid) = given.filter(|wwid| is_unique(wwid)) {
        return DiskIdentity::Known(wwid);
    }
    if let (Some(cluster), Some(pool), Some(image)) =
        (disk.attribute("device/cluster_fsid"), disk.attribute("device/pool_id"), disk.attribute("device/image_id"))
    {
        return DiskIdentity::Known(format!("rbd {cluster} {pool} {image}"));
    }
    let is_virtual = disk.directory.components().any(|part| part.as_os_str() == "virtual");
    let is_served = SERVED.iter().any(|kind| disk.name.starts_with(kind));
    if is_virtual && !is_served { DiskIdentity::Local } else { DiskIdentity::Unknown }
}

/// True if a name of the kernel's (`wwid`) belongs to one disk of the world: not if the program that runs a virtual machine has made it
/// up, which gives the same to many.
fn is_unique(wwid: &str) -> bool {
    let is_invented = ["QEMU", "VBOX", "Msft", "Google", "Virtual"].iter().any(|maker| wwid.contains(maker));
    // In the names of NVMe, serial number and model are in hexadecimal digits: those are QEMU and the number of Google's makers.
    let is_invented_nvme = wwid.contains("51454d55") || wwid.starts_with("nvme.1ae0-");
    let has_digits = wwid.split_once('.').is_some_and(|(_, name)| name.chars().any(|digit| !"0- ".contains(digit)));
    let is_of_maker = ["naa.", "eui.", "uuid.", "nvme.", "t10."].iter().any(|kind| wwid.starts_with(kind));
    // The kernel's virtual machines begin a name of their own with 52:54.
    is_of_maker && has_digits && !is_invented && !is_invented_nvme && !wwid.starts_with("eui.5254")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempDir;
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    /// A made-up disk with these attributes.
    fn disk(dir: &TempDir, path: &str, attributes: &[(&str, &str)]) -> PathBuf {
        let directory = dir.path().join(path);
        for (name, value) in [("dev", "8:0")].iter().chain(attributes) {
            let file = directory.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, format!("{value}\n")).unwrap();
        }
        directory
    }

    fn identity(directory: &std::path::Path) -> DiskIdentity {
        DiskIdentity::of(&BlockDevice::in_directory(directory).unwrap())
    }

    #[test]
    fn names_of_makers_count_and_invented_ones_do_not() {
        let dir = TempDir::new("identity");
        let known = |name: &str| DiskIdentity::Known(name.to_owned());
        let of = |path: &str, attributes: &[(&str, &str)]| identity(&disk(&dir, path, attributes));
        assert_eq!(of("pci/sda", &[("device/wwid", "naa.5000c500a1b2c3d4")]), known("naa.5000c500a1b2c3d4"));
        assert_eq!(of("pci/nvme0n1", &[("wwid", "eui.0025385b71b04ae4")]), known("eui.0025385b71b04ae4"));
        for invented in [
            "t10.ATA     QEMU HARDDISK                           QM00001",
            "nvme.1b36-6131-51454d55204e564d65204374726c-00000001",
            "nvme.1ae0-6e766d655f63617264-6e766d65-00000001",
            "eui.5254000000000001",
            "eui.0000000000000000",
            "",
        ] {
            assert_eq!(of("pci/sdb", &[("device/wwid", invented)]), DiskIdentity::Unknown, "{invented}");
        }
        assert_eq!(of("pci/vda", &[]), DiskIdentity::Unknown);
        assert_eq!(of("virtual/block/zram0", &[]), DiskIdentity::Local);
        assert_eq!(of("virtual/block/nbd0", &[]), DiskIdentity::Unknown);
        assert_eq!(of("virtual/nvme-subsystem/nvme-subsys0/nvme0n1", &[]), DiskIdentity::Unknown);
        let image = [("device/cluster_fsid", "a-b"), ("device/pool_id", "2"), ("device/image_id", "c")];
        assert_eq!(of("virtual/block/rbd0", &image), known("rbd a-b 2 c"));
    }

    #[test]
    fn a_device_is_known_by_those_that_it_is_made_of() {
        let dir = TempDir::new("identity-dm");
        let one = disk(&dir, "pci/sda", &[("device/wwid", "naa.6001")]);
        let unnamed = disk(&dir, "pci/vda", &[]);
        let over = |path: &str, uuid: &str, slaves: &[&PathBuf]| {
            let directory = disk(&dir, path, &[("dm/uuid", uuid)]);
            std::fs::create_dir_all(directory.join("slaves")).unwrap();
            for (index, slave) in slaves.iter().enumerate() {
                symlink(slave, directory.join("slaves").join(index.to_string())).unwrap();
            }
            identity(&directory)
        };
        assert_eq!(over("virtual/dm-0", "mpath-36001", &[&one]), DiskIdentity::Known("naa.6001".to_owned()));
        let volume = over("virtual/dm-1", "LVM-x", &[&one]);
        assert_eq!(volume, DiskIdentity::Known("LVM-x(naa.6001)".to_owned()));
        assert_eq!(over("virtual/dm-2", "LVM-x", &[&unnamed]), DiskIdentity::Unknown);
    }
}
