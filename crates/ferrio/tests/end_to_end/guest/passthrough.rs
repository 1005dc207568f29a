//! Commands to namespaces of NVMe past the block layer (`ioengine=io_uring_cmd`), beside what the block device has, and beside the peer.
//!
//! Start reading at [`what_is_written_is_read_from_the_block_device`].

use super::{Guest, enter, has_peer};
use crate::support::{Finished, Program, tool};
use std::os::unix::fs::FileExt;

/// Blocks of 512 bytes, and the block device with the same data.
const NODE: &str = "/dev/ng0n1";
const BLOCK_DEVICE: &str = "/dev/nvme0n1";

/// Runs one job with the engine on a device.
pub(super) fn job(guest: &Guest, program: Program, device: &str, arguments: &str) -> Finished {
    guest.run(program, &format!("--name=a --ioengine=io_uring_cmd --filename={device} {arguments}"))
}

/// Bytes of a block device, past what its page cache has.
pub(super) fn bytes_of(device: &str, offset: u64, length: usize) -> Vec<u8> {
    assert!(tool(&format!("blockdev --flushbufs {device}")).is_some(), "{device}");
    let mut bytes = vec![0; length];
    std::fs::File::open(device).expect("a device").read_exact_at(&mut bytes, offset).expect("readable");
    bytes
}

/// The line with the counts of I/Os.
pub(super) fn issued(done: &Finished) -> String {
    let line = done.stdout.lines().find(|line| line.contains("issued rwts: "));
    line.unwrap_or_default().trim().to_owned()
}

/// The exit code, the lines of errors but for places in sources, and the counts of I/Os.
pub(super) fn outcome(done: &Finished) -> (Option<i32>, Vec<String>, String) {
    let is_told = |line: &&str| {
        let words =
            ["io_u error", "cq entry status", "nvme ns generic", "failed to fetch", "block size", "has no write"];
        words.iter().any(|word| line.contains(word)) && !line.contains("pid=")
    };
    let mut lines: Vec<String> = done.all().lines().filter(is_told).map(str::to_owned).collect();
    lines.sort_unstable();
    (done.code, lines, issued(done))
}

#[test]
fn what_is_written_is_read_from_the_block_device() {
    let Some(guest) = enter("what_is_written_is_read_from_the_block_device") else { return };
    for (index, arguments) in [
        "",
        "--iodepth=8",
        "--iodepth=4 --fixedbufs=1 --registerfiles=1",
        "--iodepth=4 --nonvectored=0",
        "--iodepth=4 --hipri=1",
        "--iodepth=4 --sqthread_poll=1 --fixedbufs=1",
        "--iodepth=4 --writefua=1 --readfua=1 --force_async=3",
        "--thread=1",
    ]
    .iter()
    .enumerate()
    {
        let byte = 0xA0 + index as u8;
        let whole = format!("--rw=randwrite --bs=1k --offset=1m --size=64k --buffer_pattern={byte:#x} {arguments}");
        job(&guest, Program::Ferrio, NODE, &whole).succeeded().quiet();
        let bytes = bytes_of(BLOCK_DEVICE, 1 << 20, 64 << 10);
        let n_wrong = bytes.iter().filter(|found| **found != byte).count();
        assert_eq!(n_wrong, 0, "{arguments}: {byte:#x}, not {:#x}", bytes[0]);
        // The other way round: the block device writes, the commands read and check.
        let data = vec![byte ^ 0xFF; 16 << 10];
        std::fs::OpenOptions::new()
            .write(true)
            .open(BLOCK_DEVICE)
            .expect("a device")
            .write_all_at(&data, 8 << 20)
            .expect("writable");
        assert!(tool(&format!("blockdev --flushbufs {BLOCK_DEVICE}")).is_some());
        let read = format!(
            "--rw=read --bs=1k --offset=8m --size=16k --verify=pattern --verify_pattern={:#x} {arguments}",
            byte ^ 0xFF
        );
        let done = job(&guest, Program::Ferrio, NODE, &read).succeeded().quiet();
        assert!(issued(&done).contains("total=16,0,0,0"), "{arguments}: {}", done.all());
    }
}

#[test]
fn trims_and_flushes_are_commands() {
    let Some(guest) = enter("trims_and_flushes_are_commands") else { return };
    for arguments in ["--iodepth=4", "--hipri=1"] {
        let write = format!("--rw=write --bs=4k --size=64k --buffer_pattern=0x5a --fsync=4 --end_fsync=1 {arguments}");
        let done = job(&guest, Program::Ferrio, NODE, &write).succeeded().quiet();
        assert!(issued(&done).contains("total=0,16,0,3"), "{}", done.all());
        let done = job(&guest, Program::Ferrio, NODE, &format!("--rw=randtrim --bs=4k --size=32k {arguments}"));
        assert!(issued(&done.succeeded().quiet()).contains("total=0,0,8,0"));
        // This device reads zeroes where it was trimmed.
        let bytes = bytes_of(BLOCK_DEVICE, 0, 64 << 10);
        assert!(bytes[..32 << 10].iter().all(|byte| *byte == 0) && bytes[32 << 10..].iter().all(|byte| *byte == 0x5a));
    }
}

