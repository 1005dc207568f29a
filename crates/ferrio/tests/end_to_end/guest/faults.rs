//! Devices that fail: all of them or some blocks, at once or for a while, by the device mapper.
//!
//! Start reading at [`a_hole_ends_a_job_where_it_begins`].

use super::{Guest, Made, enter, has_peer};
use crate::support::{Finished, Program};

/// The device below the failing devices.
const WHOLE: &str = "/dev/nvme0n1";

/// 4 KiB at 512 KiB fail.
const HOLE: &str = "/dev/nvme0n1 1024 8";

fn job(guest: &Guest, program: Program, device: &Made, arguments: &str) -> Finished {
    guest.run(program, &format!("--name=a --filename={} {arguments}", device.path()))
}

/// The exit code, the lines of errors, the counts of I/Os, and the amounts read or written.
fn outcome(done: &Finished) -> (Option<i32>, Vec<String>, Vec<String>) {
    let errors = done.stderr.lines().filter(|line| line.starts_with("fio: io_u error on file "));
    let is_told = |line: &&str| line.contains("issued rwts: ") || line.contains("errors    : ");
    let counts = done.stdout.lines().filter(is_told).map(str::to_owned);
    (done.code, errors.map(str::to_owned).collect(), counts.collect())
}

/// The hole begins after 128 blocks of 4 KiB.
#[test]
fn a_hole_ends_a_job_where_it_begins() {
    let Some(guest) = enter("a_hole_ends_a_job_where_it_begins") else { return };
    let hole = Made::new("hole", HOLE);
    for arguments in
        ["--rw=write --direct=1 --ioengine=psync", "--rw=read --ioengine=mmap", "--rw=read --ioengine=io_uring"]
    {
        let (code, errors, counts) = outcome(&job(&guest, Program::Ferrio, &hole, &format!("{arguments} --size=1m")));
        let word = if arguments.contains("write") { "write" } else { "read" };
        let expected = format!("{word} offset=524288, buflen=4096");
        assert!(code == Some(1) && errors.len() == 1 && errors[0].ends_with(&expected), "{arguments}: {errors:?}");
        let total = if word == "write" { "total=0,129,0,0" } else { "total=129,0,0,0" };
        assert!(counts[0].contains(total), "{arguments}: {counts:?}");
    }
    // Writes to the cache fail when they are synced.
    let done = job(&guest, Program::Ferrio, &hole, "--rw=write --ioengine=psync --size=1m --end_fsync=1");
    assert_eq!(done.code, Some(1), "{}", done.all());
    assert!(done.stderr.contains(&format!("end_fsync failed for file {}", hole.path())), "{}", done.all());
}

#[test]
fn a_job_goes_on_beside_a_hole() {
    let Some(guest) = enter("a_job_goes_on_beside_a_hole") else { return };
    let hole = Made::new("hole", HOLE);
    let arguments = "--rw=write --direct=1 --ioengine=libaio --iodepth=4 --size=1m --continue_on_error=io";
    let done = job(&guest, Program::Ferrio, &hole, arguments).succeeded();
    assert!(done.stdout.contains("errors    : total=1, first_error=5/<Input/output error>"), "{}", done.all());
    assert!(done.stdout.contains("issued rwts: total=0,256,0,0"), "{}", done.all());
    assert!(done.stdout.contains("io=1020KiB (1044kB)"), "{}", done.all());
}

/// The device never works, so no block of 4 KiB is moved.
#[test]
fn a_failing_device_fails_every_engine() {
    let Some(guest) = enter("a_failing_device_fails_every_engine") else { return };
    let error = Made::new("error", "");
    for engine in ["psync", "vsync", "pvsync2", "libaio", "io_uring", "posixaio", "mmap"] {
        let done = job(&guest, Program::Ferrio, &error, &format!("--rw=read --size=1m --ioengine={engine}"));
        let (code, errors, counts) = outcome(&done);
        assert_eq!(code, Some(1), "{engine}");
        let is_told =
            errors.first().is_some_and(|line| line.ends_with("Input/output error: read offset=0, buflen=4096"));
        assert!(is_told, "{}", done.all());
        assert!(counts[0].contains("total=1,0,0,0"), "{engine}: {counts:?}");
    }
    for direction in ["write", "trim"] {
        let done = job(&guest, Program::Ferrio, &error, &format!("--rw={direction} --direct=1 --size=1m"));
        assert_eq!(done.code, Some(1), "{}", done.all());
        assert!(done.stderr.contains(&format!("Input/output error: {direction} offset=0")), "{}", done.all());
    }
}

#[test]
fn failures_are_those_of_the_peer() {
    let test = "failures_are_those_of_the_peer";
    let Some(guest) = enter(test) else { return };
    if !has_peer(test) {
        return;
    }
    let hole = Made::new("hole", HOLE);
    for arguments in [
        "--rw=write --direct=1 --ioengine=psync",
        "--rw=write --direct=1 --ioengine=libaio --iodepth=4 --continue_on_error=all",
        "--rw=write --direct=1 --ioengine=libaio --verify=crc32c",
        "--rw=write --ioengine=psync --end_fsync=1",
    ] {
        let of = |program| outcome(&job(&guest, program, &hole, &format!("{arguments} --size=1m")));
        assert_eq!(of(Program::Ferrio), of(Program::Peer), "{arguments}");
    }
}

/// The device fails from its first moment on, for an hour.
#[test]
fn a_device_that_has_stopped_fails_all_in_flight() {
    let Some(guest) = enter("a_device_that_has_stopped_fails_all_in_flight") else { return };
    let flakey = Made::new("flakey", &format!("{WHOLE} 0 3600"));
    let (code, errors, _) = outcome(&job(
        &guest,
        Program::Ferrio,
        &flakey,
        "--rw=read --direct=1 --ioengine=libaio --iodepth=4 --size=64k",
    ));
    assert_eq!(code, Some(1));
    assert_eq!(errors.len(), 4, "{errors:?}");
}

/// Each I/O takes at least the delay of the device mapper, less one tick of its clock.
#[test]
fn a_delay_is_a_latency() {
    let Some(guest) = enter("a_delay_is_a_latency") else { return };
    let delay = Made::new("delay", &format!("{WHOLE} 100"));
    let arguments = "--rw=read --direct=1 --ioengine=libaio --iodepth=4 --size=32k --output-format=terse";
    let done = job(&guest, Program::Ferrio, &delay, arguments).succeeded().quiet();
    // Smallest completion latency of reads, in microseconds.
    let minimum = done.stdout.split(';').nth(13).and_then(|word| word.parse::<u64>().ok());
    assert!(minimum.is_some_and(|minimum| minimum >= 90_000), "{}", done.all());
}
