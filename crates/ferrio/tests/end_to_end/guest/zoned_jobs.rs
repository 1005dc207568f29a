//! Several jobs with deep queues in the zones of devices that refuse impossible I/Os: an NVMe namespace with limits on
//! active and open zones, and a SCSI disk with conventional zones.
//!
//! Start reading at [`no_write_reaches_a_full_zone`]. Every I/O error ends a job, so that a run that succeeds was refused nothing.

use super::{Made, ZNS, enter, reset_zones, zones};
use crate::support::{Finished, tool};

/// Bytes behind `io=` of a line such as `WRITE:`, whole KiB.
fn moved_kib(done: &Finished, what: &str) -> Option<u64> {
    let line = done.stdout.lines().find(|line| line.trim_start().starts_with(what))?;
    let figure = line.split_once("io=")?.1.split(' ').next()?;
    let (number, unit) = figure.split_at(figure.find(|c: char| c.is_alphabetic())?);
    let factor = match unit {
        "KiB" => 1.0,
        "MiB" => 1024.0,
        _ => return None,
    };
    Some((number.parse::<f64>().ok()? * factor) as u64)
}

/// The blocks are in two open zones; each is reset as soon as it is full.
#[test]
fn no_write_reaches_a_full_zone() {
    let Some(guest) = enter("no_write_reaches_a_full_zone") else { return };
    for engine in ["io_uring", "libaio"] {
        for seed in 1..=4 {
            reset_zones(ZNS);
            let job = "--direct=1 --iodepth=4 --zonemode=zbd --rw=randwrite --bs=16k --size=64M --max_open_zones=2";
            let arguments =
                format!("--name=a --filename={ZNS} {job} --io_size=96M --ioengine={engine} --randseed={seed}");
            let done = guest.ferrio(&arguments).succeeded().quiet();
            assert_eq!(moved_kib(&done, "WRITE:"), Some(96 << 10), "{}", done.all());
        }
    }
}

#[test]
fn jobs_write_to_the_same_zones() {
    let Some(guest) = enter("jobs_write_to_the_same_zones") else { return };
    for (kind, engine) in [("", "libaio"), ("--thread", "io_uring"), ("", "psync")] {
        reset_zones(ZNS);
        let job = "--direct=1 --iodepth=8 --zonemode=zbd --bs=64k --group_reporting --randrepeat=0";
        let both = format!("{job} --ioengine={engine} {kind} --filename={ZNS}");
        let arguments = format!("--name=a {both} --rw=randwrite --size=24m --io_size=12m --numjobs=4");
        let done = guest.ferrio(&arguments).succeeded().quiet();
        assert_eq!(moved_kib(&done, "WRITE:"), Some(48 << 10), "{}", done.all());
        let arguments = format!(
            "--name=a {both} --rw=write --size=24m --io_size=12m --name=b {both} --rw=randrw --offset=8m --size=24m \
             --io_size=12m"
        );
        guest.ferrio(&arguments).succeeded().quiet();
    }
}

/// A zone for each of sixteen jobs, of which the device takes six.
#[test]
fn jobs_with_a_zone_each_write_and_verify_all() {
    let Some(guest) = enter("jobs_with_a_zone_each_write_and_verify_all") else { return };
    let limits = "zone_size=1 zone_capacity=1 zone_nr_conv=0 zone_max_open=4 zone_max_active=6 memory_backed=1";
    let device = Made::new("null-zoned", limits);
    for max_open in [1, 4] {
        reset_zones(device.path());
        let job = "--direct=1 --iodepth=8 --zonemode=zbd --rw=randwrite --bs=64k --size=1z --offset_increment=1z";
        let jobs = "--numjobs=16 --group_reporting --verify=crc32c --ioengine=libaio --zonesize=1m";
        let arguments = format!("--name=a --filename={} {job} {jobs} --max_open_zones={max_open}", device.path());
        let done = guest.ferrio(&arguments).succeeded();
        let moved = (moved_kib(&done, "WRITE:"), moved_kib(&done, "READ:"));
        assert_eq!(moved, (Some(16 << 10), Some(16 << 10)), "{}", done.all());
        assert!(done.stdout.contains("; 0 zone resets"), "{}", done.all());
    }
}

