//! Mounts, and whether a block device is in use: mounted, swapped to, held by another device, or claimed by another
//! user.
//!
//! Must not know: consequences. Parsing is pure, over `/proc/self/mountinfo` and `/proc/swaps`. Start reading at
//! [`use_of_device`].

use crate::devices::block_device::{BlockDevice, DeviceNumber, path_of};
use crate::error::{Error, Result};
use crate::files::file::{FileInfo, OpenRequest};
use rustix::io::Errno;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A device that another program claims for a moment (as this one does) is asked for so often.
const MAX_CLAIMS: u32 = 5;

/// Pause between these tries.
const CLAIM_PAUSE: Duration = Duration::from_millis(20);

/// Uses of a device that must not be overwritten without permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceUse {
    /// It, or a partition of it, is mounted here.
    Mounted(PathBuf),
    /// It, or a partition of it, is swap space.
    Swap(PathBuf),
    /// This device (dm, md, loop) is made of it or of a partition of it.
    HeldBy(String),
    /// It is claimed by a user that ferrio cannot see, such as a mount of another mount namespace.
    Claimed,
}

impl std::fmt::Display for DeviceUse {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Mounted(place) => write!(f, "mounted on {}", place.display()),
            Self::Swap(path) => write!(f, "in use as swap space ({})", path.display()),
            Self::HeldBy(name) => write!(f, "in use by {name}"),
            Self::Claimed => f.write_str("claimed by another program, or mounted in another mount namespace"),
        }
    }
}

/// The first use that is found of the block device at a path: of a partition by itself, of a disk with all its partitions.
/// `None`: it is free.
///
/// Uses with a name come first, for the message: visible mounts, swap space, devices stacked on it. Then the kernel is
/// asked whether the device is claimed; it knows that for mounts of all namespaces, swap, dm, md, and for disks with
/// partitions in use. Loop devices claim nothing, but sysfs tells their backing device.
///
/// # Errors
/// The use cannot be found out: the device is not in sysfs, or cannot be opened.
pub fn use_of_device(path: &Path) -> Result<Option<DeviceUse>> {
    let number = FileInfo::of_path(path)?.is_device;
    let (numbers, holders) = numbers_and_holders(number)?;
    if let Some(found) = named_use(&numbers, &holders) {
        return Ok(Some(found));
    }
    if is_claimed(path)? {
        return Ok(Some(DeviceUse::Claimed));
    }
    if path_of(number).is_none() {
        let reason = format!("block device {number} is not in /sys");
        return Err(Error::Unavailable { what: "what is made of it", reason });
    }
    loop_over(&numbers)
}

/// The first use of the block device at a path that can be seen without opening it: visible mounts, swap space, devices stacked on
/// it or on a partition of it. `None`: it is free, or its user cannot be seen.
pub fn visible_use_of_device(path: &Path) -> Option<DeviceUse> {
    let number = FileInfo::of_path(path).ok()?.is_device;
    let (numbers, holders) = numbers_and_holders(number).ok()?;
    named_use(&numbers, &holders).or_else(|| loop_over(&numbers).ok().flatten())
}

/// Numbers of a device with its partitions, and the names of the devices that are made of these.
fn numbers_and_holders(number: DeviceNumber) -> Result<(Vec<DeviceNumber>, Vec<String>)> {
    Ok(match BlockDevice::by_number(number)? {
        Some(disk) if disk.number == number => (disk.numbers()?, disk.holders()?),
        Some(_) => (vec![number], BlockDevice::holders_of(number)?),
        None => (vec![number], Vec::new()),
    })
}

/// The first use with a name that needs no `sysfs`. Sources that cannot be read are skipped.
fn named_use(numbers: &[DeviceNumber], holders: &[String]) -> Option<DeviceUse> {
    if let Some(mount) = mounts().into_iter().find(|mount| numbers.contains(&mount.device)) {
        return Some(DeviceUse::Mounted(mount.place));
    }
    for path in parse_swaps(&std::fs::read_to_string("/proc/swaps").unwrap_or_default()) {
        // A swap file is on a mounted file system; its own number is 0:0.
        if FileInfo::of_path(&path).is_ok_and(|info| numbers.contains(&info.is_device)) {
            return Some(DeviceUse::Swap(path));
        }
    }
    holders.first().cloned().map(DeviceUse::HeldBy)
}

