//! SCSI commands (`ioengine=sg`) to a disk of `scsi_debug`, beside what its block device has, and beside the peer.
//!
//! Start reading at [`what_is_written_is_read_from_the_block_device`].

use super::{Guest, Made, enter, has_peer, zones};
use crate::support::{Finished, Program, tool};
use std::os::unix::fs::FileExt;

/// The `/dev/sgN` of a disk.
fn generic(disk: &Made) -> String {
    let name = disk.path().trim_start_matches("/dev/");
    let found = std::fs::read_dir(format!("/sys/block/{name}/device/scsi_generic")).expect("a disk of SCSI");
    let node = found.flatten().next().expect("sg is loaded").file_name();
    format!("/dev/{}", node.display())
}

fn job(guest: &Guest, program: Program, device: &str, arguments: &str) -> Finished {
    guest.run(program, &format!("--name=a --ioengine=sg --filename={device} {arguments}"))
}

/// Bytes of a block device, past what its page cache has.
fn bytes_of(disk: &Made, offset: u64, length: usize) -> Vec<u8> {
    bytes_at(disk.path(), offset, length)
}

fn bytes_at(path: &str, offset: u64, length: usize) -> Vec<u8> {
    assert!(tool(&format!("blockdev --flushbufs {path}")).is_some());
    let mut bytes = vec![0; length];
    std::fs::File::open(path).expect("a device").read_exact_at(&mut bytes, offset).expect("readable");
    bytes
}

/// The line with the counts of I/Os, the depths, and fio's lines of errors but for places in sources.
fn outcome(done: &Finished) -> (Option<i32>, Vec<String>) {
    let is_told = |line: &&str| {
        let words = ["issued rwts", "IO depths", "io_u error on file", "SG Driver Status", "ioengine sg", "note: both"];
        words.iter().any(|word| line.contains(word)) && !line.contains("pid=")
    };
    (done.code, done.all().lines().filter(is_told).map(|line| line.trim().to_owned()).collect())
}

#[test]
fn what_is_written_is_read_from_the_block_device() {
    let Some(guest) = enter("what_is_written_is_read_from_the_block_device (sg)") else { return };
    let disk = Made::new("scsi-debug", "dev_size_mb=16 delay=0");
    let node = generic(&disk);
    for (index, (device, arguments)) in [
        (node.as_str(), ""),
        (&node, "--iodepth=8"),
        (&node, "--iodepth=4 --hipri=1 --writefua=1 --readfua=1"),
        (&node, "--iodepth=64"),
        (&node, "--iodepth=4 --sync=1"),
        (disk.path(), "--iodepth=4"),
        (disk.path(), "--direct=1 --thread=1"),
    ]
    .iter()
    .enumerate()
    {
        let byte = 0xB0 + index as u8;
        let write =
            format!("--rw=randwrite --bs=4k --offset=1m --size=128k --fsync=8 --buffer_pattern={byte:#x} {arguments}");
        let done = job(&guest, Program::Ferrio, device, &write).succeeded();
        assert!(done.stdout.contains("issued rwts: total=0,32,0,3 "), "{}", done.all());
        let bytes = bytes_of(&disk, 1 << 20, 128 << 10);
        assert_eq!(bytes.iter().filter(|found| **found != byte).count(), 0, "{device} {arguments}: {:#x}", bytes[0]);
        let verify = format!("--rw=randrw --bs=4k --size=256k --verify=crc32c {arguments}");
        let done = job(&guest, Program::Ferrio, device, &verify).succeeded();
        assert!(done.stdout.contains("issued rwts: total=64,"), "{}", done.all());
    }
}

