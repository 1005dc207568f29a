//! Tests of block devices: a made-up sysfs tree for the shape, real devices where there are any.

use super::*;
use crate::test_support::TempDir;
use ferrio_testing::skip;
use std::os::unix::fs::symlink;

/// Disk `sda` with one partition, under a dm device that uses the partition; and a plain `sdb`.
fn made_up_sysfs(dir: &TempDir) -> PathBuf {
    let root = dir.path().to_owned();
    for (path, number) in [("sda", "8:0"), ("sda/sda1", "8:1"), ("sdb", "8:16"), ("dm-0", "253:0")] {
        let device = root.join(path);
        std::fs::create_dir_all(device.join("holders")).unwrap();
        std::fs::create_dir_all(device.join("slaves")).unwrap();
        std::fs::write(device.join("dev"), format!("{number}\n")).unwrap();
    }
    std::fs::write(root.join("sda/sda1/partition"), "1\n").unwrap();
    symlink(root.join("dm-0"), root.join("sda/sda1/holders/dm-0")).unwrap();
    symlink(root.join("sda/sda1"), root.join("dm-0/slaves/sda1")).unwrap();
    root
}

#[test]
fn a_partition_is_stood_for_by_its_disk() {
    let dir = TempDir::new("sysfs");
    let root = made_up_sysfs(&dir);
    let disk = BlockDevice::in_directory(&root.join("sda/sda1")).unwrap();
    assert_eq!((disk.name.as_str(), disk.number), ("sda", DeviceNumber { major: 8, minor: 0 }));
    assert_eq!(disk.numbers().unwrap(), [DeviceNumber { major: 8, minor: 0 }, DeviceNumber { major: 8, minor: 1 }]);
}

#[test]
fn holders_and_slaves_point_at_each_other() {
    let dir = TempDir::new("sysfs-dm");
    let root = made_up_sysfs(&dir);
    let mapper = BlockDevice::in_directory(&root.join("dm-0")).unwrap();
    let names: Vec<_> = mapper.slaves().unwrap().into_iter().map(|slave| slave.name).collect();
    assert_eq!(names, ["sda"]);
    let disk = BlockDevice::in_directory(&root.join("sda")).unwrap();
    assert_eq!(disk.holders().unwrap(), ["dm-0"]);
    let other = BlockDevice::in_directory(&root.join("sdb")).unwrap();
    assert!(other.holders().unwrap().is_empty() && other.slaves().unwrap().is_empty());
    assert!(other.loop_backing_file().is_none() && other.queue_attribute("scheduler").is_none());
}

#[test]
fn queues_node_and_sensors_are_where_sysfs_has_them() {
    let dir = TempDir::new("sysfs-queues");
    let controller = dir.path().join("0000:01:00.0/nvme/nvme0");
    let disk = controller.join("nvme0n1");
    for (queue, tags) in [("0", "1023\n"), ("1", "1023\n"), ("2", "many\n")] {
        std::fs::create_dir_all(disk.join("mq").join(queue)).unwrap();
        std::fs::write(disk.join("mq").join(queue).join("nr_tags"), tags).unwrap();
    }
    std::fs::create_dir_all(controller.join("hwmon3")).unwrap();
    std::fs::create_dir_all(controller.join("hwmon/hwmon4")).unwrap();
    symlink(&controller, disk.join("device")).unwrap();
    std::fs::write(disk.join("dev"), "259:0\n").unwrap();
    let device = BlockDevice::in_directory(&disk).unwrap();
    assert_eq!((device.queue_tags(), device.numa_node()), (vec![1023, 1023], None));
    let node = dir.path().join("0000:01:00.0/numa_node");
    std::fs::write(&node, "1\n").unwrap();
    assert_eq!(device.numa_node(), Some(1));
    // The kernel's word for none.
    std::fs::write(&node, "-1\n").unwrap();
    assert_eq!(device.numa_node(), None);
    let names: Vec<_> = device.sensor_directories().iter().filter_map(|path| file_name(path)).collect();
    assert_eq!(names, ["hwmon3", "hwmon4"]);
}

#[test]
fn numbers_in_text() {
    assert_eq!(DeviceNumber::parse("259:12\n"), Some(DeviceNumber { major: 259, minor: 12 }));
    assert_eq!(DeviceNumber { major: 8, minor: 1 }.to_string(), "8:1");
    assert!(["", "8", "8:", ":1", "8:1:2", "a:b"].iter().all(|text| DeviceNumber::parse(text).is_none()));
}

#[test]
fn opcodes_of_the_block_layer() {
    // linux/fs.h on x86-64 and arm64.
    assert_eq!((BLKFLSBUF, BLKGETSIZE64), (0x1261, 0x8008_1272));
}

#[test]
fn the_disks_of_this_machine_can_be_read() {
    let Ok(disks) = BlockDevice::all() else {
        skip!("the_disks_of_this_machine_can_be_read", "no /sys/block");
        return;
    };
    for disk in disks {
        assert_eq!(BlockDevice::by_number(disk.number).unwrap().as_ref(), Some(&disk));
        assert!(crate::devices::disk_stats::DiskStats::parse(&disk.stat_text().unwrap()).is_ok());
        disk.slaves().unwrap();
        disk.holders().unwrap();
    }
    assert_eq!(BlockDevice::behind_path(Path::new("/dev/null")).unwrap(), None);
    assert_eq!(BlockDevice::by_number(DeviceNumber { major: 0, minor: 1 }).unwrap(), None);
}

#[test]
fn what_is_no_block_device_says_so() {
    let dir = TempDir::new("no-device");
    let file = std::fs::File::create(dir.path().join("file")).unwrap();
    assert_eq!(size_bytes(&file).unwrap_err().errno(), Some(libc::ENOTTY));
    assert_eq!(logical_block_bytes(&file).unwrap_err().errno(), Some(libc::ENOTTY));
    assert_eq!(flush_buffers(&file).unwrap_err().errno(), Some(libc::ENOTTY));
}

#[test]
fn a_loop_device_has_the_size_of_its_file() {
    let Some(device) = crate::test_support::LoopDevice::new("loop", 8 << 20) else {
        skip!("a_loop_device_has_the_size_of_its_file", "no loop device can be set up");
        return;
    };
    let request =
        crate::files::file::OpenRequest { access: crate::files::file::Access::ReadWrite, ..Default::default() };
    let file = request.open(device.path()).unwrap();
    assert_eq!(size_bytes(&file).unwrap(), 8 << 20);
    assert!(logical_block_bytes(&file).unwrap() >= 512);
    flush_buffers(&file).unwrap();
    crate::files::file_io::pwrite(&file, &[9; 8192], 0).unwrap();
    if crate::files::io_calls::discard(std::os::fd::AsFd::as_fd(&file), 0, 4096) == Ok(()) {
        let mut bytes = [1; 8192];
        crate::files::file_io::pread(&file, &mut bytes, 0).unwrap();
        assert_eq!((bytes[0], bytes[4095], bytes[4096]), (0, 0, 9), "a loop device punches a hole");
    }
    let disk = BlockDevice::behind_path(device.path()).unwrap().unwrap();
    assert_eq!(disk.loop_backing_file().as_deref(), Some(device.backing_file()));
    assert!(disk.queue_attribute("rotational").is_some());
}

#[test]
fn the_scheduler_in_brackets_is_in_force() {
    assert_eq!(chosen("none [mq-deadline] bfq"), "mq-deadline");
    assert_eq!(chosen("[none]"), "none");
    assert_eq!(chosen("none"), "none");
    assert_eq!(chosen("none]["), "none][");
}