/// The first loop device over one of these devices.
fn loop_over(numbers: &[DeviceNumber]) -> Result<Option<DeviceUse>> {
    let names: Vec<PathBuf> = numbers.iter().filter_map(|number| path_of(*number)).collect();
    // In the namespace that set it up the path may have been another one: the kernel's name counts as well.
    let is_one = |path: &PathBuf| {
        names.contains(path) || FileInfo::of_path(path).is_ok_and(|info| numbers.contains(&info.is_device))
    };
    let over = |device: &BlockDevice| device.loop_backing_file().is_some_and(|path| is_one(&path));
    Ok(BlockDevice::all()?.into_iter().find(over).map(|device| DeviceUse::HeldBy(device.name)))
}

/// True if another user has claimed the device. The check itself claims the device for a moment, so a positive result
/// is checked again.
fn is_claimed(path: &Path) -> Result<bool> {
    let request = OpenRequest { is_exclusive: true, ..OpenRequest::default() };
    for n_tries in 1.. {
        match request.open(path) {
            Err(error) if error.errno() != Some(Errno::BUSY.raw_os_error()) => return Err(error),
            Err(_) if n_tries == MAX_CLAIMS => return Ok(true),
            Err(_) => std::thread::sleep(CLAIM_PAUSE),
            Ok(_) => break,
        }
    }
    Ok(false)
}

/// One mount of this process's name space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Device of the file system; major 0 for those without one.
    pub device: DeviceNumber,
    pub place: PathBuf,
    /// The directory of the file system that is seen there, `/` unless a part of it is mounted.
    pub root: PathBuf,
    /// Kind of file system, such as `ext4`.
    pub file_system: String,
    /// Mounted device, such as `/dev/sda1`.
    pub source: String,
    /// Options of the mount, then further ones of the file system, separated by commas, as in `/proc/mounts`.
    pub options: String,
}

/// The mounts of this process's name space; none where `/proc` is not mounted.
pub fn mounts() -> Vec<Mount> {
    let list = |path: &str| parse_mountinfo(&std::fs::read_to_string(path).unwrap_or_default());
    let mut mounts = list("/proc/self/mountinfo");
    // After chroot(2) into a directory that is no mount point, the mount that holds this directory is not in the list.
    if mounts.iter().all(|mount| mount.place != Path::new("/"))
        && let Ok(root) = FileInfo::of_path(Path::new("/"))
    {
        mounts.push(mount_of_root(root.on_device, &list("/proc/1/mountinfo")));
    }
    mounts
}

/// The mount that holds the root of this process, by the number of its file system: as the first process sees it, or by what the file
/// system says itself.
fn mount_of_root(number: DeviceNumber, of_first_process: &[Mount]) -> Mount {
    let place = PathBuf::from("/");
    if let Some(mount) = of_first_process.iter().find(|mount| mount.device == number) {
        return Mount { place, ..mount.clone() };
    }
    let source = path_of(number).map(|path| path.display().to_string()).unwrap_or_default();
    let file_system = kind_of_root().unwrap_or_default().to_owned();
    Mount { device: number, place, root: PathBuf::from("/"), file_system, source, options: String::new() }
}

/// The kind of file system of the root, where it is a usual one.
fn kind_of_root() -> Option<&'static str> {
    // The magic numbers of statfs(2). ext2 and ext3 have that of ext4.
    let kind = match rustix::fs::statfs("/").ok()?.f_type as u64 {
        0xEF53 => "ext4",
        0x5846_5342 => "xfs",
        0x9123_683E => "btrfs",
        0xF2F5_2010 => "f2fs",
        0x794C_7630 => "overlay",
        0x0102_1994 => "tmpfs",
        _ => return None,
    };
    Some(kind)
}

/// The mount that contains an absolute path without links: the one with the longest mount point; of several at one
/// point, the last one is on top.
pub fn mount_of<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let covering = mounts.iter().filter(|mount| path.starts_with(&mount.place));
    covering.max_by_key(|mount| mount.place.as_os_str().len())
}

/// The disk that contains a path, by the number in its `stat`, or by the mounted device, because btrfs shows numbers of
/// its own.
pub fn disk_of(path: &Path, mount: Option<&Mount>) -> Option<BlockDevice> {
    let by_number = BlockDevice::behind_path(path).ok().flatten();
    let source = mount.map(|mount| Path::new(&mount.source)).filter(|source| source.starts_with("/dev"));
    by_number.or_else(|| BlockDevice::behind_path(source?).ok().flatten())
}

