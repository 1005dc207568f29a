//! What a file, directory or device can do: by the kernel's own words (statx, sysfs) and by reads of one block.
//!
//! Must not know: engines. Start reading at [`answers`].

use crate::shared::engine_checks::{self, Ability, Answer};
use ferrio_sys::block_device::BlockDevice;
use ferrio_sys::block_device::zones::ZoneModel;
use ferrio_sys::dax_device::DaxDevice;
use ferrio_sys::extents::ExtentBytes;
use ferrio_sys::file::{self, Access, FileInfo, FileKind, OpenRequest};
use ferrio_sys::file_io::{self, RwFlags};
use ferrio_sys::mtd::Flash;
use ferrio_sys::nvme::node::{self as nvme_node, BlockSide};
use ferrio_sys::scsi::node::{self as scsi_node, ScsiClass, ScsiSide};
use ferrio_sys::{Errno, mounts};
use ferrio_units::humanize::bytes_text;
use std::io::IoSliceMut;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The answers about a path.
///
/// # Errors
/// There is no such path, or it cannot be looked at.
pub(super) fn answers(path: &Path) -> anyhow::Result<Vec<Answer>> {
    let info = FileInfo::of_path(path)?;
    let mounts = mounts::mounts();
    let disk = match info.kind {
        FileKind::Block => BlockDevice::by_number(info.is_device).ok().flatten(),
        FileKind::Regular | FileKind::Directory => {
            std::fs::canonicalize(path).ok().and_then(|path| mounts::disk_of(&path, mounts::mount_of(&mounts, &path)))
        }
        _ => None,
    };
    let mut answers = vec![kind(path, &info, &mounts)];
    match info.kind {
        FileKind::Regular | FileKind::Block => {
            let opened = OpenRequest { access: Access::Read, ..OpenRequest::default() }.open(path);
            match opened {
                Ok(file) => answers.extend(of_file(path, &file)),
                Err(error) => answers.push(Answer::fails(
                    "reading",
                    error.to_string(),
                    "become a user who may read it (root, or the group of the device)",
                )),
            }
        }
        FileKind::Directory => answers.push(Answer::new(
            "direct I/O",
            Ability::Unknown,
            "a directory has no data of its own: name a file in it, such as one of a job",
        )),
        // Only what sysfs knows as one of these is opened: to open another device may change its state.
        FileKind::Character if path.starts_with("/dev") => answers.extend(of_character(path, &info)),
        _ => {}
    }
    if let Some(disk) = &disk {
        answers.extend(of_disk(disk));
    }
    Ok(answers)
}

fn kind(path: &Path, info: &FileInfo, mounts: &[mounts::Mount]) -> Answer {
    let word = match info.kind {
        FileKind::Regular => "a file",
        FileKind::Directory => "a directory",
        FileKind::Block => "a block device",
        FileKind::Character => "a character device",
        _ => "neither a file nor a device",
    };
    let place = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let on = match mounts::mount_of(mounts, &place) {
        Some(mount) if matches!(info.kind, FileKind::Regular | FileKind::Directory) => {
            format!(" on {} (mounted at {})", mount.file_system, mount.place.display())
        }
        _ => String::new(),
    };
    Answer::works("kind", format!("{word}{on}"))
}

/// What an open file or block device can do.
fn of_file(path: &Path, file: &OwnedFd) -> Vec<Answer> {
    let flag = |name: &str, flag: RwFlags, cure: &str| match read_block(file, flag) {
        Ok(()) | Err(Errno::AGAIN) => Answer::works(name, ""),
        Err(errno @ (Errno::OPNOTSUPP | Errno::INVAL)) => Answer::fails(name, errno.to_string(), cure),
        Err(errno) => Answer::new(name, Ability::Unknown, errno.to_string()),
    };
    let mut answers = vec![
        direct(path),
        atomic(path),
        engine_checks::registered_buffers(),
        flag("RWF_NOWAIT", RwFlags::NOWAIT, "leave nowait out, or take another file system"),
        flag("RWF_DONTCACHE", RwFlags::DONTCACHE, "Linux 6.14 or newer has it for ext4, xfs and btrfs"),
    ];
    answers.extend(holes(path, file));
    answers
}

/// Parts of a file that no storage holds. A device has none.
fn holes(path: &Path, file: &OwnedFd) -> Option<Answer> {
    let info = FileInfo::of_path(path).ok().filter(|info| info.kind == FileKind::Regular)?;
    let name = "holes";
    Some(match ExtentBytes::of_file(file, info.size_bytes) {
        Ok(extents) => {
            let holes = extents.map_or(0, |extents| extents.hole_bytes);
            let text = if holes > 0 {
                format!(
                    "{} of {} are holes: reads of them reach no disk",
                    bytes_text(holes),
                    bytes_text(info.size_bytes)
                )
            } else {
                "the file system tells them, and the file has none".to_owned()
            };
            Answer::works(name, text)
        }
        Err(error) => Answer::new(name, Ability::Unknown, error.to_string()),
    })
}

