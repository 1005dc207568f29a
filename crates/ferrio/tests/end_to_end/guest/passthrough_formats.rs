//! Commands to namespaces beyond plain reads and writes: other commands for writes, protection information, zones.
//!
//! Start reading at [`writes_become_other_commands`].

use super::passthrough::{bytes_of, issued, job, outcome};
use super::{Guest, ZNS, enter, has_peer, reset_zones, zones};
use crate::support::{Finished, Program, tool};

/// Blocks of 512 bytes, and the block device with the same data.
const NODE: &str = "/dev/ng0n1";
const BLOCK_DEVICE: &str = "/dev/nvme0n1";

/// The zoned namespace: 32 zones of 8 MiB, of which 6 MiB can be written.
const ZONED: &str = "/dev/ng5n1";

/// Character device, block device, job options: 512+8 apart, 4096+8 behind each block, 4096+16 apart with a guard of 64 bits.
const PROTECTED: &[(&str, &str, &str)] = &[
    ("/dev/ng2n1", "/dev/nvme2n1", "--bs=4096 --md_per_io_size=64"),
    ("/dev/ng3n1", "/dev/nvme3n1", "--bs=4104"),
    ("/dev/ng4n1", "/dev/nvme4n1", "--bs=8192 --md_per_io_size=32"),
];

fn ferrio(guest: &Guest, device: &str, arguments: &str) -> Finished {
    job(guest, Program::Ferrio, device, arguments)
}

#[test]
fn writes_become_other_commands() {
    let Some(guest) = enter("writes_become_other_commands") else { return };
    let n_of = |byte: u8| bytes_of(BLOCK_DEVICE, 0, 64 << 10).into_iter().filter(|found| *found == byte).count();
    let write = |arguments: &str| {
        let done = ferrio(&guest, NODE, &format!("--rw=randwrite --bs=1k --size=64k --iodepth=4 {arguments}"));
        let done = done.succeeded().quiet();
        assert!(issued(&done).contains("total=0,64,0,0"), "{arguments}: {}", done.all());
        assert!(done.stdout.contains("io=64.0KiB (65.5kB)"), "{arguments}: {}", done.all());
    };
    for zeroes in
        ["--write_mode=zeroes", "--write_mode=zeroes --deac=1 --hipri=1", "--write_mode=zeroes --nonvectored=0"]
    {
        write("--buffer_pattern=0x5a");
        // The device reads the blocks, and nothing is written.
        write("--write_mode=verify --buffer_pattern=0x11");
        assert_eq!(n_of(0x5a), 64 << 10, "{zeroes}");
        write(zeroes);
        assert_eq!(n_of(0), 64 << 10, "{zeroes}");
    }
    write("--buffer_pattern=0x5a");
    write("--buffer_pattern=0xa5 --write_mode=write/40:zeroes/30:verify/");
    let (n_written, n_zeroes, n_kept) = (n_of(0xa5), n_of(0), n_of(0x5a));
    assert_eq!(n_written + n_zeroes + n_kept, 64 << 10);
    assert!([n_written, n_zeroes, n_kept].iter().all(|n| *n > 0 && n % 1024 == 0), "{n_written} {n_zeroes} {n_kept}");
}

#[test]
fn modes_that_cannot_be_are_refused() {
    let Some(guest) = enter("modes_that_cannot_be_are_refused") else { return };
    for (arguments, text) in [
        ("--rw=read --write_mode=zeroes", "/dev/ng0n1: 'readwrite=|rw=' has no write"),
        ("--rw=write --write_mode=zone_append", "io_uring_cmd with write_mode=zone_append requires zonemode=zbd"),
        ("--rw=trimwrite --num_range=4", "fio: trimwrite cannot be used with multiple ranges."),
        ("--rw=write --write_mode=uncor", "write_mode=uncor is not built yet"),
        ("--rw=write --write_mode=write/50:zeroes/60", "write_mode percentages exceed 100%"),
    ] {
        let done = ferrio(&guest, NODE, &format!("--size=64k {arguments}"));
        assert!(done.code == Some(1) && done.all().contains(text), "{arguments}: {}", done.all());
    }
}

/// The kernel checks guard and reference tag when it reads the block device, so the tuples that ferrio makes are right.
#[test]
fn protection_information_of_the_host_is_what_the_kernel_expects() {
    let Some(guest) = enter("protection_information_of_the_host_is_what_the_kernel_expects") else { return };
    for (node, block_device, options) in PROTECTED {
        let n_ios = 16;
        let whole = format!("{options} --number_ios={n_ios} --iodepth=4 --pi_act=0 --pi_chk=GUARD,APPTAG,REFTAG");
        for more in ["", "--fixedbufs=1", "--nonvectored=0", "--hipri=1"] {
            let write = format!("--rw=write --offset=0 --buffer_pattern=0x3c {whole} {more}");
            ferrio(&guest, node, &write).succeeded().quiet();
            let bs: usize = options.split(['=', ' ']).nth(1).and_then(|bs| bs.parse().ok()).expect("a size");
            let n_bytes = bs / 4096 * 4096 * n_ios;
            let read = format!("--name=a --filename={block_device} --direct=1 --rw=read --bs=4k --size={n_bytes}");
            guest.ferrio(&read).succeeded().quiet();
            assert!(bytes_of(block_device, 0, n_bytes).iter().all(|byte| *byte == 0x3c), "{node} {more}");
            let done = ferrio(&guest, node, &format!("--rw=read {whole} {more}")).succeeded().quiet();
            assert!(issued(&done).contains("total=16,0,0,0"), "{node}: {}", done.all());
        }
    }
}