/// The device has 256 MiB.
#[test]
fn the_size_is_what_the_namespace_says() {
    let Some(guest) = enter("the_size_is_what_the_namespace_says") else { return };
    for (arguments, n_ios) in
        [("--offset=255m", 16), ("--offset=255m --size=100%", 16), ("--offset=254m --size=1g", 32)]
    {
        let done = job(&guest, Program::Ferrio, NODE, &format!("--rw=read --bs=64k {arguments}")).succeeded().quiet();
        assert!(issued(&done).contains(&format!("total={n_ios},0,0,0")), "{arguments}: {}", done.all());
        assert!(!done.stdout.contains("Disk stats"), "{}", done.all());
    }
}

#[test]
fn verified_data_is_found_again() {
    let Some(guest) = enter("verified_data_is_found_again") else { return };
    for device in [NODE, "/dev/ng1n1", "/dev/ng2n1", "/dev/ng3n1", "/dev/ng4n1"] {
        let arguments = "--rw=randwrite --bs=4k --size=128k --iodepth=8 --verify=crc32c";
        let done = job(&guest, Program::Ferrio, device, arguments).succeeded().quiet();
        assert!(issued(&done).contains("total=32,32,0,0"), "{device}: {}", done.all());
        // The kernel checks protection information, where there is some, when the block device is read.
        let block_device = device.replace("/dev/ng", "/dev/nvme");
        let read = format!("--name=a --filename={block_device} --rw=read --direct=1 --bs=4k --size=128k");
        guest.ferrio(&read).succeeded().quiet();
    }
}

#[test]
fn refusals_say_what_fits() {
    let Some(guest) = enter("refusals_say_what_fits") else { return };
    let file = guest.file("plain", &[0; 4096]);
    for (device, arguments, text) in [
        (BLOCK_DEVICE, "", "ioengine io_uring_cmd only works with nvme ns generic char devices (/dev/ngXnY)"),
        (file.as_str(), "", "ioengine io_uring_cmd only works with nvme ns generic char devices (/dev/ngXnY)"),
        ("/dev/null", "", "/dev/null: failed to fetch namespace-id"),
        (NODE, "--bs=1000", "/dev/ng0n1: block size must be a multiple of LBA data size"),
        (NODE, "--cmd_type=bsg", "does not tell its size"),
        (NODE, "--bs=4m", "Invalid argument: read offset=0, buflen=4194304"),
    ] {
        let done = job(&guest, Program::Ferrio, device, &format!("--rw=read --size=8m {arguments}"));
        assert!(done.code == Some(1) && done.all().contains(text), "{device} {arguments}: {}", done.all());
    }
}

/// The namespace has data of others, under the name of its block device.
#[test]
fn a_namespace_in_use_is_not_written() {
    let Some(guest) = enter("a_namespace_in_use_is_not_written") else { return };
    let name = "a_namespace_in_use_is_not_written";
    let size = format!("blockdev --getsz {BLOCK_DEVICE}");
    let sectors = tool(&size).expect("a size");
    let table = guest.file("table", format!("0 {} linear {BLOCK_DEVICE} 0\n", sectors.trim()).as_bytes());
    assert!(tool(&format!("dmsetup create {name} {table}")).is_some(), "a device on top");
    let before = bytes_of(BLOCK_DEVICE, 0, 4096);
    for direction in ["write", "trim", "randrw"] {
        let done = job(&guest, Program::Ferrio, NODE, &format!("--rw={direction} --size=64k"));
        assert!(done.code == Some(1) && done.stderr.contains("in use"), "{direction}: {}", done.all());
    }
    let reads = job(&guest, Program::Ferrio, NODE, "--rw=read --size=64k");
    let allowed = job(&guest, Program::Ferrio, NODE, "--rw=write --offset=1m --size=64k --allow_mounted_write=1");
    let after = bytes_of(BLOCK_DEVICE, 0, 4096);
    assert!(tool(&format!("dmsetup remove {name}")).is_some(), "removed");
    reads.succeeded();
    allowed.succeeded();
    assert_eq!(before, after);
}

#[test]
fn counts_and_failures_are_those_of_the_peer() {
    let test = "counts_and_failures_are_those_of_the_peer";
    let Some(guest) = enter(test) else { return };
    if !has_peer(test) {
        return;
    }
    for arguments in [
        "--rw=randrw --bs=4k --size=256k --iodepth=4",
        "--rw=randtrim --bs=4k --size=64k",
        "--rw=write --bs=4k --size=64k --fsync=4 --verify=crc32c",
        "--rw=read --bs=64k --offset=255m",
        "--rw=write --bs=4k --size=64k --hipri=1",
        "--rw=read --bs=1000 --size=1m",
        "--rw=read --bs=4m --size=8m",
    ] {
        let of = |program| outcome(&job(&guest, program, NODE, arguments));
        assert_eq!(of(Program::Ferrio), of(Program::Peer), "{arguments}");
    }
    for device in [BLOCK_DEVICE, "/dev/null"] {
        let of = |program| outcome(&job(&guest, program, device, "--rw=read --size=1m"));
        assert_eq!(of(Program::Ferrio), of(Program::Peer), "{device}");
    }
}