/// Writes that are done whole or not at all.
fn atomic(path: &Path) -> Answer {
    let name = "atomic writes";
    match file::atomic_write_bytes(path) {
        Ok(Some([_, 0])) => Answer::fails(
            name,
            "the kernel has none for this file",
            "use a disk of NVMe or SCSI that has them, and on it the device, or xfs or ext4 of a recent kernel",
        ),
        Ok(Some([least, most])) => {
            Answer::works(name, format!("of {least} to {most} bytes, each a power of two, with direct=1"))
        }
        Ok(None) => {
            Answer::fails(name, "the kernel does not tell of any for this file", "Linux 6.11 or newer has them")
        }
        Err(error) => Answer::new(name, Ability::Unknown, error.to_string()),
    }
}

fn read_block(file: &OwnedFd, flags: RwFlags) -> Result<(), Errno> {
    let mut block = vec![0; 4096];
    file_io::preadv2(file, &mut [IoSliceMut::new(&mut block)], 0, flags).map(drop)
}

fn direct(path: &Path) -> Answer {
    let name = "direct I/O";
    let opened = OpenRequest { access: Access::Read, is_direct: true, ..OpenRequest::default() }.open(path);
    if let Err(error) = opened {
        return Answer::fails(name, error.to_string(), "take direct=0, or a file system on a disk");
    }
    match file::direct_io_align_bytes(path) {
        Ok(Some(0)) => Answer::fails(name, "the file system does none on this file", "take direct=0, or another file"),
        Ok(Some(bytes)) => {
            let block = file::direct_io_block_bytes(path).ok().flatten().unwrap_or(bytes);
            Answer::works(name, format!("memory in multiples of {bytes} bytes, offsets and blocks of {block} bytes"))
        }
        _ => Answer::works(name, "the file system does not tell the alignment: take multiples of 4096 bytes"),
    }
}

/// The engine for a character device that takes commands: a namespace of NVMe, or a device of SCSI.
fn of_commands(info: &FileInfo) -> Option<Answer> {
    let beside = |block: &Path| format!("; its data are those of {}, a block device for all engines", block.display());
    match nvme_node::block_device_of(info.is_device) {
        Ok(BlockSide::At(block)) => {
            return Some(Answer::works("ioengine=io_uring_cmd", format!("commands of NVMe{}", beside(&block))));
        }
        Ok(BlockSide::Hidden) => {
            let text = "commands of NVMe; the kernel hides the block device, because it does not understand its format";
            return Some(Answer::works("ioengine=io_uring_cmd", text));
        }
        Ok(BlockSide::NotNvme) | Err(_) => {}
    }
    let class = scsi_node::class_of(info.is_device)?;
    let (engine, commands) = match class {
        ScsiClass::Generic => ("ioengine=sg", "commands of SCSI"),
        ScsiClass::Bsg => ("ioengine=io_uring_cmd", "commands of SCSI, with cmd_type=bsg"),
    };
    match scsi_node::block_device_of(info.is_device) {
        Ok(ScsiSide::Disk(block)) => Some(Answer::works(engine, format!("{commands}{}", beside(&block)))),
        Ok(ScsiSide::NoDisk) => {
            Some(Answer::fails(engine, "the device is no disk, or has no block device", "name that of a disk"))
        }
        Ok(ScsiSide::NotScsi) | Err(_) => None,
    }
}

fn of_character(path: &Path, info: &FileInfo) -> Option<Answer> {
    if let Some(answer) = of_commands(info) {
        return Some(answer);
    }
    if let Ok(Some(dax)) = DaxDevice::of(info.is_device) {
        let text = format!("{} bytes, mapped in multiples of {} bytes", dax.size_bytes, dax.align_bytes);
        return Some(Answer::works("ioengine=dev-dax", text));
    }
    if !Path::new("/sys/class/mtd").join(path.file_name()?).exists() {
        return None;
    }
    let opened = OpenRequest { access: Access::Read, ..OpenRequest::default() };
    if let Some(flash) = opened.open(path).and_then(Flash::of).ok().flatten() {
        let Flash { size_bytes, erase_bytes, write_bytes } = flash;
        let text = format!("{size_bytes} bytes, erased by {erase_bytes}, written by {write_bytes} bytes");
        return Some(Answer::works("ioengine=mtd", text));
    }
    None
}