/// Another program reads the tuple: guard 0 of zeroes (T10-DIF), the tag of the application, the number of the block.
#[test]
fn a_tuple_is_read_by_nvme_cli() {
    let Some(guest) = enter("a_tuple_is_read_by_nvme_cli") else { return };
    let options = "--bs=512 --md_per_io_size=8 --pi_act=0 --pi_chk=GUARD,APPTAG,REFTAG --apptag=0xbeef";
    ferrio(&guest, "/dev/ng2n1", &format!("--rw=write --size=8k --zero_buffers=1 {options}")).succeeded().quiet();
    let (data, tags) = (guest.file("data", &[]), guest.file("tags", &[]));
    let read = format!("nvme read /dev/ng2n1 -s 5 -c 0 -z 512 -y 8 -d {data} -M {tags} -p 0");
    assert!(tool(&read).is_some(), "{read}");
    assert_eq!(std::fs::read(&tags).expect("tags"), [0, 0, 0xbe, 0xef, 0, 0, 0, 5]);
    assert_eq!(std::fs::read(&data).expect("data"), [0; 512]);
    // Another tag is asked for; the same one in the bits of the mask.
    let read = |more: &str| ferrio(&guest, "/dev/ng2n1", &format!("--rw=read --size=8k {options} {more}"));
    let refused = read("--apptag=0xbe00");
    assert!(refused.code == Some(1) && refused.stderr.contains("(sct=0x02; sc=0x83)"), "{}", refused.all());
    read("--apptag=0xbe00 --apptag_mask=0xff00").succeeded().quiet();
}

#[test]
fn wrong_tags_and_formats_are_told_as_by_the_peer() {
    let test = "wrong_tags_and_formats_are_told_as_by_the_peer";
    let Some(guest) = enter(test) else { return };
    let (data, tag) = (guest.file("data", &[7; 512]), guest.file("tag", &[0, 0, 0, 0, 0, 0, 0, 6]));
    let whole = "--bs=512 --md_per_io_size=8 --pi_act=0 --pi_chk=GUARD,REFTAG --size=8k";
    ferrio(&guest, "/dev/ng2n1", &format!("--rw=write {whole}")).succeeded();
    let write = format!("nvme write /dev/ng2n1 -s 5 -c 0 -z 512 -y 8 -d {data} -M {tag} -p 0");
    assert!(tool(&write).is_some(), "{write}");
    let with_peer = has_peer(test);
    for (device, arguments, text) in [
        ("/dev/ng2n1", format!("--rw=read {whole}"), "(sct=0x02; sc=0x82)"),
        ("/dev/ng2n1", "--rw=read --bs=512 --size=8k --pi_chk=REFTAG".to_owned(), "(sct=0x02; sc=0x84)"),
        (
            "/dev/ng2n1",
            "--rw=read --bs=4k --size=64k --pi_act=0 --md_per_io_size=8".to_owned(),
            "/dev/ng2n1: md_per_io_size should be at least 64 bytes",
        ),
        (
            "/dev/ng3n1",
            "--rw=read --bs=4k --size=64k --pi_act=0".to_owned(),
            "/dev/ng3n1: block size must be a multiple of 4104 (LBA data size + Metadata size)",
        ),
    ] {
        let ours = ferrio(&guest, device, &arguments);
        assert!(ours.code == Some(1) && ours.all().contains(text), "{device} {arguments}: {}", ours.all());
        if with_peer {
            assert_eq!(outcome(&ours), outcome(&job(&guest, Program::Peer, device, &arguments)), "{arguments}");
        }
    }
    ferrio(&guest, "/dev/ng2n1", "--rw=write --bs=512 --size=8k").succeeded();
}

#[test]
fn zones_are_written_by_commands() {
    let Some(guest) = enter("zones_are_written_by_commands") else { return };
    for mode in ["write", "zone_append"] {
        reset_zones(ZNS);
        let zoned = format!("--zonemode=zbd --bs=64k --write_mode={mode}");
        ferrio(&guest, ZONED, &format!("--rw=write {zoned} --size=16m --io_size=7m --buffer_pattern=0x77"))
            .succeeded()
            .quiet();
        let found = zones(ZNS);
        // The first zone has 6 of the 7 MiB; the pointer of a full zone may be anywhere.
        assert_eq!((found[0].1.as_str(), found[1].0), ("fu", 1 << 20), "{mode}: {found:?}");
        assert!(bytes_of(ZNS, 8 << 20, 1 << 20).iter().all(|byte| *byte == 0x77), "{mode}");
        // The zones are full in part, and are reset before they are written again.
        let done = ferrio(
            &guest,
            ZONED,
            &format!("--rw=randwrite {zoned} --size=16m --io_size=4m --max_open_zones=2 --verify=crc32c"),
        );
        let done = done.succeeded().quiet();
        assert!(issued(&done).contains("total=64,64,0,0"), "{mode}: {}", done.all());
    }
    let done = ferrio(&guest, ZONED, "--rw=trim --zonemode=zbd --bs=8m --size=16m").succeeded().quiet();
    assert!(issued(&done).contains("total=0,0,2,0"), "{}", done.all());
    assert!(zones(ZNS)[..2].iter().all(|(written, condition)| *written == 0 && condition == "em"));
    reset_zones(ZNS);
}

