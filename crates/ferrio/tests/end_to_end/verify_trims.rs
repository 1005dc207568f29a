//! Trims of a verified job, compared with fio: their blocks, their order, and the limits that they count for.
//!
//! Start reading at [`trims_are_those_of_the_peer`].

use crate::support::{LoopDevice, Program, Run, Scratch, has_peer, has_programs, is_root, skip};

/// Reads, writes and trims of a job on a loop device, by direction and place.
fn ios(program: Program, scratch: &Scratch, device: &LoopDevice, job: &str) -> (Option<i32>, Vec<String>) {
    let log = scratch.join("log");
    let _ = std::fs::remove_file(&log);
    let seeds = "--randrepeat=0 --randseed=137 --verify_state_save=0 --write_iolog=log";
    let arguments = format!("--name=t --filename={} --bs=4k {seeds} {job}", device.path());
    let finished = Run::new(program, scratch.path(), &arguments).finish();
    let lines = std::fs::read_to_string(&log).unwrap_or_default();
    let is_io = |line: &&str| [" read ", " write ", " trim "].iter().any(|action| line.contains(action));
    // Without the time.
    let ios = lines.lines().filter(is_io).map(|line| line.split(' ').skip(2).collect::<Vec<_>>().join(" "));
    (finished.code, ios.collect())
}

/// Jobs with trims on a device of 256 KiB.
const TRIMS: &[&str] = &[
    "--size=64k --rw=trimwrite --verify=md5",
    "--size=64k --rw=trimwrite --verify=md5 --trim_percentage=100 --trim_backlog=4",
    "--size=64k --rw=write --verify=md5 --trim_percentage=100 --trim_backlog=4",
    "--size=64k --rw=write --verify=md5 --trim_percentage=100 --trim_backlog=4 --trim_backlog_batch=2",
    "--size=256k --rw=randwrite --verify=md5 --trim_percentage=50 --trim_backlog=8 --trim_backlog_batch=4",
    "--size=128k --rw=rw --verify=md5 --trim_percentage=100 --trim_backlog=2 --number_ios=24",
    "--size=128k --rw=randrw --verify=md5 --trim_percentage=70 --trim_backlog=4 --number_ios=24",
    "--size=256k --rw=randtrimwrite --verify=md5 --trim_percentage=40 --trim_backlog=3 --trim_backlog_batch=2",
    "--size=256k --rw=randtrimwrite --verify=md5 --trim_percentage=40 --trim_backlog=3 --trim_verify_zero=0",
    "--size=64k --rw=trimwrite --loops=3 --verify=md5 --trim_percentage=60 --trim_backlog=5",
    "--size=64k --rw=trimwrite --verify=md5 --trim_percentage=60 --trim_backlog=5 --ioengine=libaio --iodepth=4",
    "--size=128k --rw=write --verify=md5 --trim_percentage=100 --trim_backlog=3 --ioengine=libaio --iodepth=4",
    "--size=256k --rw=randtrimwrite --bsrange=4k-16k --verify=md5 --trim_percentage=100 --trim_backlog=4",
    "--size=256k --rw=trimwrite --bsrange=4k-16k --verify=md5 --trim_percentage=50 --trim_backlog=4",
    "--size=64k --rw=randtrim --verify=md5 --trim_percentage=100 --trim_backlog=4",
    "--size=64k --rw=trimwrite --trim_percentage=100 --trim_backlog=4",
    "--size=64k --rw=trimwrite --verify=md5 --verify_backlog=4",
    "--size=64k --rw=trimwrite --verify=md5 --trim_percentage=100 --trim_backlog=4 --verify_backlog=2",
    "--size=64k --rw=trimwrite --verify=md5 --trim_percentage=100 --trim_backlog=2 --verify_backlog=4",
    "--size=64k --rw=trimwrite --verify=md5 --trim_percentage=50 --trim_backlog=2 --verify_backlog=4",
    "--size=64k --rw=trimwrite --verify=md5 --trim_percentage=50 --trim_backlog=2 --verify_backlog=4 \
     --trim_verify_zero=0",
    "--size=128k --rw=write --verify=md5 --trim_percentage=100 --trim_backlog=4 --trim_backlog_batch=1 --verify_backlog=8 \
     --verify_backlog_batch=5",
    "--size=256k --rw=randrw --bsrange=4k-16k --verify=md5",
    // Trims count, and a job does not end while a write waits for its trim.
    "--size=128k --rw=write --verify=md5 --trim_percentage=100 --trim_backlog=1 --number_ios=9",
    "--size=128k --rw=randwrite --verify=md5 --trim_percentage=50 --trim_backlog=1 --number_ios=16",
    "--size=128k --rw=write --verify=md5 --trim_percentage=100 --trim_backlog=2 --number_ios=7",
    "--size=128k --rw=write --verify=md5 --trim_percentage=50 --trim_backlog=2 --number_ios=6",
    "--size=128k --rw=write --verify=md5 --trim_percentage=100 --trim_backlog=4 --number_ios=10",
    "--size=128k --rw=rw --verify=md5 --trim_percentage=100 --trim_backlog=1 --number_ios=8",
    "--size=128k --rw=trimwrite --verify=md5 --trim_percentage=100 --trim_backlog=1 --number_ios=8",
    "--size=128k --rw=write --verify=md5 --trim_percentage=100 --trim_backlog=1 --number_ios=8 --loops=2",
    "--size=128k --rw=write --verify=md5 --trim_percentage=100 --trim_backlog=1 --io_size=32k",
    "--size=128k --rw=write --verify=md5 --trim_percentage=100 --trim_backlog=2 --number_ios=10 --ioengine=libaio --iodepth=3",
];

