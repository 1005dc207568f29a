//! Published benchmarks whose readers had to find out by hand why a figure was what it was: `ferrio run` says it by itself, and is
//! silent about the same jobs without the cause.
//!
//! Start reading at [`report`].

use crate::support::{LoopDevice, Program, Run, Scratch, has_programs, is_root, skip, succeeds_once};
use std::path::Path;

/// The report of `ferrio run`, its lines joined by blanks, so that sentences can be looked for.
fn report(directory: &Path, arguments: &str) -> String {
    let finished = Run::new(Program::Ferrio, directory, &format!("run {arguments}")).finish().succeeded();
    finished.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn says(report: &str, words: &[&str]) {
    for words in words {
        assert!(report.contains(words), "no '{words}' in: {report}");
    }
}

#[track_caller]
fn is_silent(report: &str, rules: &[&str]) {
    for rule in rules {
        assert!(!report.contains(&format!("[{rule}]")), "[{rule}] in: {report}");
    }
}

/// True if the file system of a directory tells which extents have been written; else the test is reported as skipped.
fn tells_extents(test: &str, directory: &Path) -> bool {
    let made = std::process::Command::new("fallocate").args(["-l", "1m"]).arg(directory.join("probe")).status();
    let check = Run::new(Program::Ferrio, directory, "check --name=a --filename=probe --rw=read --direct=1").finish();
    let tells = made.is_ok_and(|status| status.success()) && check.stdout.contains("reads-of-unwritten-extents");
    let _ = std::fs::remove_file(directory.join("probe"));
    if !tells {
        skip(test, "this file system does not tell unwritten extents");
    }
    tells
}

/// Five runs that look like five tests: of the first, the overwriting and the appending ones, two are the same test, and two write
/// where nothing had been written.
#[test]
fn first_writes_overwrites_and_appends() {
    let scratch = Scratch::new("story-overwrites");
    let directory = scratch.path();
    if !tells_extents("first_writes_overwrites_and_appends", directory) {
        return;
    }
    let job = "--name=test --ioengine=libaio --blocksize=4k --readwrite=randwrite --directory=. --nrfiles=1 --size=8m --end_fsync=1 \
               --numjobs=1 --direct=1";
    let run = |more: &str| report(directory, &format!("{job} {more}"));
    let unwritten = "100 % of the written bytes (8 MiB of 8 MiB) went to blocks that had never been written (unwritten extents, as fallocate leaves them)";
    says(&run(""), &["MISLEADING: The writes were the first ones to these blocks", unwritten]);
    let second = run("");
    is_silent(&second, &["first-writes", "overwrite-changed-nothing"]);
    let third = run("--overwrite=1");
    says(&third, &["NOTE: overwrite=1 has changed nothing", "without overwrite=1 this would have been the same test"]);
    is_silent(&third, &["first-writes"]);
    says(&run("--file_append=1"), &[unwritten]);
    is_silent(&run("--readwrite=randread"), &["first-writes", "reads-of-unwritten-extents", "device-did-less"]);
    // Where overwrite=1 does something, the option is not called useless.
    let made = run("--overwrite=1 --filename=other");
    is_silent(&made, &["first-writes", "overwrite-changed-nothing"]);
}

/// Random writes on XFS are slower, and then faster, than on the device under it.
#[test]
fn a_file_on_xfs_and_the_device_under_it() {
    let test = "a_file_on_xfs_and_the_device_under_it";
    let scratch = Scratch::new("story-xfs");
    if !is_root(test) || !has_programs(test, &["losetup", "mkfs.xfs", "mount", "umount"]) {
        return;
    }
    let Some(mut device) = LoopDevice::new(&scratch, 400 << 20) else {
        return skip(test, "no loop device can be set up");
    };
    let job = "--ioengine=libaio --iodepth=32 --direct=1 --bs=64k --size=16m --rw";
    let raw = format!("{job}=randwrite --name=raw --filename={}", device.path());
    let before = Run::new(Program::Ferrio, scratch.path(), &format!("check {raw}")).finish();
    assert!(before.code == Some(0) && before.stdout.contains("the job will destroy"), "{}", before.all());
    says(&report(scratch.path(), &raw), &["NOTE: The run writes over a device", "the job has destroyed"]);
    let Some(directory) = device.mount(&scratch, "mkfs.xfs -q -f") else {
        return skip(test, "no XFS can be made and mounted");
    };
    let run = |arguments: &str| report(&directory, &format!("{job}={arguments}"));
    says(
        &run("randwrite --name=a"),
        &["went to blocks that had never been written (unwritten extents, as fallocate leaves them)"],
    );
    let again = run("randwrite --name=a");
    is_silent(&again, &["first-writes"]);
    assert!(succeeds_once(|| !run("randwrite --name=a").contains("[submission-blocked]")));
    // Writes behind the end of a file wait for each other while they are handed over, unless the CPUs are what takes the time.
    let blocked = "MISLEADING: The kernel held the job while it handed I/Os over";
    let extending = |name: usize| run(&format!("write --name=b{name} --fallocate=none --bs=256k --size=32m"));
    let reports: Vec<String> = (0..5).map(extending).collect();
    says(&reports[0], &["(behind the ends of the files)"]);
    if !reports.iter().any(|report| report.contains(blocked)) {
        skip(test, "other programs took the CPUs, and the loop device was slower than the file system");
    }
    let name = device.path().trim_start_matches("/dev/");
    if std::fs::read_to_string(format!("/sys/block/{name}/queue/rotational")).is_ok_and(|text| text.trim() == "1") {
        says(
            &again,
            &[&format!("The files have 16 MiB of the 400 MiB of {name}: seeks are shorter than over the whole disk")],
        );
    } else {
        skip(test, "the disk of the tests does not call itself rotational");
    }
}

/// Which of `iodepth` and `numjobs` changes the result.
#[test]
fn what_depth_and_clones_bring() {
    let scratch = Scratch::new("story-depth");
    let global = "[global]\nioengine=sim\nsim_time=virtual\nsim_service=fixed:2ms\nsim_channels=8\nstonewall\nruntime=600ms\nsize=64M\ntime_based\nbs=4k\n\
                  rw=randread\n";
    let job = |(depth, n_clones)| format!("[d{depth}-j{n_clones}]\niodepth={depth}\nnumjobs={n_clones}\n");
    let jobs: Vec<String> = [(1, 1), (8, 1), (64, 1), (8, 4)].map(job).to_vec();
    scratch.write("jobs", format!("{global}{}", jobs.concat()));
    let report = report(scratch.path(), "jobs");
    says(
        &report,
        &[
            "NOTE: The effect of a larger iodepth or numjobs (d1-j1, d8-j1, d64-j1)",
            "iodepth 8 makes ",
            "iodepth 64 ",
            "NOTE: The effect of a larger iodepth or numjobs (d8-j1, d8-j4)",
            "numjobs 4 makes ",
            "IOPS with numjobs=4 ",
        ],
    );
    // The four jobs of the story differ in more than one option, and nothing is compared.
    let file = "[global]\nioengine=sim\nsim_time=virtual\nstonewall\nruntime=200ms\ntime_based\nsize=4m\n[a]\nbs=1M\nrw=write\niodepth=64\n[b]\nbs=4K\nrw=randwrite\n\
                iodepth=256\n";
    scratch.write("jobs", file);
    is_silent(&self::report(scratch.path(), "jobs"), &["effect-of-parallelism"]);
}

/// What to know before a test: memory is measured instead of the disk, data compress, a job ends early, a depth has no effect.
#[test]
fn what_a_first_test_measures() {
    let scratch = Scratch::new("story-basics");
    let run = |arguments: &str| report(scratch.path(), arguments);
    let buffered = run("-rw=write -name=test -size=20M");
    let direct = run("--rw=write --name=test --size=20M --direct=1");
    if buffered.contains("[target-in-memory]") {
        return skip("what_a_first_test_measures", "the directory of the tests is in memory");
    }
    says(
        &buffered,
        &[
            "WRONG: Writes waited in memory when the run ended",
            "were in memory only when the run ended: the time to write them is in no figure",
        ],
    );
    is_silent(&direct, &["writes-still-dirty", "device-did-less"]);
    let job = "--rw=readwrite --name=two --size=4M --direct=1 --bs=64k --numjobs=2 --group_reporting --runtime";
    says(
        &run(&format!("{job}=20")),
        &["runtime=20 s is an upper bound without time_based: the job was through with its size after "],
    );
    is_silent(&run(&format!("{job}=1 --time_based")), &["runtime-without-time-based"]);
    let depth = "--rw=readwrite --name=deep --size=20M --bs=64k --ioengine=libaio --iodepth=16";
    says(&run(depth), &["iodepth=16 has no effect, the depth is 1"]);
    is_silent(&run(&format!("{depth} --direct=1")), &["asynchronous-without-direct"]);
    let data = "-rw=write --name=intel520-run0 --bs=128k --direct=1 --filename=data --size=4M --numjobs=1 --ioengine=libaio -iodepth=32";
    says(
        &run(&format!("{data} --zero_buffers")),
        &["NOTE: The written data can be compressed", "zero_buffers gives data that"],
    );
    is_silent(&run(&format!("{data} --refill_buffers")), &["easy-data", "data-that-compresses"]);
}

/// A reader took 56 usec for 56 ms: each latency has its unit beside it, and the units are explained.
#[test]
fn latencies_have_their_units_beside_them() {
    let scratch = Scratch::new("story-units");
    let job = "-name=randwrite -rw=randwrite -direct=1 -bs=4k -size=8M -numjobs=1 -group_reporting -filename=test.db";
    for engine in ["sync", "libaio"] {
        let arguments = format!("run {job} -ioengine={engine}");
        let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).finish().succeeded();
        let row = finished.stdout.lines().find(|line| line.starts_with("randwrite ")).expect("a row of the table");
        let words: Vec<&str> = row.split_whitespace().collect();
        // Name, direction, MB/s, IOPS, and four latencies and the CPU time with a unit each.
        assert_eq!(words.len(), 14, "{row}");
        for unit in words[5..].iter().step_by(2) {
            // A mark stands behind a percentile of few I/Os.
            assert!(["ns", "us", "ms", "s"].contains(&unit.trim_end_matches('*')), "{row}");
        }
        says(&finished.stdout.split_whitespace().collect::<Vec<_>>().join(" "), &["1 s = 1,000 ms, 1 ms = 1,000 us"]);
    }
}

