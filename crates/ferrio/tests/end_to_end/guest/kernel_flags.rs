//! Flags that an I/O sends to the kernel: polling for completions, atomic writes, uncached I/O, no waiting.
//!
//! Start reading at [`polled_reads_go_through_poll_queues`].

use super::{Guest, enter, has_peer};
use crate::support::{Finished, Program};

/// NVMe, blocks of 512 bytes, two poll queues, no atomic writes.
const NVME: &str = "/dev/nvme0n1";

/// NVMe, blocks of 4096 bytes, atomic writes of up to 16 KiB.
const ATOMIC: &str = "/dev/nvme1n1";

/// A SCSI disk, which can't be polled.
const SCSI: &str = "/dev/sda";

/// Runs one job with the arguments.
fn job(guest: &Guest, program: Program, device: &str, arguments: &str) -> Finished {
    guest.run(program, &format!("--name=a --filename={device} {arguments}"))
}

/// Number of interrupts of a controller so far, of all CPUs and queues.
fn interrupts(controller: &str) -> u64 {
    let table = std::fs::read_to_string("/proc/interrupts").expect("a table");
    let of_controller = table.lines().filter(|line| line.contains(&format!(" {controller}q")));
    let counts =
        of_controller.flat_map(|line| line.split_whitespace().skip(1).map_while(|word| word.parse::<u64>().ok()));
    counts.sum()
}

/// Queues for polling raise no interrupts; others raise one for each of these reads that follow each other. (The kernel polls for
/// no read of pvsync2 any more, whatever its flag.)
#[test]
fn polled_reads_go_through_poll_queues() {
    let Some(guest) = enter("polled_reads_go_through_poll_queues") else { return };
    let reads = "--rw=randread --direct=1 --number_ios=64";
    for (engine, is_polled) in [
        ("--ioengine=io_uring --hipri=1", true),
        ("--ioengine=io_uring --hipri=1 --iodepth=4 --fixedbufs=1 --registerfiles=1", true),
        ("--ioengine=io_uring", false),
    ] {
        let before = interrupts("nvme0");
        let done = job(&guest, Program::Ferrio, NVME, &format!("{reads} {engine}")).succeeded().quiet();
        let raised = interrupts("nvme0") - before;
        assert!(done.stdout.contains("issued rwts: total=64,0,0,0"), "{}", done.all());
        // The kernel itself does a few reads, of the partition table.
        assert_eq!(raised < 32, is_polled, "{engine}: {raised} interrupts");
    }
}

#[test]
fn what_is_written_by_polling_is_read_back() {
    let Some(guest) = enter("what_is_written_by_polling_is_read_back") else { return };
    for (device, engine) in [
        (NVME, "--ioengine=io_uring --hipri=1 --iodepth=8"),
        ("/dev/vda", "--ioengine=io_uring --hipri=1 --iodepth=2"),
        (NVME, "--ioengine=pvsync2 --hipri=1"),
    ] {
        let arguments = format!("--rw=randwrite --direct=1 --size=128k --verify=crc32c {engine}");
        let done = job(&guest, Program::Ferrio, device, &arguments).succeeded().quiet();
        assert!(done.stdout.contains("issued rwts: total=32,32,0,"), "{}", done.all());
    }
}

#[test]
fn atomic_writes_are_taken_up_to_the_unit_of_the_device() {
    let Some(guest) = enter("atomic_writes_are_taken_up_to_the_unit_of_the_device") else { return };
    for engine in ["pvsync2", "libaio --iodepth=4", "io_uring --iodepth=4"] {
        let both = format!("--ioengine={engine} --rw=randwrite --direct=1 --atomic=1 --number_ios=8");
        let done =
            job(&guest, Program::Ferrio, ATOMIC, &format!("{both} --bs=16k --verify=crc32c")).succeeded().quiet();
        assert!(done.stdout.contains("issued rwts: total=8,8,0,"), "{}", done.all());
        // Twice the unit; no power of two; a device without any.
        for (device, bs) in [(ATOMIC, "32k"), (ATOMIC, "12k"), (NVME, "4k")] {
            let done = job(&guest, Program::Ferrio, device, &format!("{both} --bs={bs}"));
            assert_eq!(done.code, Some(1), "{}", done.all());
            assert!(done.stderr.contains("atomic (RWF_ATOMIC): the block size must be"), "{}", done.all());
        }
    }
}

#[test]
fn refused_flags_fail_as_under_the_peer() {
    let test = "refused_flags_fail_as_under_the_peer";
    let Some(guest) = enter(test) else { return };
    if !has_peer(test) {
        return;
    }
    for (device, arguments) in [
        (ATOMIC, "--rw=randwrite --direct=1 --atomic=1 --ioengine=pvsync2 --bs=32k"),
        (ATOMIC, "--rw=randwrite --direct=1 --atomic=1 --ioengine=io_uring --bs=32k"),
        (SCSI, "--ioengine=io_uring --hipri=1 --rw=randread --direct=1"),
        (NVME, "--ioengine=io_uring --hipri=1 --rw=randread --direct=0"),
    ] {
        let failed = |program| {
            let done = job(&guest, program, device, &format!("{arguments} --number_ios=4"));
            let error =
                done.stderr.lines().find(|line| line.starts_with("fio: io_u error on file ")).map(str::to_owned);
            let issued = done.stdout.lines().find(|line| line.contains("issued rwts: ")).map(str::to_owned);
            (done.code, error, issued)
        };
        let ours = failed(Program::Ferrio);
        assert!(ours.0 == Some(1) && ours.1.is_some(), "{arguments}: {ours:?}");
        assert_eq!(ours, failed(Program::Peer), "{arguments}");
    }
}

/// Data that is already in the page cache is not read from the device again.
#[test]
fn uncached_reads_leave_no_pages() {
    let Some(guest) = enter("uncached_reads_leave_no_pages") else { return };
    // The kernel drops the pages of a device when its last descriptor is closed, so keep one open.
    let _open = std::fs::File::open(NVME).expect("a device");
    // Readahead would bring pages that no I/O of the job drops.
    let reads = "--rw=read --bs=64k --offset=192m --size=1m --fadvise_hint=random";
    for engine in ["pvsync2", "io_uring"] {
        for (uncached, expected) in [(0, 0), (1, 2048)] {
            let arguments = format!("--ioengine={engine} --uncached={uncached} {reads} --invalidate=1");
            job(&guest, Program::Ferrio, NVME, &arguments).succeeded().quiet();
            let before = sectors_read();
            job(&guest, Program::Ferrio, NVME, &format!("{reads} --invalidate=0")).succeeded().quiet();
            assert_eq!(sectors_read() - before, expected, "{engine}, uncached={uncached}");
        }
    }
}

/// Sectors of 512 bytes that were read from [`NVME`] so far.
fn sectors_read() -> u64 {
    let figures = std::fs::read_to_string("/sys/block/nvme0n1/stat").expect("figures of the device");
    figures.split_whitespace().nth(2).and_then(|word| word.parse().ok()).expect("sectors read")
}

#[test]
fn nowait_reads_succeed_where_nothing_has_to_wait() {
    let Some(guest) = enter("nowait_reads_succeed_where_nothing_has_to_wait") else { return };
    for engine in ["pvsync2", "libaio", "io_uring"] {
        let reads = format!("--ioengine={engine} --nowait=1 --rw=randread --direct=1 --number_ios=16");
        let done = job(&guest, Program::Ferrio, NVME, &reads).succeeded().quiet();
        assert!(done.stdout.contains("issued rwts: total=16,0,0,0"), "{}", done.all());
    }
}