#[test]
#[cfg_attr(not(peer), ignore = "compares with fio: FERRIO_PEER is not 1")]
fn trims_are_those_of_the_peer() {
    let test = "trims_are_those_of_the_peer";
    if !has_peer(test) || !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    let scratch = Scratch::new(test);
    // No larger than the range of the jobs: blocks do not run past it.
    let Some(device) = LoopDevice::new(&scratch, 256 << 10) else { return skip(test, "no loop device") };
    let changes = |ios: &[String]| ios.iter().filter(|io| !io.starts_with("read")).cloned().collect::<Vec<_>>();
    for job in TRIMS {
        let [ours, peers] = [Program::Ferrio, Program::Peer].map(|program| ios(program, &scratch, &device, job));
        assert_eq!(ours.0, Some(0), "{job}");
        if job.contains("trim_verify_zero=0") {
            // fio 3.41 reads the right block, but expects the contents of another write.
            assert_eq!(changes(&ours.1), changes(&peers.1), "{job}");
        } else {
            assert_eq!(ours, peers, "{job}");
        }
        // As in fio 3.42: the same changes, but without reads.
        if job.contains("trim_backlog") && job.contains("write") && !job.contains("verify_backlog") {
            let (code, unread) = ios(Program::Ferrio, &scratch, &device, &format!("{job} --do_verify=0"));
            assert_eq!((code, unread), (Some(0), changes(&ours.1)), "{job}");
        }
    }
}

/// Number of trims of a job that ends by `number_ios`, by the reference.
#[test]
fn what_is_trimmed_counts_for_number_ios() {
    let test = "what_is_trimmed_counts_for_number_ios";
    if !is_root(test) || !has_programs(test, &["losetup"]) {
        return;
    }
    let scratch = Scratch::new(test);
    let Some(device) = LoopDevice::new(&scratch, 1 << 20) else { return skip(test, "no loop device") };
    for (order, percent) in [("write", 100), ("randwrite", 100), ("write", 50), ("randwrite", 50)] {
        for do_verify in [0, 1] {
            let trims = format!("--trim_percentage={percent} --trim_backlog=1 --number_ios=64 --do_verify={do_verify}");
            let job = format!("--name=t --filename={} --rw={order} --bs=4k --verify=md5 {trims}", device.path());
            let finished = Run::new(Program::Ferrio, scratch.path(), &format!("{job} --output-format=json")).finish();
            let finished = finished.succeeded().quiet();
            let document = &crate::json_stream::documents(&finished.stdout, &finished.stdout)[0];
            let ios = |direction: &str| document["jobs"][0][direction]["total_ios"].as_u64().expect("a number");
            let (n_writes, n_trims) = (ios("write"), ios("trim"));
            assert!((64..=65).contains(&(n_writes + n_trims)), "{job}: {n_writes} {n_trims}");
            assert!(
                (n_trims * 100).abs_diff(n_writes * percent) * 10 <= n_writes * percent,
                "{job}: {n_writes} {n_trims}"
            );
            assert_eq!(ios("read"), n_writes * do_verify, "{job}");
        }
    }
}
