//! Findings about work beside the I/O of the jobs that their figures contain, made for real, each beside a control.
//!
//! Start reading at [`findings_of`].

use crate::findings::{document, findings_of, has, ids, knows_disk};
use crate::support::{Program, Run, Scratch, has_programs, is_root, skip, succeeds_once};
use serde_json::Value;

#[test]
fn work_between_the_ios_is_told() {
    // In memory the checksums of a strong kind take many times as long as the writes, on every machine.
    let scratch = Scratch::in_temporary_directory("findings-work");
    let job = "--name=a --filename=f --rw=write --bs=256k --size=16m --ioengine=psync --time_based --runtime=300ms";
    let told = |more: &str| has(&findings_of(scratch.path(), &format!("{job} {more}")), "preparation-counted");
    assert!(told("--verify=sha3-512 --do_verify=0"));
    assert!(!told(""));
}

#[test]
fn data_that_waited_before_the_run_is_told() {
    let test = "data_that_waited_before_the_run_is_told";
    let scratch = Scratch::new("findings-waited");
    let write = "--name=w --filename=f --rw=write --bs=1m --size=64m --ioengine=psync --end_fsync=1";
    Run::new(Program::Ferrio, scratch.path(), write).finish().succeeded();
    let job = "run --json --name=r --filename=f --rw=randread --bs=4k --direct=1 --ioengine=psync --runtime=1500ms --time_based";
    let run = |before: &str| {
        let script = format!("{before} && exec \"$0\" \"$@\"");
        let finished = Run::new(Program::Ferrio, scratch.path(), job).in_shell(&script).finish().succeeded();
        serde_json::from_str::<Value>(&finished.stdout).expect("JSON")
    };
    // Data that a copy has left is written while the job reads.
    let copied = run("cp f copy && { (sleep 0.7; sync copy) & }");
    if !knows_disk(&copied) {
        return skip(test, "no disk is known under the directory of the tests");
    }
    let is_told = |document: &Value| has(&ids(&document["findings"]), "earlier-writes");
    // Other programs of the machine may leave data too.
    assert!(succeeds_once(|| !is_told(&run("sync"))));
    if !is_told(&copied) {
        skip(test, "the kernel wrote the copy back before or after the run");
    }
}

#[test]
fn a_small_range_that_is_read_again_and_again_is_told() {
    let scratch = Scratch::new("findings-again");
    let job = "--name=a --filename=f --rw=randread --bs=4k --direct=1 --filesize=40m --norandommap";
    let told = |more: &str| has(&findings_of(scratch.path(), &format!("{job} {more}")), "range-read-again");
    assert!(told("--size=1m --io_size=10m"));
    assert!(!told("--size=1m --io_size=9m") && !told("--size=10m --io_size=10m"));
}

#[test]
fn a_tail_that_a_neighbour_on_the_cpu_makes_is_told() {
    let test = "a_tail_that_a_neighbour_on_the_cpu_makes_is_told";
    if !is_root(test) || !has_programs(test, &["chrt"]) {
        return;
    }
    let scratch = Scratch::new("findings-neighbour");
    let write = "--name=w --filename=f --rw=write --bs=1m --size=64m --ioengine=psync --end_fsync=1";
    Run::new(Program::Ferrio, scratch.path(), write).finish().succeeded();
    let job = "run --json --name=a --filename=f --rw=randread --bs=512k --direct=1 --ioengine=psync --cpus_allowed=0 --time_based --runtime=2";
    let neighbour = "--name=n --ioengine=cpuio --cpuload=7 --cpuchunks=2500 --cpus_allowed=0 --time_based --runtime=4";
    let run = |script: &str| {
        let finished = Run::new(Program::Ferrio, scratch.path(), job).in_shell(script).finish().succeeded();
        has(&ids(&serde_json::from_str::<Value>(&finished.stdout).expect("JSON")["findings"]), "tail-waits-for-cpu")
    };
    // A real-time program gets the CPU at once, for 2.5 ms of every 36 ms.
    let beside = |program: &str| run(&format!("chrt -f 10 \"$0\" {neighbour} > /dev/null & exec {program} \"$@\""));
    if !beside("\"$0\"") {
        skip(test, "the neighbour did not take the CPU, or the disk has a tail of its own");
    }
    // A job of a higher priority comes first, also before all other programs of the machine.
    assert!(!beside("chrt -f 20 \"$0\""));
}

#[test]
fn data_that_nobody_moved_is_told() {
    let scratch = Scratch::in_temporary_directory("findings-unmoved");
    let job = "--name=a --rw=write --bs=1m --ioengine=psync --scramble_buffers=0 --time_based --runtime=200ms";
    let told = |target: &str| has(&findings_of(scratch.path(), &format!("{job} {target}")), "faster-than-memory");
    // On a machine that is busy the jobs may have too little of a CPU for it.
    assert!(succeeds_once(|| told("--filename=/dev/null --size=1g")));
    assert!(!told("--filename=f --size=4m"));
}

#[test]
fn the_clock_is_told_where_it_is_a_fifth_of_the_median() {
    let scratch = Scratch::in_temporary_directory("findings-clock");
    for bs in ["16", "1m"] {
        let job =
            format!("--name=a --filename=f --rw=read --bs={bs} --size=4m --ioengine=mmap --time_based --runtime=200ms");
        let run = document(scratch.path(), &job);
        let look_ns = run["provenance"]["clock"]["look_ns"].as_u64().expect("a number");
        let told = run["findings"].as_array().expect("a list").iter().find(|finding| finding["id"] == "clock-cost");
        let median = told.map(|finding| finding["evidence"][1]["value"].as_f64().expect("seconds") * 1e9);
        // A copy of 1 MiB takes more than 10 us on every machine, and a look at a clock less than 2 us.
        assert!(median.is_none_or(|median_ns| bs == "16" && look_ns as f64 >= 0.199 * median_ns), "{bs}: {told:?}");
    }
}