#[test]
fn modes_of_writing_do_what_their_commands_say() {
    let Some(guest) = enter("modes_of_writing_do_what_their_commands_say") else { return };
    let disk = Made::new("scsi-debug", "dev_size_mb=16 delay=0 lbpu=1 lbpws=1");
    let node = generic(&disk);
    let run = |arguments: &str| job(&guest, Program::Ferrio, &node, arguments);
    let fill = |byte: u8| drop(run(&format!("--rw=write --bs=64k --size=1m --buffer_pattern={byte:#x}")).succeeded());
    fill(0x11);
    run("--rw=write --bs=4k --size=64k --sg_write_mode=write_same --buffer_pattern=0x22").succeeded();
    assert!(bytes_of(&disk, 0, 64 << 10).iter().all(|byte| *byte == 0x22));
    run("--rw=write --bs=4k --size=64k --sg_write_mode=write_same_ndob").succeeded();
    assert!(bytes_of(&disk, 0, 64 << 10).iter().all(|byte| *byte == 0));
    fill(0x33);
    for mode in ["verify_bytchk_00", "verify_bytchk_01"] {
        run(&format!("--rw=write --bs=4k --size=64k --buffer_pattern=0x33 --sg_write_mode={mode}")).succeeded();
    }
    let wrong = run("--rw=write --bs=4k --size=64k --buffer_pattern=0x34 --sg_write_mode=verify_bytchk_01");
    // Miscompare: sense key 14.
    assert!(wrong.code == Some(1) && wrong.all().contains("Sense Data (18 bytes): 70 00 0e "), "{}", wrong.all());
    assert!(bytes_of(&disk, 0, 1 << 20).iter().all(|byte| *byte == 0x33));
    let stream = run("--rw=write --bs=4k --size=64k --sg_write_mode=write_stream");
    assert!(stream.code == Some(1) && stream.all().contains("not built yet"), "{}", stream.all());
    // Each trim is an I/O, though those that are committed together are one command.
    // The kernel takes 16 commands at once from an open file.
    for arguments in
        ["--iodepth=1", "--iodepth=64", "--iodepth=16 --iodepth_batch=8", "--iodepth=128 --iodepth_batch=128"]
    {
        fill(0x44);
        let done = run(&format!("--rw=randtrim --bs=4k --size=512k {arguments}")).succeeded();
        assert!(done.stdout.contains("issued rwts: total=0,0,128,0 "), "{arguments}: {}", done.all());
        let bytes = bytes_of(&disk, 0, 1 << 20);
        let is_right =
            bytes[..512 << 10].iter().all(|byte| *byte == 0) && bytes[512 << 10..].iter().all(|byte| *byte == 0x44);
        assert!(is_right, "{arguments}");
    }
}

/// `scsi_debug` does not know this command; the disk of the guest's own does.
#[test]
fn a_write_may_be_verified_by_the_disk() {
    let Some(guest) = enter("a_write_may_be_verified_by_the_disk") else { return };
    for mode in ["write_and_verify", "verify"] {
        let arguments =
            format!("--rw=write --bs=4k --size=64k --iodepth=4 --buffer_pattern=0x55 --sg_write_mode={mode}");
        job(&guest, Program::Ferrio, "/dev/sda", "--rw=write --bs=4k --size=64k --buffer_pattern=0").succeeded();
        let done = job(&guest, Program::Ferrio, "/dev/sg0", &arguments).succeeded();
        assert!(done.stdout.contains("issued rwts: total=0,16,0,0 "), "{}", done.all());
        assert!(bytes_at("/dev/sda", 0, 64 << 10).iter().all(|byte| *byte == 0x55), "{mode}");
    }
}

#[test]
fn faults_and_counts_are_those_of_the_peer() {
    let Some(guest) = enter("faults_and_counts_are_those_of_the_peer") else { return };
    // A medium error from block 0x1234 on.
    let disk = Made::new("scsi-debug", "dev_size_mb=16 delay=0 opts=2 lbpu=1");
    let node = generic(&disk);
    for (arguments, text) in [
        ("--rw=randread --bs=4k --size=1m --iodepth=4", "issued rwts: total=256,0,0,0"),
        ("--rw=write --bs=4k --size=1m --iodepth=4 --fsync=16", "issued rwts: total=0,256,0,15"),
        ("--rw=trim --bs=4k --size=256k --iodepth=8", "issued rwts: total=0,0,64,0"),
        ("--rw=read --bs=4k --offset=2320k --size=64k --iodepth=1", "SG SCSI Status: 0x02; CHECK_CONDITION"),
        (
            "--rw=write --bs=4k --size=64k --sg_write_mode=verify_bytchk_01 --buffer_pattern=0x77",
            "Sense Data (18 bytes): 70 00 0e",
        ),
    ] {
        let ours = job(&guest, Program::Ferrio, &node, arguments);
        assert!(ours.all().contains(text), "{arguments}: {}", ours.all());
        if has_peer("faults_and_counts_are_those_of_the_peer") {
            let peer = job(&guest, Program::Peer, &node, arguments);
            assert_eq!(outcome(&ours), outcome(&peer), "{arguments}: {}", ours.all());
        }
    }
}

/// Zones of 4 MiB, of which the first two are conventional.
#[test]
fn zones_of_a_disk_are_written_and_reset() {
    let Some(guest) = enter("zones_of_a_disk_are_written_and_reset") else { return };
    let disk = Made::new("scsi-zbc", "delay=0");
    let run = |arguments: &str| {
        let always = format!("--name=a --ioengine=libzbc --filename={} --direct=1 --bs=64k", disk.path());
        guest.ferrio(&format!("{always} {arguments}"))
    };
    let in_zones = "--zonemode=zbd --offset=8m --size=8m";
    let done = run(&format!("{in_zones} --rw=write --verify=crc32c --iodepth=4")).succeeded();
    assert!(done.stdout.contains("issued rwts: total=128,128,0,0 "), "{}", done.all());
    let pointers = || zones(disk.path()).into_iter().map(|(_, condition)| condition).take(3).collect::<Vec<_>>();
    assert_eq!(pointers(), ["fu", "fu", "em"]);
    let trims =
        format!("--name=a --ioengine=libzbc --filename={} --direct=1 --rw=trim --bs=4m {in_zones}", disk.path());
    guest.ferrio(&trims).succeeded();
    assert_eq!(pointers(), ["em", "em", "em"]);
    let file = guest.file("plain", &[0; 4096]);
    for (arguments, text) in [
        (format!("--ioengine=libzbc --filename={} --rw=read", disk.path()), "direct=1"),
        ("--ioengine=libzbc --filename=/dev/vda --rw=read --direct=1".to_owned(), "it is no zoned disk"),
        (format!("--ioengine=libzbc --filename={file} --rw=read"), "direct=1"),
    ] {
        let done = guest.ferrio(&format!("--name=a --bs=64k --size=64k {arguments}"));
        assert!(done.code == Some(1) && done.all().contains(text), "{arguments}: {}", done.all());
    }
}

