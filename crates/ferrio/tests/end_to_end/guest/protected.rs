//! Namespaces with protection information through the block device: the kernel creates and checks it, and it is not
//! part of the data; or the job does so itself, by `io_uring`.
//!
//! Start reading at [`what_is_written_is_read_back`], then at [`tuples_of_the_host_are_those_of_the_device`].

use super::passthrough::{bytes_of, issued};
use super::{Guest, enter, has_peer};
use crate::support::{Finished, Program, tool};

/// 512+8 apart, 4096+8 behind each block, 4096+16 apart with a guard of 64 bits; and the size of a block.
const DEVICES: &[(&str, u64)] = &[("/dev/nvme2n1", 512), ("/dev/nvme3n1", 4096), ("/dev/nvme4n1", 4096)];

#[test]
fn what_is_written_is_read_back() {
    let Some(guest) = enter("what_is_written_is_read_back") else { return };
    for (device, block_bytes) in DEVICES {
        assert_eq!(tool(&format!("blockdev --getss {device}")), Some(block_bytes.to_string()), "{device}");
        for engine in ["psync", "libaio --iodepth=4", "io_uring --iodepth=4 --fixedbufs=1"] {
            let job = format!("--name=a --filename={device} --direct=1 --ioengine={engine} --size=64k --verify=crc32c");
            let done = guest.ferrio(&format!("{job} --rw=randwrite --bs=4k")).succeeded().quiet();
            assert!(done.stdout.contains("issued rwts: total=16,16,0,"), "{}", done.all());
        }
        // Blocks of one sector, and blocks of many.
        for bs in [*block_bytes, 32 << 10] {
            let job = format!("--name=a --filename={device} --direct=1 --rw=write --bs={bs} --size=64k");
            let done = guest.ferrio(&format!("{job} --verify=pattern --verify_pattern=0xdeadface")).succeeded().quiet();
            let n_ios = (64 << 10) / bs;
            assert!(done.stdout.contains(&format!("issued rwts: total={n_ios},{n_ios},0,")), "{}", done.all());
        }
    }
}

/// A block whose protection information was made for another place is an error of the read, not wrong data.
#[test]
fn a_wrong_reference_tag_is_an_error() {
    let Some(guest) = enter("a_wrong_reference_tag_is_an_error") else { return };
    let device = "/dev/nvme2n1";
    let job = format!("--name=a --filename={device} --direct=1 --bs=512 --size=8k");
    guest.ferrio(&format!("{job} --rw=write")).succeeded();
    // Writes sector 5 again, with the tags of sector 6; the device neither checks nor creates tags here.
    let data = guest.file("data", &[7; 512]);
    let tag = guest.file("tag", &[0, 0, 0, 0, 0, 0, 0, 6]);
    let write = format!("nvme write {device} -s 5 -c 0 -z 512 -y 8 -d {data} -M {tag} -p 0");
    assert!(tool(&write).is_some(), "{write}");
    let done = guest.ferrio(&format!("{job} --rw=read"));
    assert_eq!(done.code, Some(1), "{}", done.all());
    assert!(done.stderr.contains(": read offset=2560, buflen=512"), "{}", done.all());
    assert!(done.stdout.contains("issued rwts: total=6,0,0,0"), "{}", done.all());
}

/// Block device, and job options for two of its blocks at least: 512+8, 4096+16 with a guard of 64 bits.
const APART: &[(&str, &str)] =
    &[("/dev/nvme2n1", "--bs=4096 --md_per_io_size=64"), ("/dev/nvme4n1", "--bs=8192 --md_per_io_size=32")];

/// Runs one job with `io_uring` on a device.
fn job(guest: &Guest, program: Program, device: &str, arguments: &str) -> Finished {
    guest.run(program, &format!("--name=a --ioengine=io_uring --direct=1 --filename={device} {arguments}"))
}

/// The kernel, the commands past the block layer and another program find what the job has made, and the job what they have.
#[test]
fn tuples_of_the_host_are_those_of_the_device() {
    let Some(guest) = enter("tuples_of_the_host_are_those_of_the_device") else { return };
    let ferrio = |device: &str, arguments: &str| job(&guest, Program::Ferrio, device, arguments).succeeded().quiet();
    for (device, options) in APART {
        let whole = format!("{options} --number_ios=16 --pi_act=0 --pi_chk=GUARD,APPTAG,REFTAG --apptag=0xbeef");
        let bytes = if device.contains("nvme2") { 64 << 10 } else { 128 << 10 };
        let rings = ["--iodepth=8 --fixedbufs=1", "--nonvectored=0", "--iodepth=4 --registerfiles=1 --sqthread_poll=1"];
        for (index, more) in rings.iter().enumerate() {
            let byte = 0x30 + index as u8;
            let done =
                ferrio(device, &format!("--rw=randwrite --buffer_pattern={byte:#x} {whole} {more} --size={bytes}"));
            assert!(issued(&done).contains("total=0,16,0,0"), "{device} {more}: {}", done.all());
            // The kernel checks guard and reference tag.
            let read = format!("--name=a --filename={device} --direct=1 --rw=read --bs=4k --size={bytes}");
            guest.ferrio(&read).succeeded().quiet();
            assert!(bytes_of(device, 0, bytes).iter().all(|found| *found == byte), "{device} {more}");
            let done = ferrio(device, &format!("--rw=read {whole} {more} --size={bytes}"));
            assert!(issued(&done).contains("total=16,0,0,0"), "{device} {more}: {}", done.all());
            let node = device.replace("/dev/nvme", "/dev/ng");
            let past = format!("--name=a --ioengine=io_uring_cmd --filename={node} --rw=read --size={bytes} {whole}");
            guest.ferrio(&past).succeeded().quiet();
        }
        ferrio(device, &format!("--rw=randwrite {whole} --verify=crc32c --size={bytes} --iodepth=4"));
        // Tuples that the kernel has made have application tag 0.
        guest.ferrio(&format!("--name=a --filename={device} --direct=1 --rw=write --bs=4k --size={bytes}")).succeeded();
        ferrio(device, &format!("--rw=read {whole} --apptag=0 --size={bytes} --iodepth=4"));
    }
}

