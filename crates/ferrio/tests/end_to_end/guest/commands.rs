//! Commands to namespaces that are more than one read or write: comparisons by the device, zeroes that are verified, trims of several
//! ranges. The kernel's trace says which commands the device got.
//!
//! Start reading at [`trims_have_the_ranges_of_the_peer`].

use super::passthrough::{bytes_of, issued, job, outcome};
use super::{Guest, enter, has_peer};
use crate::support::{Finished, Program, tool};
use std::os::unix::fs::FileExt;

/// Blocks of 512 bytes, and the block device with the same data.
const NODE: &str = "/dev/ng0n1";
const BLOCK_DEVICE: &str = "/dev/nvme0n1";

const TRACE: &str = "/sys/kernel/tracing";

/// What a job did, and the commands that namespaces got meanwhile, in their order: name and fields.
fn traced(run: impl FnOnce() -> Finished) -> (Finished, Vec<String>) {
    let put = |name: &str, text: &str| std::fs::write(format!("{TRACE}/{name}"), text).expect("a trace");
    if !std::path::Path::new(TRACE).join("trace").exists() {
        assert!(tool(&format!("mount -t tracefs tracefs {TRACE}")).is_some(), "{TRACE}");
    }
    put("trace", "");
    put("events/nvme/nvme_setup_cmd/enable", "1");
    let done = run();
    put("events/nvme/nvme_setup_cmd/enable", "0");
    let text = std::fs::read_to_string(format!("{TRACE}/trace")).expect("a trace");
    let command = |line: &str| Some(line.split_once("cmd=(nvme_cmd_")?.1.trim_end_matches(')').to_owned());
    (done, text.lines().filter_map(command).collect())
}

fn n_of(commands: &[String], name: &str) -> usize {
    commands.iter().filter(|command| command.split(' ').next() == Some(name)).count()
}

fn ferrio(guest: &Guest, device: &str, arguments: &str) -> Finished {
    job(guest, Program::Ferrio, device, arguments)
}

/// Changes one byte of a device.
fn damage(device: &str, offset: u64) {
    let file = std::fs::OpenOptions::new().read(true).write(true).open(device).expect("a device");
    let mut byte = [0];
    file.read_exact_at(&mut byte, offset).expect("readable");
    file.write_all_at(&[byte[0] ^ 0xFF], offset).expect("writable");
    assert!(tool(&format!("blockdev --flushbufs {device}")).is_some(), "{device}");
}

/// The length of a range, and which bytes are trimmed, are told by the data: this device reads zeroes where it was trimmed.
#[test]
fn trims_have_the_ranges_of_the_peer() {
    let test = "trims_have_the_ranges_of_the_peer";
    let Some(guest) = enter(test) else { return };
    for (arguments, n_commands, n_kib) in [
        ("--rw=trim --num_range=1", 16, 64),
        ("--rw=trim --num_range=2", 8, 64),
        ("--rw=trim --num_range=3", 6, 64),
        ("--rw=trim --num_range=16", 1, 64),
        ("--rw=trim --num_range=256 --iodepth=4", 1, 64),
        ("--rw=randtrim --num_range=4 --iodepth=4", 4, 64),
        ("--rw=randtrim --num_range=4 --number_ios=2", 2, 32),
        ("--rw=trim --num_range=4 --io_size=32k", 2, 32),
        ("--rw=randtrim --num_range=5 --rate_iops=,,500 --hipri=1", 4, 64),
        ("--rw=trim --num_range=4 --bsrange=512-4k", 0, 64),
    ] {
        let write = "--rw=write --bs=4k --offset=1m --size=256k --buffer_pattern=0x5a";
        ferrio(&guest, NODE, write).succeeded().quiet();
        let whole = format!("--bs=4k --offset=1m --size=64k {arguments}");
        let (done, commands) = traced(|| ferrio(&guest, NODE, &whole));
        let done = done.succeeded().quiet();
        assert!(done.stdout.contains(&format!("io={n_kib}.0KiB")), "{arguments}: {}", done.all());
        if n_commands > 0 {
            assert!(issued(&done).contains(&format!("total=0,0,{n_commands},0")), "{arguments}: {}", done.all());
            assert_eq!(n_of(&commands, "dsm"), n_commands, "{arguments}: {commands:?}");
        }
        let bytes = bytes_of(BLOCK_DEVICE, 1 << 20, 256 << 10);
        assert!(bytes[64 << 10..].iter().all(|byte| *byte == 0x5a), "{arguments}");
        let n_zeroes = bytes.into_iter().filter(|byte| *byte == 0).count();
        assert_eq!(n_zeroes, n_kib << 10, "{arguments}");
        // A start of fio takes long in the guest.
        let is_asked = ["trim --num_range=3", "4 --iodepth=4", "number_ios=2", "512-4k"];
        if is_asked.iter().any(|end| arguments.ends_with(end)) && has_peer(test) {
            let (peer, of_peer) = traced(|| job(&guest, Program::Peer, NODE, &whole));
            assert_eq!((outcome(&done), &commands), (outcome(&peer), &of_peer), "{arguments}");
        }
    }
}