/// Zones that were written in part before, in the range of the job and outside of it, count for the limits too.
#[test]
fn zones_that_were_open_before_count() {
    let Some(guest) = enter("zones_that_were_open_before_count") else { return };
    reset_zones(ZNS);
    let zone = |n: u64| format!("{}m", 8 * n);
    let both = format!("--direct=1 --zonemode=zbd --bs=64k --filename={ZNS}");
    for n in 0..10 {
        let place = format!("--offset={} --size=8m --io_size=64k", zone(n));
        guest.ferrio(&format!("--name=a {both} --rw=write {place}")).succeeded();
    }
    // The job may open two more zones, and continues in these.
    let arguments = format!("--name=a {both} --rw=randwrite --offset={} --size={} --io_size=16m", zone(10), zone(8));
    guest.ferrio(&arguments).succeeded().quiet();
    let n_active = || zones(ZNS).iter().filter(|(_, condition)| !matches!(condition.as_str(), "em" | "fu")).count();
    assert!(n_active() <= 12, "{}", n_active());
    // Open zones of the job itself are used further.
    guest.ferrio(&format!("--name=a {both} --rw=randwrite --size={} --io_size=8m", zone(32))).succeeded().quiet();
    reset_zones(ZNS);
    assert!(
        tool(&format!("blkzone open -o 0 -c 8 {ZNS}")).is_some() || tool(&format!("blkzone open {ZNS} -c 8")).is_some()
    );
    let done =
        guest.ferrio(&format!("--name=a {both} --rw=randwrite --offset={} --size={} --io_size=1m", zone(10), zone(8)));
    let told = done.all();
    assert!(done.code == Some(1) && told.contains("the device takes no more than 8 open zones"), "{told}");
    // Zones in the range of the job are written.
    guest.ferrio(&format!("--name=a {both} --rw=randwrite --size={} --io_size=60m", zone(16))).succeeded().quiet();
    reset_zones(ZNS);
}

/// Threads with blocks of many sizes, over 8 zones that can be written anywhere and 8 that are written in sequence: no block
/// reaches from one kind into the other.
#[test]
fn threads_with_many_block_sizes_write_to_zones_of_both_kinds() {
    let Some(guest) = enter("threads_with_many_block_sizes_write_to_zones_of_both_kinds") else { return };
    let null = "size=16 zone_size=1 zone_capacity=1 zone_nr_conv=8 zone_max_open=0 zone_max_active=0";
    for (kind, arguments) in
        [("null-zoned", null), ("scsi-zbc", "dev_size_mb=16 zone_size_mb=1 zone_nr_conv=8 zone_max_open=0")]
    {
        let device = Made::new(kind, arguments);
        let job = (1..=16).fold(
            format!(
                "[global]\nfilename={}\ndirect=1\nzonemode=zbd\nthread=1\nrw=randwrite\nmax_open_zones=2\n\
                 ioengine=libaio\niodepth=4\nsize=16z\nio_size=4m\ngroup_reporting=1\n",
                device.path()
            ),
            |job, sixteenth| job + &format!("[j{sixteenth}]\nbs={}k\n", sixteenth * 16),
        );
        let file = guest.file("threads.fio", job.as_bytes());
        let done = guest.ferrio(&file).succeeded().quiet();
        assert!(done.stdout.contains("err= 0"), "{kind}: {}", done.all());
    }
}

#[test]
fn a_job_that_reads_leaves_zones_to_be_reset_by_the_next() {
    let Some(guest) = enter("a_job_that_reads_leaves_zones_to_be_reset_by_the_next") else { return };
    reset_zones(ZNS);
    let both = format!("--direct=1 --zonemode=zbd --bs=256k --size=16m --filename={ZNS}");
    guest.ferrio(&format!("--name=a {both} --rw=write")).succeeded().quiet();
    let done = guest.ferrio(&format!("--name=a {both} --rw=read --name=b {both} --stonewall --rw=write")).succeeded();
    assert!(done.quiet().stdout.contains("; 2 zone resets"));
}

/// The first eight zones of a disk can be written anywhere and have no write pointer.
#[test]
fn conventional_zones_of_scsi_disks_are_read_where_they_are() {
    let Some(guest) = enter("conventional_zones_of_scsi_disks_are_read_where_they_are") else { return };
    let device = Made::new("scsi-zbc", "zone_size_mb=1 zone_nr_conv=8");
    let both = format!("--direct=1 --zonemode=zbd --bs=64k --filename={}", device.path());
    for arguments in [
        "--rw=randrw --size=8m --io_size=1m",
        "--rw=rw --offset=6m --size=4m --io_size=2m",
        "--rw=randwrite --size=16m --verify=crc32c --ioengine=libaio --iodepth=4",
    ] {
        let done = guest.ferrio(&format!("--name=a {both} {arguments}")).succeeded();
        let moved = (moved_kib(&done, "READ:"), moved_kib(&done, "WRITE:"));
        assert!(moved.0 > Some(0) && moved.1 > Some(0), "{}", done.all());
    }
}