/// Guard 0 of zeroes (T10-DIF), the tag of the application, the number of the block.
#[test]
fn a_tuple_by_io_uring_is_read_by_nvme_cli() {
    let Some(guest) = enter("a_tuple_by_io_uring_is_read_by_nvme_cli") else { return };
    let options = "--bs=4k --md_per_io_size=64 --pi_act=0 --pi_chk=GUARD,APPTAG,REFTAG --apptag=0xbeef";
    let written = format!("--rw=write --size=16k --zero_buffers=1 {options}");
    job(&guest, Program::Ferrio, "/dev/nvme2n1", &written).succeeded().quiet();
    let (data, tags) = (guest.file("data", &[]), guest.file("tags", &[]));
    let read = format!("nvme read /dev/nvme2n1 -s 13 -c 0 -z 512 -y 8 -d {data} -M {tags} -p 0");
    assert!(tool(&read).is_some(), "{read}");
    assert_eq!(std::fs::read(&tags).expect("tags"), [0, 0, 0xbe, 0xef, 0, 0, 0, 13]);
}

/// The exit code, the lines about the failed I/O, and the counts.
fn outcome(done: &Finished) -> (Option<i32>, Vec<String>, String) {
    let lines = done.all().lines().filter(|line| line.starts_with("fio: io_u error")).map(str::to_owned).collect();
    (done.code, lines, issued(done))
}

#[test]
fn protection_by_io_uring_is_refused_as_by_the_peer() {
    let test = "protection_by_io_uring_is_refused_as_by_the_peer";
    let Some(guest) = enter(test) else { return };
    let with_peer = has_peer(test);
    let file = guest.file("plain", &[0; 16 << 10]);
    let whole = "--bs=4k --size=16k --md_per_io_size=64 --pi_act=0 --pi_chk=GUARD,REFTAG";
    for (device, arguments, text) in [
        ("/dev/nvme0n1", "--rw=read", "/dev/nvme0n1: Protection information not supported"),
        // The kernel cannot take metadata that are within the blocks.
        ("/dev/nvme3n1", "--rw=read", "/dev/nvme3n1: Protection information not supported"),
        ("/dev/nvme2n1", "--rw=read --apptag_mask=0xff00", "io_uring with metadata requires an apptag_mask of 0xffff"),
    ] {
        for program in [Program::Ferrio, Program::Peer].into_iter().take(1 + usize::from(with_peer)) {
            let done = job(&guest, program, device, &format!("{whole} {arguments}"));
            assert!(done.code == Some(1) && done.all().contains(text), "{device} {arguments}: {}", done.all());
        }
    }
    // fio dies of a signal, or tries the I/O.
    for (device, arguments, text) in [
        (file.as_str(), "", "failed to query protection information capabilities; error "),
        ("/dev/nvme2n1", "--md_per_io_size=8", "/dev/nvme2n1: md_per_io_size should be at least 64 bytes"),
        ("/dev/nvme2n1", "--bs=1000", "/dev/nvme2n1: block size must be a multiple of LBA data size"),
    ] {
        let done = job(&guest, Program::Ferrio, device, &format!("--rw=read {whole} {arguments}"));
        assert!(done.code == Some(1) && done.all().contains(text), "{device} {arguments}: {}", done.all());
    }
}

/// A tuple with the tag of another block, and without a guard; and what the kernel does not do.
#[test]
fn a_wrong_tuple_is_found_by_io_uring_as_by_the_peer() {
    let test = "a_wrong_tuple_is_found_by_io_uring_as_by_the_peer";
    let Some(guest) = enter(test) else { return };
    let whole = "--bs=4k --size=16k --md_per_io_size=64 --pi_act=0 --pi_chk=GUARD,REFTAG";
    let job = |program, arguments: &str| job(&guest, program, "/dev/nvme2n1", &format!("{whole} {arguments}"));
    job(Program::Ferrio, "--rw=write").succeeded().quiet();
    let (data, tag) = (guest.file("data", &[7; 512]), guest.file("tag", &[0, 0, 0, 0, 0, 0, 0, 6]));
    let write = format!("nvme write /dev/nvme2n1 -s 13 -c 0 -z 512 -y 8 -d {data} -M {tag} -p 0");
    assert!(tool(&write).is_some(), "{write}");
    for (arguments, text) in [
        ("", "pi_act=0 makes them"),
        ("--pi_chk=REFTAG", "pi_act=0 makes them"),
        ("--pi_chk=GUARD", "pi_act=0 makes them"),
        ("--direct=0", "needs Linux 6.14, direct=1, no hipri"),
        ("--hipri=1", "needs Linux 6.14, direct=1, no hipri"),
    ] {
        let arguments = &format!("--rw=read {arguments}");
        let ours = job(Program::Ferrio, arguments);
        // The damaged block is in the second I/O.
        let counted = if text.starts_with("needs") { "total=1,0,0,0" } else { "total=2,0,0,0" };
        assert!(ours.code == Some(1) && issued(&ours).contains(counted), "{arguments}: {}", ours.all());
        assert!(ours.stderr.contains(text), "{arguments}: {}", ours.all());
        if has_peer(test) {
            assert_eq!(outcome(&ours), outcome(&job(Program::Peer, arguments)), "{arguments}");
        }
    }
    job(Program::Ferrio, "--rw=write").succeeded();
}