/// A trim has a line in the trace of a job, with the offset of its last range and the sum of all.
#[test]
fn logs_of_trims_with_ranges_are_those_of_the_peer() {
    let test = "logs_of_trims_with_ranges_are_those_of_the_peer";
    let Some(guest) = enter(test) else { return };
    let lines = |program, name: &str, options: &str| {
        let log = guest.file(name, &[]);
        let arguments = format!("{options} --num_range=4 --write_iolog={log}");
        job(&guest, program, NODE, &arguments).succeeded();
        let content = std::fs::read_to_string(&log).expect("a log");
        let trims = content.lines().filter_map(|line| line.split_once(" trim ")).map(|(_, place)| place.to_owned());
        trims.collect::<Vec<_>>()
    };
    let in_order = "--rw=trim --bs=4k --size=64k";
    let ours = lines(Program::Ferrio, "ours", in_order);
    assert_eq!(ours, ["12288 16384", "28672 16384", "45056 16384", "61440 16384"]);
    // Ranges of several lengths are not cut where they overlap others, so that trims have more bytes.
    let split = "--rw=randtrim --size=1m --bssplit=4096/50:16384/50";
    let ours_split = lines(Program::Ferrio, "ours_split", split);
    assert_eq!(ours_split[..4], ["540672 40960", "233472 53248", "589824 65536", "782336 40960"]);
    if has_peer(test) {
        assert_eq!(ours, lines(Program::Peer, "peer", in_order));
        let peer_split = lines(Program::Peer, "peer_split", split);
        // The last trim has fewer ranges, and the peer notes it at the place after the last one.
        assert_eq!(ours_split.len(), peer_split.len());
        assert_eq!(ours_split[..ours_split.len() - 1], peer_split[..peer_split.len() - 1]);
    }
}

#[test]
fn written_blocks_are_compared_by_the_device() {
    let Some(guest) = enter("written_blocks_are_compared_by_the_device") else { return };
    for (device, arguments) in [
        (NODE, "--verify=crc32c"),
        (NODE, "--verify=crc32c --verify_backlog=8 --fixedbufs=1"),
        (NODE, "--verify=md5 --verify_interval=1k --nonvectored=0 --thread=1"),
        (NODE, "--verify=sha256 --experimental_verify=1 --hipri=1"),
        (NODE, "--verify=pattern --verify_pattern=0x1234 --norandommap=1"),
        ("/dev/ng1n1", "--verify=crc32c --verify_fatal=1"),
        ("/dev/ng2n1", "--verify=crc32c --pi_act=0 --pi_chk=GUARD,APPTAG,REFTAG --md_per_io_size=64"),
        ("/dev/ng4n1", "--verify=crc32c --pi_act=0 --pi_chk=GUARD,APPTAG,REFTAG --md_per_io_size=16"),
    ] {
        let whole = format!("--rw=randwrite --bs=4k --size=128k --iodepth=8 --verify_mode=compare {arguments}");
        let (done, commands) = traced(|| ferrio(&guest, device, &whole));
        let done = done.succeeded().quiet();
        let n_compared = n_of(&commands, "compare");
        assert!(n_compared > 0 && n_of(&commands, "read") == 0, "{device} {arguments}: {commands:?}");
        if !arguments.contains("norandommap") {
            assert!(
                issued(&done).contains("total=32,32,0,0") && n_compared == 32,
                "{device} {arguments}: {}",
                done.all()
            );
        }
    }
    let refused = ferrio(&guest, "/dev/ng2n1", "--rw=write --bs=4k --size=64k --verify=crc32c --verify_mode=compare");
    assert!(refused.code == Some(1) && refused.all().contains("compare needs pi_act=0"), "{}", refused.all());
    // A job that only reads does so, and knows the headers.
    ferrio(&guest, NODE, "--rw=write --bs=4k --size=64k --verify=crc32c --verify_mode=compare").succeeded().quiet();
    let read = "--rw=read --bs=4k --size=64k --verify=crc32c --verify_mode=compare";
    let (done, commands) = traced(|| ferrio(&guest, NODE, read));
    assert!(issued(&done.succeeded().quiet()).contains("total=16,0,0,0"));
    assert_eq!((n_of(&commands, "read"), n_of(&commands, "compare")), (16, 0));
}

