//! Flash memory without a controller (`ioengine=mtd`), on memories that the kernel keeps in RAM, beside the peer.
//!
//! Start reading at [`what_is_written_is_read_from_the_device`].

use super::{Guest, Made, enter, has_peer};
use crate::support::{Finished, Program};
use std::os::unix::fs::FileExt;

fn job(guest: &Guest, program: Program, device: &str, arguments: &str) -> Finished {
    guest.run(program, &format!("--name=a --ioengine=mtd --filename={device} {arguments}"))
}

fn bytes_of(device: &str, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    std::fs::File::open(device).expect("a device").read_exact_at(&mut bytes, 0).expect("readable");
    bytes
}

fn issued(done: &Finished) -> (Option<i32>, String) {
    let line = done.stdout.lines().find(|line| line.contains("issued rwts: "));
    (done.code, line.unwrap_or_default().trim().to_owned())
}

#[test]
fn what_is_written_is_read_from_the_device() {
    let Some(guest) = enter("what_is_written_is_read_from_the_device") else { return };
    // 16 MiB, blocks of 128 KiB.
    let flash = Made::new("mtd", "");
    let run = |arguments: &str| job(&guest, Program::Ferrio, flash.path(), arguments).succeeded();
    for arguments in ["--bs=4k", "--bs=192k", "--bs=4k --thread=1 --fsync=8"] {
        run("--rw=trim --bs=128k --size=768k");
        assert!(bytes_of(flash.path(), 768 << 10).iter().all(|byte| *byte == 0xFF), "erased flash is full of ones");
        run(&format!("--rw=randwrite --size=768k --buffer_pattern=0x3c {arguments}"));
        assert!(bytes_of(flash.path(), 768 << 10).iter().all(|byte| *byte == 0x3C), "{arguments}");
    }
    run("--rw=trim --bs=128k --size=1m");
    let verified = run("--rw=randrw --bs=4k --size=1m --verify=crc32c");
    assert!(verified.stdout.contains("issued rwts: total=256,"), "{}", verified.all());
    let whole = run("--rw=read --bs=64k");
    assert!(whole.stdout.contains("issued rwts: total=256,0,0,0 "), "{}", whole.all());
    for (device, arguments, text) in [
        (flash.path(), "--rw=trim --bs=4k --size=16k", "a trim erases whole blocks"),
        ("/dev/zero", "--rw=read --bs=4k --size=16k", "it is no flash memory"),
        ("/dev/vda", "--rw=read --bs=4k --size=16k", "it is no flash memory"),
    ] {
        let done = job(&guest, Program::Ferrio, device, arguments);
        assert!(done.code == Some(1) && done.all().contains(text), "{device} {arguments}: {}", done.all());
    }
    for arguments in [
        "--rw=write --bs=4k --size=256k --iodepth=4",
        "--rw=write --bs=192k --size=768k --fsync=2",
        "--rw=trim --bs=128k --size=1m",
        "--rw=read --bs=64k --offset=15m --size=4m",
    ] {
        let ours = job(&guest, Program::Ferrio, flash.path(), arguments);
        if has_peer("what_is_written_is_read_from_the_device") {
            assert_eq!(issued(&ours), issued(&job(&guest, Program::Peer, flash.path(), arguments)), "{arguments}");
        }
    }
}

#[test]
fn bad_blocks_are_left_out_where_that_is_asked_for() {
    let Some(guest) = enter("bad_blocks_are_left_out_where_that_is_asked_for") else { return };
    // Blocks of 16 KiB, of which the fourth is bad.
    let flash = Made::new("nand", "badblocks=3");
    let run = |arguments: &str| job(&guest, Program::Ferrio, flash.path(), arguments);
    let strict = run("--rw=trim --bs=16k --size=128k");
    assert!(strict.code == Some(1) && strict.all().contains("a block may be bad"), "{}", strict.all());
    let lenient = run("--rw=trim --bs=16k --size=128k --skip_bad=1").succeeded();
    assert!(lenient.stdout.contains("issued rwts: total=0,0,8,0 "), "{}", lenient.all());
    run("--rw=write --bs=16k --size=128k --buffer_pattern=0x11 --skip_bad=1").succeeded();
    let odd = run("--rw=write --bs=1000 --size=64k");
    assert!(odd.code == Some(1) && odd.all().contains("a write is a multiple of"), "{}", odd.all());
}
