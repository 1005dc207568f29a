//! SCSI commands by a ring (`ioengine=io_uring_cmd`, `cmd_type=bsg`) to a disk of `scsi_debug`, beside what its block device has.
//!
//! No released fio has them, so that what the disk holds afterwards is the judge. Start reading at
//! [`what_a_ring_writes_is_on_the_disk`].

use super::{Guest, Made, enter};
use crate::support::{Finished, Program, skip};
use std::os::unix::fs::FileExt;

/// The `/dev/bsg/H:C:T:L` of a disk, with its colons escaped.
fn node(disk: &Made) -> String {
    let name = disk.path().trim_start_matches("/dev/");
    let found = std::fs::read_dir(format!("/sys/block/{name}/device/bsg")).expect("a disk of SCSI");
    let node = found.flatten().next().expect("a node of bsg").file_name();
    format!("/dev/bsg/{}", node.display()).replace(':', "\\:")
}

fn job(guest: &Guest, disk: &Made, arguments: &str) -> Finished {
    let node = node(disk);
    guest
        .run(Program::Ferrio, &format!("--name=a --ioengine=io_uring_cmd --cmd_type=bsg --filename={node} {arguments}"))
}

fn bytes_of(disk: &Made, offset: u64, length: usize) -> Vec<u8> {
    assert!(crate::support::tool(&format!("blockdev --flushbufs {}", disk.path())).is_some());
    let mut bytes = vec![0; length];
    std::fs::File::open(disk.path()).expect("a device").read_exact_at(&mut bytes, offset).expect("readable");
    bytes
}

/// A disk, on a kernel that takes SCSI commands by a ring.
fn disk(test: &str, guest: &Guest, parameters: &str) -> Option<Made> {
    let disk = Made::new("scsi-debug", parameters);
    let probe = job(guest, &disk, "--rw=read --bs=512 --size=512");
    if probe.all().contains("takes no SCSI commands by a ring") {
        skip(test, "this kernel takes no SCSI commands by a ring");
        return None;
    }
    probe.succeeded();
    Some(disk)
}

#[test]
fn what_a_ring_writes_is_on_the_disk() {
    let test = "what_a_ring_writes_is_on_the_disk";
    let Some(guest) = enter(test) else { return };
    let Some(disk) = disk(test, &guest, "dev_size_mb=16 delay=0 lbpu=1") else { return };
    for (index, arguments) in [
        "",
        "--iodepth=8 --cdb_len=10",
        "--iodepth=32 --cdb_len=16 --writefua=1 --readfua=1",
        "--iodepth=4 --registerfiles=1 --force_async=2",
        "--iodepth=4 --thread=1",
    ]
    .iter()
    .enumerate()
    {
        let byte = 0xB0 + index as u8;
        let write =
            format!("--rw=randwrite --bs=4k --offset=1m --size=128k --fsync=8 --buffer_pattern={byte:#x} {arguments}");
        let done = job(&guest, &disk, &write).succeeded();
        assert!(done.stdout.contains("issued rwts: total=0,32,0,3 "), "{}", done.all());
        let bytes = bytes_of(&disk, 1 << 20, 128 << 10);
        assert_eq!(bytes.iter().filter(|found| **found != byte).count(), 0, "{arguments}: {:#x}", bytes[0]);
        let done =
            job(&guest, &disk, &format!("--rw=randrw --bs=4k --size=256k --verify=crc32c {arguments}")).succeeded();
        assert!(done.stdout.contains("issued rwts: total=64,"), "{}", done.all());
    }
    // The size is the disk's.
    let all = job(&guest, &disk, "--rw=read --bs=1m --iodepth=2").succeeded();
    assert!(all.stdout.contains("issued rwts: total=16,0,0,0 "), "{}", all.all());
    let trimmed = job(&guest, &disk, "--rw=trim --bs=4k --offset=1m --size=64k --iodepth=4").succeeded();
    assert!(trimmed.stdout.contains("issued rwts: total=0,0,16,0 "), "{}", trimmed.all());
    let bytes = bytes_of(&disk, 1 << 20, 128 << 10);
    assert!(bytes[..64 << 10].iter().all(|byte| *byte == 0) && bytes[64 << 10..].iter().all(|byte| *byte == 0xB4));
}

#[test]
fn blocks_are_verified_and_fetched_by_the_disk() {
    let test = "blocks_are_verified_and_fetched_by_the_disk";
    let Some(guest) = enter(test) else { return };
    let Some(disk) = disk(test, &guest, "dev_size_mb=16 delay=0") else { return };
    job(&guest, &disk, "--rw=write --bs=64k --size=1m --buffer_pattern=0x33").succeeded();
    for check in [0, 1] {
        let arguments = format!(
            "--rw=write --bs=4k --size=64k --iodepth=4 --buffer_pattern=0x33 --write_mode=verify --verify_bytchk={check}"
        );
        let done = job(&guest, &disk, &arguments).succeeded();
        assert!(done.stdout.contains("issued rwts: total=0,16,0,0 "), "{}", done.all());
    }
    // Miscompare: the device checks (2), and the sense key is 14.
    let wrong =
        job(&guest, &disk, "--rw=write --bs=4k --size=64k --buffer_pattern=0x34 --write_mode=verify --verify_bytchk=1");
    assert!(wrong.code == Some(1) && wrong.all().contains("BSG SCSI Status: 0x02; "), "{}", wrong.all());
    assert!(wrong.all().contains("70 00 0e") || wrong.all().contains("72 0e"), "{}", wrong.all());
    assert!(bytes_of(&disk, 0, 1 << 20).iter().all(|byte| *byte == 0x33));
    let fetched = job(&guest, &disk, "--rw=read --bs=4k --size=64k --iodepth=4 --read_mode=prefetch").succeeded();
    assert!(fetched.stdout.contains("issued rwts: total=16,0,0,0 "), "{}", fetched.all());
}

#[test]
fn what_a_disk_cannot_do_by_a_ring_is_told() {
    let test = "what_a_disk_cannot_do_by_a_ring_is_told";
    let Some(guest) = enter(test) else { return };
    // A medium error from block 0x1234 on.
    let Some(disk) = disk(test, &guest, "dev_size_mb=16 delay=0 opts=2") else { return };
    let failed = job(&guest, &disk, "--rw=read --bs=4k --offset=2320k --size=64k --iodepth=4");
    assert!(failed.code == Some(1) && failed.all().contains("BSG SCSI Status: 0x02; "), "{}", failed.all());
    let odd = job(&guest, &disk, "--rw=read --bs=1000 --size=4000");
    assert!(odd.code == Some(1) && odd.all().contains("whole blocks of the disk"), "{}", odd.all());
    let file =
        guest.run(Program::Ferrio, "--name=a --ioengine=io_uring_cmd --cmd_type=bsg --filename=/dev/null --rw=read");
    assert!(file.code == Some(1) && file.all().contains("does not tell its size"), "{}", file.all());
    // The block device is in use: neither is its other name written to.
    assert!(crate::support::tool(&format!("mkfs.ext4 -q {}", disk.path())).is_some());
    let folder = guest.scratch.join("mounted");
    std::fs::create_dir(&folder).expect("a directory");
    assert!(crate::support::tool(&format!("mount {} {}", disk.path(), folder.display())).is_some());
    let refused = job(&guest, &disk, "--rw=write --bs=4k --size=64k");
    assert!(crate::support::tool(&format!("umount {}", folder.display())).is_some());
    assert!(refused.code == Some(1) && refused.all().contains("mounted"), "{}", refused.all());
}
