//! `zonemode=zbd` on devices that have zones: an NVMe namespace with capacities below the size of its zones and limits on open
//! zones, and `null_blk` with conventional zones.
//!
//! Start reading at [`writes_in_sequence_fill_the_capacity_of_zones`].

use super::{Guest, Made, ZNS, enter, has_peer, peer_too, reset_zones, zones};
use crate::support::{Finished, Program};

/// The position of a full zone's write pointer depends on the device.
const FULL: u64 = u64::MAX;

/// A job in the emptied zones of [`ZNS`].
fn in_empty_zones(guest: &Guest, program: Program, arguments: &str) -> Finished {
    reset_zones(ZNS);
    guest.run(program, &format!("--name=a --filename={ZNS} --direct=1 --zonemode=zbd {arguments}"))
}

/// Bytes in the first zones of [`ZNS`]; [`FULL`] if nothing more can be written.
fn written(n_zones: usize) -> Vec<u64> {
    let bytes = |(bytes, condition): (u64, String)| if condition == "fu" { FULL } else { bytes };
    zones(ZNS).into_iter().take(n_zones).map(bytes).collect()
}

/// The figure behind `io=` of a line such as `WRITE:`, as printed.
fn moved<'a>(done: &'a Finished, what: &str) -> &'a str {
    let line = done.stdout.lines().find(|line| line.trim_start().starts_with(what));
    line.and_then(|line| line.split_once("io=")).map_or("", |(_, rest)| rest.split(' ').next().unwrap_or_default())
}

#[test]
fn writes_in_sequence_fill_the_capacity_of_zones() {
    let Some(guest) = enter("writes_in_sequence_fill_the_capacity_of_zones") else { return };
    for engine in ["psync", "libaio", "io_uring"] {
        let arguments = format!("--rw=write --bs=256k --size=24m --ioengine={engine}");
        let done = in_empty_zones(&guest, Program::Ferrio, &arguments).succeeded().quiet();
        assert_eq!(moved(&done, "WRITE:"), "18.0MiB", "{}", done.all());
        assert_eq!(written(4), [FULL, FULL, FULL, 0], "{engine}");
    }
}

/// Zones that were full before are reset, and only those that are written to.
#[test]
fn full_zones_are_reset_before_they_are_written() {
    let Some(guest) = enter("full_zones_are_reset_before_they_are_written") else { return };
    let job = |arguments: &str| {
        guest.ferrio(&format!("--name=a --filename={ZNS} --direct=1 --zonemode=zbd --bs=256k {arguments}")).succeeded()
    };
    reset_zones(ZNS);
    job("--rw=write --size=16m");
    let done = job("--rw=write --offset=8m --size=8m --io_size=1m");
    assert!(done.stdout.contains("; 1 zone resets"), "{}", done.all());
    assert_eq!(written(3), [FULL, 1 << 20, 0]);
}

#[test]
fn what_is_written_in_zones_is_read_back() {
    let Some(guest) = enter("what_is_written_in_zones_is_read_back") else { return };
    let arguments = "--rw=write --bs=64k --size=8m --io_size=1m --verify=crc32c --ioengine=psync";
    let done = in_empty_zones(&guest, Program::Ferrio, arguments).succeeded().quiet();
    assert_eq!((moved(&done, "WRITE:"), moved(&done, "READ:")), ("1024KiB", "1024KiB"), "{}", done.all());
}

/// Conventional zones come first: 2 of 4 MiB, then sequential zones with a capacity of 3 MiB.
#[test]
fn conventional_zones_have_no_write_pointer() {
    let Some(guest) = enter("conventional_zones_have_no_write_pointer") else { return };
    let device = Made::new("null-zoned", "");
    let arguments = "--direct=1 --zonemode=zbd --bs=256k --rw=write --size=16m";
    let done = guest.ferrio(&format!("--name=a --filename={} {arguments}", device.path())).succeeded().quiet();
    assert_eq!(moved(&done, "WRITE:"), "14.0MiB", "{}", done.all());
    let written: Vec<u64> = zones(device.path()).into_iter().take(3).map(|(bytes, _)| bytes).collect();
    assert_eq!(written, [3 << 20, 3 << 20, 0]);
}

/// Zones of 8 MiB with a capacity of 6 MiB, as only the device knows.
#[test]
fn sizes_in_zones_are_those_of_the_device() {
    let Some(guest) = enter("sizes_in_zones_are_those_of_the_device") else { return };
    for (arguments, moved_bytes, expected) in [
        ("--rw=write --size=2z --offset=1z", "12.0MiB", [0, FULL, FULL, 0]),
        ("--rw=write --size=1z --numjobs=2 --offset_increment=2z --group_reporting", "12.0MiB", [FULL, 0, FULL, 0]),
        ("--rw=write --size=3z --io_size=1z", "8192KiB", [FULL, 2 << 20, 0, 0]),
        ("--rw=write --size=1z --zonesize=8m", "6144KiB", [FULL, 0, 0, 0]),
    ] {
        let done = in_empty_zones(&guest, Program::Ferrio, &format!("--bs=256k {arguments}")).succeeded().quiet();
        assert_eq!(moved(&done, "WRITE:"), moved_bytes, "{}", done.all());
        assert_eq!(written(4), expected, "{arguments}");
    }
    // A job that writes at random does as much as its zones are long, though they hold less.
    for (n_zones, moved_bytes) in [(1, "8192KiB"), (3, "24.0MiB")] {
        let arguments = format!("--rw=randwrite --size={n_zones}z --offset=1z --bs=256k");
        let done = in_empty_zones(&guest, Program::Ferrio, &arguments).succeeded().quiet();
        assert_eq!(moved(&done, "WRITE:"), moved_bytes, "{}", done.all());
    }
}