/// A stall under a rate is one slow I/O in the latencies, and hundreds of late ones for users.
#[test]
fn a_stall_hides_behind_a_rate() {
    let scratch = Scratch::new("story-rate");
    let job = "--name=s --ioengine=sim --sim_time=virtual --sim_service=fixed:100us --rw=randread --size=1g --runtime=1500ms --time_based";
    let run = |more: &str| report(scratch.path(), &format!("{job} {more}"));
    for process in ["linear", "poisson"] {
        // A job that waited for a CPU instead has nothing that hides.
        let is_told = || {
            let stalled = run(&format!("--rate_iops=500 --sim_stall=600ms/400ms --rate_process={process}"));
            stalled.contains("[latency-without-waiting]") && stalled.contains("From the start that the rate wanted, p9")
        };
        assert!(succeeds_once(is_told), "{process}");
    }
    assert!(succeeds_once(|| !run("--rate_iops=500").contains("[latency-without-waiting]")));
    // A device that takes 100 us for each I/O does at most 10,000 one after another.
    let beyond = run("--rate_iops=20000");
    says(&beyond, &["The jobs were to do 20,000 I/Os a second and did ", "[rate-not-reached]"]);
    assert!(succeeds_once(|| !run("--rate_iops=20000").contains("[latency-without-waiting]")));
    // With response latencies in the report nothing is hidden.
    is_silent(&run("--rate_iops=500 --sim_stall=600ms/400ms --rate_latency=response"), &["latency-without-waiting"]);
    let is_in_document = || {
        let arguments = format!("{job} --rate_iops=500 --sim_stall=600ms/400ms --output-format=json");
        let text = Run::new(Program::Ferrio, scratch.path(), &arguments).finish().succeeded().stdout;
        assert!(!text.contains("\"response_ns\" :"), "{text}");
        text.contains("latency-without-waiting")
    };
    assert!(succeeds_once(is_in_document));
}

