//! Failing writes in zones, on `null_blk` with bad blocks: the effect of `recover_zbd_write_error`.
//!
//! Start reading at [`a_job_goes_on_behind_a_failed_write`].

use super::{Guest, Made, enter, has_peer, peer_too, zones};
use crate::support::{Finished, Program};

/// Zones of 1 MiB. In the first one, the 4 KiB after 520 KiB are bad until the first write to them.
const ONCE: &str = "zone_size=1 zone_capacity=1 zone_nr_conv=0 zone_max_open=0 zone_max_active=0 blocksize=4096 \
                    badblocks_once=1 badblocks=+1040-1047";

/// The same, but those blocks stay bad.
const FOR_GOOD: &str = "zone_size=1 zone_capacity=1 zone_nr_conv=0 zone_max_open=0 zone_max_active=0 blocksize=4096 \
                        badblocks=+1040-1047";

/// Blocks of 64 KiB in four zones, of which the ninth in the first zone fails.
const JOB: &str = "--direct=1 --zonemode=zbd --bs=64k --size=4m --continue_on_error=all --recover_zbd_write_error=1";

fn job(guest: &Guest, program: Program, device: &Made, arguments: &str) -> Finished {
    guest.run(program, &format!("--name=a --filename={} {JOB} {arguments}", device.path()))
}

/// The exit code; the counts of I/Os and errors and the amounts moved; the contents of the first zones.
fn outcome(done: &Finished, device: &Made) -> (Option<i32>, Vec<String>, Vec<u64>) {
    let is_told = |line: &&str| line.contains("issued rwts: ") || line.contains("errors    : ");
    let moved =
        |line: &str| line.split_once("io=").map(|(_, rest)| rest.split(',').next().unwrap_or_default().to_owned());
    let counts = done.stdout.lines().filter(is_told).map(str::to_owned);
    let moved = done.stdout.lines().filter_map(moved);
    let written = zones(device.path()).into_iter().take(5).map(|(bytes, _)| bytes);
    (done.code, counts.chain(moved).collect(), written.collect())
}

/// The write pointer is where it would be without an error, and all other blocks are there.
/// With several I/Os in flight, the writes after a failed one in its zone fail too; their number depends on timing.
#[test]
fn a_job_goes_on_behind_a_failed_write() {
    let Some(guest) = enter("a_job_goes_on_behind_a_failed_write") else { return };
    for partial in ["", "badblocks_partial_io=1"] {
        for (arguments, n_failed) in [
            ("--rw=write", Some(1)),
            ("--rw=randwrite", Some(1)),
            ("--rw=write --ioengine=libaio --iodepth=4", None),
            ("--rw=write --ioengine=io_uring --iodepth=8", None),
        ] {
            let device = Made::new("null-zoned", &format!("{ONCE} {partial}"));
            let done = job(&guest, Program::Ferrio, &device, arguments).succeeded();
            let (_, counts, written) = outcome(&done, &device);
            assert!(counts[0].contains("total=0,64,0,0"), "{}", done.all());
            assert_eq!(written, [1 << 20, 1 << 20, 1 << 20, 1 << 20, 0], "{}", done.all());
            if let Some(n_failed) = n_failed {
                assert!(counts[1].contains(&format!("total={n_failed}, first_error=5/")), "{}", done.all());
                assert_eq!(counts[2], "4032KiB (4129kB)", "{}", done.all());
            }
        }
    }
}

#[test]
fn recovery_is_that_of_the_peer() {
    let test = "recovery_is_that_of_the_peer";
    let Some(guest) = enter(test) else { return };
    if !has_peer(test) {
        return;
    }
    for (kind, arguments) in [(ONCE, "--rw=write"), (ONCE, "--rw=randwrite --randseed=7"), (FOR_GOOD, "--rw=write")] {
        let of = |program| {
            let device = Made::new("null-zoned", kind);
            outcome(&job(&guest, program, &device, arguments), &device)
        };
        assert_eq!(of(Program::Ferrio), of(Program::Peer), "{kind} {arguments}");
    }
}

/// A job goes on where the repair fails too, and says so; `--debug=zbd` has the outcome of each repair.
#[test]
fn repairs_are_told_and_jobs_end() {
    let test = "repairs_are_told_and_jobs_end";
    let Some(guest) = enter(test) else { return };
    let both = peer_too(test);
    let sequential = "--rw=write --verify=md5 --debug=zbd";
    let jobs = "--rw=randwrite --io_size=1m --ioengine=libaio --iodepth=32 --numjobs=8 --max_open_zones=4 --debug=zbd";
    for program in [Program::Ferrio, Program::Peer].into_iter().take(if both { 2 } else { 1 }) {
        for arguments in [sequential, jobs] {
            for kind in [ONCE, FOR_GOOD] {
                let device = Made::new("null-zoned", kind);
                let done = job(&guest, program, &device, arguments).succeeded();
                let moved = format!("{}: Write pointer move succeeded for error=5\n", device.path());
                let failed = format!("fio: Failed to recover write pointer for {}\n", device.path());
                // Whether a random write meets the bad blocks depends on timing.
                if arguments == sequential {
                    assert_eq!(done.stdout.contains(&moved), kind == ONCE, "{}", done.all());
                    assert_eq!(done.stdout.contains(&failed), kind == FOR_GOOD, "{}", done.all());
                }
            }
        }
    }
}

/// A failed write's own data replaces what is missing, also if a part of it was written.
#[test]
fn the_data_of_a_failed_write_is_written_again() {
    let Some(guest) = enter("the_data_of_a_failed_write_is_written_again") else { return };
    for (partial, engine) in [("", "psync"), ("badblocks_partial_io=1", "psync"), ("", "libaio --iodepth=4")] {
        let device = Made::new("null-zoned", &format!("{ONCE} {partial}"));
        let arguments = format!("--rw=write --size=1m --buffer_pattern=0x5a --ioengine={engine}");
        let done = job(&guest, Program::Ferrio, &device, &arguments).succeeded();
        let contents = std::fs::read(device.path()).unwrap();
        assert!(contents[..1 << 20].iter().all(|byte| *byte == 0x5a), "{partial} {engine}: {}", done.all());
    }
}

/// The option needs a rule for errors (`continue_on_error`), and with verification a queue depth of one.
#[test]
fn what_cannot_be_recovered_is_refused() {
    let Some(guest) = enter("what_cannot_be_recovered_is_refused") else { return };
    let device = Made::new("null-zoned", ONCE);
    for (arguments, text) in [
        ("--rw=write --continue_on_error=none", "recover_zbd_write_error works only when continue_on_error is set\n"),
        (
            "--rw=write --verify=crc32c --ioengine=libaio --iodepth=4",
            "recover_zbd_write_error for async IO engines does not support verify\n",
        ),
    ] {
        let done = job(&guest, Program::Ferrio, &device, arguments);
        assert!(done.code == Some(1) && done.stderr.contains(text), "{}", done.all());
    }
    // Failed blocks are not read back.
    let done = job(&guest, Program::Ferrio, &device, "--rw=write --verify=crc32c --io_size=1m").succeeded();
    assert!(done.stdout.contains("issued rwts: total=15,16,0,"), "{}", done.all());
}