/// What sysfs says of a disk.
fn of_disk(disk: &BlockDevice) -> Vec<Answer> {
    let number = |name: &str| disk.queue_attribute(name).and_then(|text| text.trim().parse::<u64>().ok());
    let mut answers = Vec::new();
    if let Some((logical, physical)) = number("logical_block_size").zip(number("physical_block_size")) {
        let text = format!("{} of {logical} bytes, in the device {physical}", disk.name);
        answers.push(Answer::works("blocks of the disk", text));
    }
    answers.push(match disk.queue_attribute("io_poll").as_deref().map(str::trim) {
        Some("1") => Answer::works("polling (hipri)", ""),
        Some(_) => Answer::fails("polling (hipri)", "the disk has no queues for it", polling_cure(&disk.name)),
        None => Answer::new("polling (hipri)", Ability::Unknown, "sysfs does not tell"),
    });
    answers.push(match number("discard_max_bytes") {
        Some(0) => Answer::fails(
            "trim",
            "the disk has no discards",
            "a virtual disk needs discards of its host (discard=unmap)",
        ),
        Some(most) => {
            let unit = number("discard_granularity").unwrap_or(0);
            Answer::works("trim", format!("up to {most} bytes a command, in multiples of {unit} bytes"))
        }
        None => Answer::new("trim", Ability::Unknown, "sysfs does not tell"),
    });
    answers.push(match ZoneModel::of(disk) {
        Some(ZoneModel::HostManaged) => Answer::works("zones", zones_text(&number)),
        Some(ZoneModel::HostAware) => Answer::works("zones", "host-aware: zonemode=zbd may be used"),
        None => Answer::fails("zones", "the disk has none", ""),
    });
    answers.push(match number("max_write_streams") {
        Some(0) => Answer::fails(
            "placement",
            "the disk has no streams for writes",
            "an NVMe disk with FDP that is enabled has them",
        ),
        Some(streams) => {
            Answer::works("placement", format!("{streams} streams; fdp=1 of io_uring_cmd uses those of an NVMe disk"))
        }
        None => Answer::new(
            "placement",
            Ability::Unknown,
            "the kernel tells it from Linux 6.16 on; see fdp=1 of io_uring_cmd",
        ),
    });
    if let Some(node) = command_node(disk) {
        answers.push(node);
    }
    answers
}

/// How the driver of a disk is made to have queues that are polled; empty: it has none.
fn polling_cure(name: &str) -> &'static str {
    const DRIVERS: &[(&str, &str)] = &[
        ("nvme", "load its driver with some: nvme.poll_queues=2 on the kernel's command line"),
        ("vd", "load its driver with some: virtio_blk.poll_queues=2 on the kernel's command line"),
        ("nullb", "make the device with poll_queues=2"),
    ];
    let is_it = |prefix: &str| name.starts_with(prefix);
    DRIVERS.iter().find(|(prefix, _)| is_it(prefix)).map_or("leave hipri out: most drivers have none", |(_, cure)| cure)
}

fn zones_text(number: &dyn Fn(&str) -> Option<u64>) -> String {
    let limit = |name: &str| {
        number(name).filter(|limit| *limit > 0).map_or_else(|| "any number".to_owned(), |limit| limit.to_string())
    };
    // In sectors of 512 bytes.
    let zone = number("chunk_sectors").unwrap_or(0).saturating_mul(512);
    format!(
        "host-managed: zonemode=zbd; zones of {}, open at once {}, active {}",
        bytes_text(zone),
        limit("max_open_zones"),
        limit("max_active_zones")
    )
}

/// The device for commands past the block layer: `/dev/ng0n1` beside `/dev/nvme0n1`.
fn command_node(disk: &BlockDevice) -> Option<Answer> {
    let name = disk.name.strip_prefix("nvme").map(|rest| format!("/dev/ng{rest}"))?;
    let path = Path::new(&name);
    let opened = OpenRequest { access: Access::ReadWrite, ..OpenRequest::default() };
    Some(match FileInfo::of_path(path) {
        Err(error) => Answer::fails("passthrough", error.to_string(), "Linux 5.13 or newer has this device"),
        Ok(_) => match opened.open(path) {
            Ok(_) => Answer::works("passthrough", format!("ioengine=io_uring_cmd with {name}")),
            Err(error) => Answer::fails("passthrough", error.to_string(), "become root"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cure_for_polling_is_that_of_the_driver() {
        assert!(polling_cure("nvme0n1").contains("nvme.poll_queues") && polling_cure("vda").contains("virtio_blk"));
        for name in ["sda", "pmem0", "loop0", "mmcblk0"] {
            assert!(!polling_cure(name).contains("poll_queues"), "{name}");
        }
    }

    #[test]
    fn a_file_of_memory_and_a_path_that_is_none() {
        let found = answers(Path::new("/proc/self/exe")).expect("it is there");
        assert!(found.iter().any(|answer| answer.name == "direct I/O"), "{found:?}");
        assert!(found[0].why.starts_with("a file"), "{found:?}");
        assert!(answers(Path::new("/no/such/file")).is_err());
        let null = answers(Path::new("/dev/null")).expect("it is there");
        assert_eq!((null.len(), null[0].why.as_str()), (1, "a character device"));
    }
}
