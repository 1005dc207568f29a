//! Passes of verified jobs that end by time, and the syncs before they are read back.
//!
//! Start reading at [`timed_passes_are_read_back_as_by_the_peer`].

use crate::support::{Program, Scratch, peer_too};
use crate::verify::{run, traced};

/// The I/Os that are compared at least.
const FEWEST_IOS: usize = 100;

/// A job that ends by time, its exit code and I/Os: of a time in which enough of them are made, also on a machine that does much beside.
fn enough(program: Program, scratch: &Scratch, options: &str) -> (String, Option<i32>, Vec<String>) {
    for runtime_ms in [300, 1_000, 3_000, 10_000, 30_000] {
        let job = format!("--time_based --runtime={runtime_ms}ms {options}");
        let (code, ios) = traced(program, scratch, &job);
        if ios.len() > FEWEST_IOS {
            return (job, code, ios);
        }
    }
    panic!("{options}: fewer than {FEWEST_IOS} I/Os in 30 s");
}

/// A job with `time_based` and an engine with a queue reads back each pass. The number of passes depends on time; the
/// I/Os up to then do not.
#[test]
fn timed_passes_are_read_back_as_by_the_peer() {
    let test = "timed_passes_are_read_back_as_by_the_peer";
    let peer = peer_too(test);
    let scratch = Scratch::new(test);
    for (options, n_first) in [
        ("--rw=write --ioengine=libaio --iodepth=4", 32),
        ("--rw=write --ioengine=io_uring --iodepth=1", 32),
        ("--rw=randwrite --ioengine=libaio --iodepth=8", 32),
        ("--rw=randwrite --ioengine=libaio --iodepth=8 --number_ios=10", 32),
        ("--rw=write --ioengine=libaio --iodepth=4 --io_size=192k", 32),
        ("--rw=randwrite --ioengine=libaio --iodepth=4 --bsrange=4k-12k", 0),
        ("--rw=randrw --ioengine=libaio --iodepth=4", 0),
        // No block is read back.
        ("--rw=write --ioengine=psync", 0),
        ("--rw=write --ioengine=libaio --iodepth=4 --do_verify=0", 0),
    ] {
        let (job, code, ours) = enough(Program::Ferrio, &scratch, options);
        assert_eq!(code, Some(0), "{job}");
        let is_read = |io: &String| io.starts_with("read");
        let both_ways = ours.iter().any(is_read) && !ours.iter().all(is_read);
        assert_eq!(both_ways, !job.contains("psync") && !job.contains("do_verify=0"), "{job}");
        if n_first > 0 {
            let places =
                |ios: &[String]| ios.iter().map(|io| io.split_once(' ').unwrap().1.to_owned()).collect::<Vec<_>>();
            assert_eq!(places(&ours[..n_first]), places(&ours[n_first..2 * n_first]), "{job}");
        }
        if peer {
            let (_, _, theirs) = enough(Program::Peer, &scratch, options);
            let n_both = ours.len().min(theirs.len());
            assert_eq!(ours[..n_both], theirs[..n_both], "{job}");
        }
    }
}

/// The sync before reading back does not count as a sync of the job.
#[test]
fn syncs_before_reading_back_are_not_counted() {
    let test = "syncs_before_reading_back_are_not_counted";
    let programs = if peer_too(test) { &[Program::Ferrio, Program::Peer][..] } else { &[Program::Ferrio] };
    for (job, counts) in [
        ("--rw=write", "32,32,0,0"),
        ("--rw=randwrite --number_ios=5", "5,5,0,0"),
        ("--rw=write --ioengine=libaio --iodepth=4 --io_size=16k", "4,4,0,0"),
        ("--rw=write --loops=2", "64,64,0,0"),
        ("--rw=write --verify_backlog=8", "32,32,0,0"),
        ("--rw=write --fsync=8", "32,32,0,3"),
    ] {
        for program in programs {
            let scratch = Scratch::new(test);
            let finished = run(*program, &scratch, &format!("--verify=md5 --bs=4k {job}"));
            assert!(
                finished.stdout.contains(&format!("issued rwts: total={counts} ")),
                "{program:?} {job}: {}",
                finished.all()
            );
        }
    }
}