#[test]
fn a_disk_in_use_is_not_written_to() {
    let Some(guest) = enter("a_disk_in_use_is_not_written_to (sg)") else { return };
    let disk = Made::new("scsi-debug", "dev_size_mb=64 delay=0");
    let node = generic(&disk);
    let mount = std::env::temp_dir().join("sg-in-use");
    std::fs::create_dir_all(&mount).expect("a directory");
    assert!(tool(&format!("mkfs.ext4 -q -F {}", disk.path())).is_some());
    assert!(tool(&format!("mount {} {}", disk.path(), mount.display())).is_some());
    for device in [node.as_str(), disk.path()] {
        let done = job(&guest, Program::Ferrio, device, "--rw=write --bs=4k --size=64k");
        assert!(done.code == Some(1) && done.all().contains("mounted"), "{device}: {}", done.all());
        let read = job(&guest, Program::Ferrio, device, "--rw=read --bs=4k --size=64k");
        assert_eq!(read.code, Some(0), "{device}: {}", read.all());
    }
    assert!(tool(&format!("umount {}", mount.display())).is_some());
    for (device, text) in [
        ("/dev/zero", "unable to successfully execute read capacity"),
        ("/dev/vda", "unable to successfully execute read capacity"),
        ("/tmp", "ioengine sg only works on block or character devices"),
    ] {
        let done = job(&guest, Program::Ferrio, device, "--rw=read --bs=4k --size=64k");
        assert!(done.code == Some(1) && done.all().contains(text), "{device}: {}", done.all());
    }
}

/// The zones are those of the block device, whatever engine writes them.
#[test]
fn zones_of_a_disk_are_written_by_its_commands() {
    let Some(guest) = enter("zones_of_a_disk_are_written_by_its_commands") else { return };
    let disk = Made::new("scsi-zbc", "dev_size_mb=16 zone_size_mb=1 zone_nr_conv=8 zone_max_open=0 delay=0");
    // A write that is not at the write pointer, before there is one in the zone.
    let job_of_files = format!("--name=a --filename={} --direct=1 --rw=write --bs=64k --size=64k", disk.path());
    let refused = guest.run(Program::Ferrio, &format!("{job_of_files} --offset=8704k"));
    let advice = format!("fio: first I/O failed. If {} is a zoned block device, consider --zonemode=zbd", disk.path());
    assert!(refused.code == Some(1) && refused.all().contains(&advice), "{}", refused.all());
    for device in [disk.path(), &generic(&disk)] {
        let arguments = "--zonemode=zbd --rw=randwrite --bs=64k --offset=8m --size=2m";
        let done = job(&guest, Program::Ferrio, device, arguments).succeeded();
        assert!(done.stdout.contains("issued rwts: total=0,32,0,0"), "{}", done.all());
        let written: Vec<u64> = zones(disk.path())[..3].iter().map(|(bytes, _)| *bytes).collect();
        assert_eq!(written, [1 << 20, 1 << 20, 0], "{device}");
    }
}

#[test]
fn engines_for_commands_are_named() {
    let Some(guest) = enter("engines_for_commands_are_named") else { return };
    let disk = Made::new("scsi-debug", "dev_size_mb=16 delay=0");
    let node = generic(&disk);
    let nodes = format!("/sys/block/{}/device/bsg", disk.path().trim_start_matches("/dev/"));
    let bsg = std::fs::read_dir(nodes).expect("a disk").flatten().next().expect("a node").file_name();
    let bsg = format!("/dev/bsg/{}", bsg.display());
    for (device, engine, block) in [
        (node.as_str(), "sg", disk.path()),
        (&bsg, "io_uring_cmd", disk.path()),
        ("/dev/ng0n1", "io_uring_cmd", "/dev/nvme0n1"),
    ] {
        let found = guest.run(Program::Ferrio, &format!("engines --json {device}")).succeeded();
        let is_named = found.stdout.contains(&format!("ioengine={engine}")) && found.stdout.contains(block);
        assert!(is_named, "{}", found.all());
    }
    let all = guest.run(Program::Ferrio, "engines --json").succeeded();
    assert!(all.stdout.contains("/dev/ng0n1, "), "{}", all.all());
}