/// A range is put to the borders of zones, here of 1 MiB.
#[test]
fn a_range_begins_and_ends_with_a_zone() {
    let Some(guest) = enter("a_range_begins_and_ends_with_a_zone") else { return };
    let device = Made::new("null-zoned", "zone_size=1 zone_capacity=1 zone_nr_conv=0");
    for kind in ["write", "randwrite"] {
        reset_zones(device.path());
        let range = "--offset=8388096 --size=1049600 --bs=256k";
        let job = format!("--name=a --filename={} --direct=1 --zonemode=zbd --rw={kind} {range}", device.path());
        let done = guest.ferrio(&job).succeeded().quiet();
        assert!(done.stdout.contains("io=1024KiB (1049kB)"), "{}", done.all());
        assert!(done.stdout.contains("rounded up offset from 8388096 to 8388608\n"), "{}", done.all());
        assert!(done.stdout.contains("rounded down io_size from 1049088 to 1048576\n"), "{}", done.all());
        let written: Vec<usize> =
            zones(device.path()).iter().enumerate().filter(|(_, zone)| zone.0 > 0).map(|(index, _)| index).collect();
        assert_eq!(written, [8], "{kind}");
    }
}

/// Messages of both programs on impossible settings, and on a zoned device without `zonemode`, where the first write is
/// not at a write pointer.
#[test]
fn messages_are_those_of_the_peer() {
    let test = "messages_are_those_of_the_peer";
    let Some(guest) = enter(test) else { return };
    let both = peer_too(test);
    let above = "--direct=1 --rw=write --bs=64k --offset=65m --size=1m";
    for (arguments, text) in [
        (
            "--direct=1 --zonemode=zbd --rw=write --zonesize=4m",
            "fio: /dev/nvme5n1 job parameter zonesize 4194304 does not match disk zone size 8388608.\n",
        ),
        (above, "fio: first I/O failed. If /dev/nvme5n1 is a zoned block device, consider --zonemode=zbd\n"),
        ("--zonemode=zbd --rw=write --bs=64k", "Using direct I/O is mandatory for writing to ZBD drives\n"),
    ] {
        for program in [Program::Ferrio, Program::Peer].into_iter().take(if both { 2 } else { 1 }) {
            reset_zones(ZNS);
            let done = guest.run(program, &format!("--name=a --filename={ZNS} {arguments}"));
            assert!(done.code == Some(1) && done.all().contains(text), "{}", done.all());
            // That is all that is said.
            let is_all = !text.starts_with("Using") || done.stderr.trim_end() == text.trim_end();
            assert!(is_all, "{}", done.all());
        }
    }
}

/// A mix without writes never writes, and a limit of open zones says that it is for jobs that write.
#[test]
fn a_job_without_writes_writes_nothing() {
    let test = "a_job_without_writes_writes_nothing";
    let Some(guest) = enter(test) else { return };
    let both = peer_too(test);
    for (arguments, text) in [
        ("--rw=randrw --rwmixwrite=0 --bs=4k --size=4z --io_size=64k", ""),
        ("--rw=rw --rwmixread=100 --bs=4k --size=4z --io_size=64k", ""),
        (
            "--rw=randread --bs=4k --size=4z --job_max_open_zones=1",
            "'job_max_open_zones' is valid only for write jobs\n",
        ),
    ] {
        for program in [Program::Ferrio, Program::Peer].into_iter().take(if both { 2 } else { 1 }) {
            let done = in_empty_zones(&guest, program, arguments).succeeded().quiet();
            assert!(done.stdout.contains(text), "{}", done.all());
            assert_eq!(written(32).iter().sum::<u64>(), 0, "{}", done.all());
        }
    }
}

/// `size` counts zones of 8 MiB, of which 6 MiB can be written.
#[test]
fn size_counts_whole_zones() {
    let test = "size_counts_whole_zones";
    let Some(guest) = enter(test) else { return };
    let both = peer_too(test);
    for (arguments, total) in [
        ("--rw=randrw --bs=64k --iodepth=8 --loops=2 --norandommap=1 --offset=31z --size=1z", 256),
        ("--rw=randwrite --bs=256k --size=4z --numjobs=8 --group_reporting", 1024),
        ("--rw=randwrite --bs=256k --size=4z --verify=crc32c", 192),
        ("--rw=write --bs=256k --size=4z", 96),
    ] {
        for program in [Program::Ferrio, Program::Peer].into_iter().take(if both { 2 } else { 1 }) {
            let done = in_empty_zones(&guest, program, arguments).succeeded();
            let line =
                done.stdout.lines().find_map(|line| line.split_once("issued rwts: total=")).map(|(_, rest)| rest);
            let counts = line.and_then(|rest| rest.split_once(" short")).map(|(counts, _)| counts.split(','));
            let moved: u64 = counts.into_iter().flatten().map(|count| count.parse::<u64>().unwrap()).sum();
            assert_eq!(moved, total, "{}", done.all());
        }
    }
}

#[test]
fn places_on_a_device_are_those_of_the_peer() {
    let test = "places_on_a_device_are_those_of_the_peer";
    let Some(guest) = enter(test) else { return };
    if !has_peer(test) {
        return;
    }
    for arguments in [
        "--rw=write --bs=512k --size=32m",
        "--rw=randwrite --bs=256k --size=32m --io_size=16m --randseed=5",
        "--rw=write --bs=256k --offset=5m --size=20m",
        "--rw=write --bs=256k --size=16m --zonecapacity=4m",
    ] {
        let outcome = |program| {
            let done = in_empty_zones(&guest, program, arguments);
            (done.code, moved(&done, "WRITE:").to_owned(), written(6))
        };
        assert_eq!(outcome(Program::Ferrio), outcome(Program::Peer), "{arguments}");
    }
}
