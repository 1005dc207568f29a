//! Namespaces with protection information through the block device: the kernel creates and checks it, and it is not
//! part of the data.
//!
//! Start reading at [`what_is_written_is_read_back`].

use super::enter;
use crate::support::tool;

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