/// All disks of the btrfs file system that has one on this device, by name; empty: this is no device of btrfs.
pub fn btrfs_disks(one: DeviceNumber) -> Vec<BlockDevice> {
    let entries =
        |directory: &Path| std::fs::read_dir(directory).into_iter().flatten().filter_map(std::result::Result::ok);
    let numbers = |directory: &Path| -> Vec<DeviceNumber> {
        let texts = entries(directory).filter_map(|entry| std::fs::read_to_string(entry.path().join("dev")).ok());
        texts.filter_map(|text| DeviceNumber::parse(&text)).collect()
    };
    let of_file_systems = entries(Path::new("/sys/fs/btrfs")).map(|entry| numbers(&entry.path().join("devices")));
    let its_own = of_file_systems.filter(|numbers| numbers.contains(&one)).flatten();
    let mut disks: Vec<BlockDevice> =
        its_own.filter_map(|number| BlockDevice::by_number(number).ok().flatten()).collect();
    disks.sort_by(|a, b| a.name.cmp(&b.name));
    disks.dedup();
    disks
}

/// The mounts in the text of `/proc/self/mountinfo`, in its order. Lines that are no mount are left aside. The form is in
/// `proc(5)`: id, parent, device, root, place, options, optional fields, `-`, file system, source, options.
pub fn parse_mountinfo(text: &str) -> Vec<Mount> {
    text.lines().filter_map(parse_mount).collect()
}

fn parse_mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(2);
    let device = DeviceNumber::parse(left.next()?)?;
    let root = unescape(left.next()?);
    let place = unescape(left.next()?);
    let own = left.next().unwrap_or_default();
    let mut right = right.split(' ');
    Some(Mount {
        device,
        place: PathBuf::from(place),
        root: PathBuf::from(root),
        file_system: unescape(right.next()?),
        source: unescape(right.next()?),
        options: joined_options(own, right.next().unwrap_or_default()),
    })
}

fn joined_options(own: &str, of_file_system: &str) -> String {
    let mut options: Vec<&str> = own.split(',').filter(|option| !option.is_empty()).collect();
    for option in of_file_system.split(',').filter(|option| !option.is_empty()) {
        if !options.contains(&option) {
            options.push(option);
        }
    }
    unescape(&options.join(","))
}

/// The swap devices and files in the text of `/proc/swaps`, which starts with a line of headings.
pub fn parse_swaps(text: &str) -> Vec<PathBuf> {
    text.lines()
        .skip(1)
        .filter_map(|line| line.split_ascii_whitespace().next())
        .map(|path| PathBuf::from(unescape(path)))
        .collect()
}