#[test]
fn zones_are_used_as_by_the_peer() {
    let test = "zones_are_used_as_by_the_peer";
    let Some(guest) = enter(test) else { return };
    if !has_peer(test) {
        return;
    }
    for arguments in [
        "--rw=write --bs=64k --size=24m --io_size=13m",
        "--rw=randwrite --bs=64k --size=32m --io_size=4m --max_open_zones=2 --iodepth=4",
    ] {
        let of = |program| {
            reset_zones(ZNS);
            let done = job(&guest, program, ZONED, &format!("--zonemode=zbd {arguments}"));
            let resets = done.stdout.lines().find_map(|line| line.split_once("; ")).map(|(_, text)| text.to_owned());
            (done.code, issued(&done), resets, zones(ZNS).iter().map(|(written, _)| *written).sum::<u64>())
        };
        assert_eq!(of(Program::Ferrio), of(Program::Peer), "{arguments}");
    }
    reset_zones(ZNS);
}

/// Blocks of 4096 bytes, flexible data placement with 4 handles.
const PLACED: &str = "/dev/ng6n1";

/// Blocks that can still be written to the reclaim unit of each handle, by nvme-cli.
fn left_of_handles() -> Vec<i64> {
    let status = tool(&format!("nvme fdp status {PLACED}")).expect("the status of the handles");
    let number = |line: &str| line.split_once("(RUAMW):")?.1.trim().parse().ok();
    status.lines().filter_map(number).collect()
}

/// Blocks that a job wrote to each handle.
fn blocks_of_handles(guest: &Guest, program: Program, arguments: &str) -> Vec<i64> {
    let before = left_of_handles();
    let whole = format!("--rw=write --bs=64k --size=1m --iodepth=4 {arguments}");
    let done = job(guest, program, PLACED, &whole).succeeded();
    assert!(issued(&done).contains("total=0,16,0,0"), "{}", done.all());
    before.iter().zip(left_of_handles()).map(|(before, after)| before - after).collect()
}

#[test]
fn writes_go_to_the_handles_that_the_job_names() {
    let test = "writes_go_to_the_handles_that_the_job_names";
    let Some(guest) = enter(test) else { return };
    let with_peer = has_peer(test);
    let scheme = guest.file("scheme", b"0, 524288, 1\n524288, 1048576, 3\n");
    let by_scheme = format!("--dataplacement=fdp --plid_select=scheme --dp_scheme={scheme}");
    // 16 writes of 16 blocks each.
    for (arguments, blocks) in [
        ("--fdp=1 --plids=1", [0, 256, 0, 0]),
        ("--fdp=1 --plids=0,2", [128, 0, 128, 0]),
        ("--dataplacement=fdp", [64, 64, 64, 64]),
        ("--fdp=1 --write_mode=write --plids=3 --hipri=1", [0, 0, 0, 256]),
        (by_scheme.as_str(), [0, 128, 0, 128]),
        ("", [256, 0, 0, 0]),
    ] {
        assert_eq!(blocks_of_handles(&guest, Program::Ferrio, arguments), blocks, "{arguments}");
        if with_peer {
            assert_eq!(blocks_of_handles(&guest, Program::Peer, arguments), blocks, "the peer: {arguments}");
        }
    }
    let random = blocks_of_handles(&guest, Program::Ferrio, "--fdp=1 --plids=0-3 --plid_select=random");
    assert!(random.iter().sum::<i64>() == 256 && random.iter().filter(|n| **n > 0).count() > 1, "{random:?}");
    for (device, arguments, text) in [
        (PLACED, "--fdp=1 --plids=9", "PID index 9 must be smaller than 4"),
        (NODE, "--fdp=1", "/dev/ng0n1: fdp fetch ruhs failed"),
        (PLACED, "--fdp=1 --dataplacement=streams", "fdp=1 is not compatible with dataplacement={streams, none}"),
        (PLACED, "--fdp=1 --plid_select=scheme --dp_scheme=/absent", "lstat() error related to /absent"),
        (BLOCK_DEVICE, "--fdp=1 --ioengine=psync --direct=1", "engine (psync) lacks fetch ruhs"),
    ] {
        let done = ferrio(&guest, device, &format!("--rw=write --bs=4k --size=64k {arguments}"));
        assert!(done.code == Some(1) && done.all().contains(text), "{arguments}: {}", done.all());
    }
}