/// The default seed makes each run read the blocks of the last one.
#[test]
fn random_reads_of_the_last_run_are_told() {
    let scratch = Scratch::new("story-again");
    let state = Scratch::new("story-state");
    let home = state.path().display().to_string();
    let run = |command: &str, job: &str| {
        let arguments = format!("{command} --name=r --filename=f --bs=4k --size=4m --direct=1 --ioengine=psync {job}");
        let run = Run::new(Program::Ferrio, scratch.path(), &arguments).without_env("FERRIO_STATE");
        run.env("XDG_STATE_HOME", &home).finish().succeeded().stdout.contains("[same-blocks-again]")
    };
    if report(scratch.path(), "--name=w --filename=f --rw=write --size=4m --end_fsync=1").contains("[target-in-memory]")
    {
        return skip("random_reads_of_the_last_run_are_told", "the directory of the tests is in memory");
    }
    assert!(!run("run", "--rw=randread"), "there was no run before");
    assert!(run("check", "--rw=randread") && run("check", "--rw=randread"), "a check remembers nothing");
    assert!(run("run", "--rw=randread"));
    assert!(!run("run", "--rw=randread --randseed=77"), "other blocks");
    assert!(!run("run", "--rw=randread"), "the last run read others");
    assert!(!run("run", "--rw=randwrite"));
    assert!(!run("run", "--rw=randread"), "written in between");
    assert!(!run("run", "--rw=randread --randrepeat=0") && !run("run", "--rw=randread --randrepeat=0"));
    assert_eq!(state.names(), ["ferrio"]);
    // A file of other contents, and a place that cannot be written to, change nothing.
    for beside in ["ferrio/history.sqlite-wal", "ferrio/history.sqlite-shm"] {
        let _ = std::fs::remove_file(state.join(beside));
    }
    state.write("ferrio/history.sqlite", "[1, 2");
    assert!(!run("run", "--rw=randread") && !run("run", "--rw=randread"));
    assert_eq!(state.read("ferrio/history.sqlite"), "[1, 2");
    let nowhere =
        Run::new(Program::Ferrio, scratch.path(), "run --name=r --filename=f --size=1m --direct=1 --rw=randread");
    let nowhere = nowhere.without_env("FERRIO_STATE").env("XDG_STATE_HOME", "/dev/null").finish().succeeded();
    assert_eq!(nowhere.stderr, "");
}