#[test]
fn the_device_finds_a_damaged_block() {
    let Some(guest) = enter("the_device_finds_a_damaged_block") else { return };
    let whole = "--rw=write --bs=4k --size=64k --verify=crc32c --verify_mode=compare";
    ferrio(&guest, NODE, &format!("{whole} --do_verify=0")).succeeded().quiet();
    ferrio(&guest, NODE, &format!("{whole} --verify_only=1")).succeeded().quiet();
    damage(BLOCK_DEVICE, 20_480 + 77);
    let done = ferrio(&guest, NODE, &format!("{whole} --verify_only=1"));
    assert_eq!(done.code, Some(1), "{}", done.all());
    let text = done.all();
    assert!(text.contains("Device-specific error: read offset=20480, buflen=4096"), "{text}");
    assert!(text.contains("(sct=0x02; sc=0x85)") && text.contains("the data on the device differ"), "{text}");
}

/// Patterns alone: headers of fio have the time, so it finds a difference where there is none.
#[test]
fn comparisons_are_those_of_the_peer() {
    let test = "comparisons_are_those_of_the_peer";
    let Some(guest) = enter(test) else { return };
    if !has_peer(test) {
        return;
    }
    for arguments in ["--rw=randwrite --iodepth=4", "--rw=randrw"] {
        let whole =
            format!("--bs=4k --size=64k --verify=pattern --verify_pattern=0x55 --verify_mode=compare {arguments}");
        ferrio(&guest, NODE, "--rw=write --bs=4k --size=64k --buffer_pattern=0x55").succeeded();
        let (ours, commands) = traced(|| ferrio(&guest, NODE, &whole));
        let (peer, of_peer) = traced(|| job(&guest, Program::Peer, NODE, &whole));
        assert_eq!(outcome(&ours), outcome(&peer), "{arguments}");
        for name in ["read", "write", "compare"] {
            assert_eq!(n_of(&commands, name), n_of(&of_peer, name), "{arguments} {name}");
        }
    }
}

/// fio 3.41 fails at the first of these writes (EFAULT), so there is nothing to compare with.
#[test]
fn zeroes_are_verified() {
    let Some(guest) = enter("zeroes_are_verified") else { return };
    for arguments in [
        "--write_mode=zeroes",
        "--write_mode=zeroes --deac=1 --verify_mode=compare",
        "--write_mode=write/50:zeroes/50",
        "--write_mode=write/:zeroes/:verify/ --verify_backlog=4",
        "--write_mode=write/50:zeroes/50 --norandommap=1 --verify_mode=compare",
        "--write_mode=write/50:zeroes/50 --experimental_verify=1",
    ] {
        let write = "--rw=write --bs=4k --size=256k --buffer_pattern=0x5a";
        ferrio(&guest, NODE, write).succeeded().quiet();
        let whole = format!("--rw=randwrite --bs=4k --size=256k --iodepth=4 --verify=crc32c {arguments}");
        let (done, commands) = traced(|| ferrio(&guest, NODE, &whole));
        let done = done.succeeded().quiet();
        let (n_zeroes, n_written) = (n_of(&commands, "write_zeroes"), n_of(&commands, "write"));
        let n_looked_at = n_of(&commands, "verify");
        assert!(n_zeroes > 0 && n_zeroes + n_written + n_looked_at == 64, "{arguments}: {commands:?}");
        assert_eq!(n_written > 0, arguments.contains("write/"), "{arguments}");
        let n_checked = n_of(&commands, "read") + n_of(&commands, "compare");
        if !arguments.contains("norandommap") {
            assert_eq!(n_checked, 64 - n_looked_at, "{arguments}: {}", done.all());
        }
        // The writes of that run are drawn again.
        let again = ferrio(&guest, NODE, &format!("{whole} --verify_only=1"));
        if !arguments.contains("norandommap") && !arguments.contains("backlog") {
            assert!(issued(&again.succeeded().quiet()).contains("total=64,64,0,0"), "{arguments}");
        }
    }
    // A byte where there must be zeroes.
    let whole = "--rw=write --bs=4k --size=64k --verify=crc32c --write_mode=zeroes";
    ferrio(&guest, NODE, whole).succeeded().quiet();
    damage(BLOCK_DEVICE, 8192 + 5);
    let done = ferrio(&guest, NODE, &format!("{whole} --verify_only=1"));
    assert!(done.code == Some(1) && done.all().contains("offset 8192"), "{}", done.all());
}