/// The kernel writes space, tab, newline and backslash as a backslash and three octal digits.
fn unescape(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|digits| first == b'\\' && digits.iter().all(|d| (b'0'..=b'7').contains(d)));
        if let Some(digits) = digits {
            let value = digits.iter().fold(0_u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            bytes.push(value as u8);
            rest = &after[3..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio_testing::skip;

    const MOUNTINFO: &str = "22 27 0:21 / /proc rw,relatime - proc proc rw\n\
        27 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw,discard\n\
        40 27 8:17 /sub /mnt/with\\040space\\134 rw - xfs /dev/sdb1 rw,attr2\n\
        41 27 253:0 / /data rw shared:7 master:2 - btrfs /dev/mapper/vg-data rw\n\
        not a mount at all\n\
        9 9 x:y / /bad rw - ext4 none rw\n";

    #[test]
    fn mounts_with_optional_fields_and_escapes() {
        let mounts = parse_mountinfo(MOUNTINFO);
        assert_eq!(mounts.len(), 4);
        assert_eq!(mounts[1].device, DeviceNumber { major: 254, minor: 1 });
        assert_eq!((mounts[1].file_system.as_str(), mounts[1].source.as_str()), ("ext4", "/dev/vda1"));
        assert_eq!(mounts[2].place, PathBuf::from("/mnt/with space\\"));
        assert_eq!((mounts[1].root.as_path(), mounts[2].root.as_path()), (Path::new("/"), Path::new("/sub")));
        assert_eq!((mounts[1].options.as_str(), mounts[3].options.as_str()), ("rw,relatime,discard", "rw"));
        assert_eq!(mounts[3].source, "/dev/mapper/vg-data");
        assert!(parse_mountinfo("").is_empty());
    }

    #[test]
    fn the_root_of_a_chroot_has_the_mount_that_holds_it() {
        let of_first = parse_mountinfo(MOUNTINFO);
        let found = mount_of_root(DeviceNumber { major: 8, minor: 17 }, &of_first);
        assert_eq!((found.place.as_path(), found.file_system.as_str()), (Path::new("/"), "xfs"));
        assert_eq!(found.source, "/dev/sdb1");
        // The first process is in another namespace.
        let number = FileInfo::of_path(Path::new("/")).unwrap().on_device;
        let unknown = mount_of_root(number, &[]);
        assert_eq!((unknown.device, unknown.options.as_str()), (number, ""));
        assert!(mounts().iter().any(|mount| mount.place == Path::new("/")));
    }

    #[test]
    fn the_longest_and_the_last_mount_count() {
        let text = "22 1 254:1 / / rw - ext4 /dev/vda1 rw\n\
            23 22 0:40 / /mnt rw - tmpfs tmpfs rw\n\
            24 22 0:41 /sub /mnt/data rw - btrfs /dev/sdb rw\n\
            25 22 8:32 / /mnt/data rw - xfs /dev/sdc rw\n";
        let mounts = parse_mountinfo(text);
        let kind = |path: &str| mount_of(&mounts, Path::new(path)).map(|mount| mount.file_system.clone());
        assert_eq!(kind("/mnt/data/deep/er").as_deref(), Some("xfs"));
        assert_eq!(kind("/mnt/database").as_deref(), Some("tmpfs"));
        assert_eq!(kind("/home").as_deref(), Some("ext4"));
        assert!(mount_of(&[], Path::new("/")).is_none());
    }

    #[test]
    fn swaps() {
        let text = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n\
                    /dev/zram0                              partition\t1048572\t\t0\t\t-2\n\
                    /swap\\040file                            file\t\t1024\t\t0\t\t-3\n";
        assert_eq!(parse_swaps(text), [PathBuf::from("/dev/zram0"), PathBuf::from("/swap file")]);
        assert!(parse_swaps("").is_empty());
    }

    #[test]
    fn escapes_at_the_end_stay_as_they_are() {
        assert_eq!(unescape("a\\04"), "a\\04");
        assert_eq!(unescape("\\"), "\\");
        assert_eq!(unescape("a\\040"), "a ");
    }

    #[test]
    fn the_root_file_system_is_found_mounted() {
        let root = mounts().into_iter().find(|mount| mount.place == Path::new("/")).map(|mount| mount.device);
        let Some(path) = root.and_then(path_of).filter(|path| path.exists()) else {
            skip!("the_root_file_system_is_found_mounted", "/ is on no block device");
            return;
        };
        assert!(matches!(use_of_device(&path).unwrap(), Some(DeviceUse::Mounted(_))));
    }

    #[test]
    fn a_loop_device_is_free_until_somebody_has_it() {
        let Some(device) = crate::test_support::LoopDevice::new("free", 1 << 20) else {
            skip!("a_loop_device_is_free_until_somebody_has_it", "no loop device can be set up");
            return;
        };
        assert_eq!(use_of_device(device.path()).unwrap(), None);
        let claim = OpenRequest { is_exclusive: true, ..OpenRequest::default() }.open(device.path()).unwrap();
        assert_eq!(use_of_device(device.path()).unwrap(), Some(DeviceUse::Claimed));
        drop(claim);
        assert_eq!(use_of_device(device.path()).unwrap(), None);
    }

    #[test]
    fn a_device_under_a_loop_device_is_in_use() {
        let Some(device) = crate::test_support::LoopDevice::new("under", 1 << 20) else {
            skip!("a_device_under_a_loop_device_is_in_use", "no loop device can be set up");
            return;
        };
        let output =
            std::process::Command::new("losetup").args(["--find", "--show"]).arg(device.path()).output().unwrap();
        let upper = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
        let found = use_of_device(device.path());
        std::process::Command::new("losetup").arg("--detach").arg(&upper).status().unwrap();
        let name = upper.file_name().unwrap().to_string_lossy().into_owned();
        assert_eq!(found.unwrap(), Some(DeviceUse::HeldBy(name)));
    }

    #[test]
    fn what_cannot_be_known_is_an_error() {
        // A character device has no place among block devices.
        assert!(use_of_device(Path::new("/dev/full")).is_err());
        assert!(use_of_device(Path::new("/no/such/device")).is_err());
    }

    #[test]
    fn uses_are_told_in_words() {
        assert_eq!(DeviceUse::Mounted("/mnt".into()).to_string(), "mounted on /mnt");
        assert_eq!(DeviceUse::Swap("/dev/sda2".into()).to_string(), "in use as swap space (/dev/sda2)");
        assert_eq!(DeviceUse::HeldBy("dm-0".into()).to_string(), "in use by dm-0");
    }
}
