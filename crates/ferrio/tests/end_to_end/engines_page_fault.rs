//! `ioengine=page_fault`: I/Os touch memory of the job, and the first touch of a page is a page fault.
//!
//! The peer does not have this engine. Start reading at [`each_page_is_one_fault_however_often_it_is_touched`].

use crate::support::{Finished, Program, Run, Scratch, has_programs, skip};

fn run(scratch: &Scratch, options: &str) -> Finished {
    let job = format!("--name=p --ioengine=page_fault {options}");
    Run::new(Program::Ferrio, scratch.path(), &job).finish()
}

/// The only job of a report.
fn report(scratch: &Scratch, options: &str) -> serde_json::Value {
    let finished = run(scratch, &format!("--output-format=json {options}")).succeeded().quiet();
    let mut document: serde_json::Value = serde_json::from_str(&finished.stdout).expect("a document");
    document["jobs"][0].take()
}

/// Page faults without I/O.
fn n_faults(report: &serde_json::Value) -> u64 {
    report["minf"].as_u64().expect("a number")
}

#[test]
fn each_page_is_one_fault_however_often_it_is_touched() {
    let test = "each_page_is_one_fault_however_often_it_is_touched";
    let scratch = Scratch::new(test);
    let setting = std::fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").unwrap_or_default();
    if setting.contains("[always]") || rustix::param::page_size() != 4096 {
        skip(test, "page faults of this machine are not of 4 KiB");
        return;
    }
    // A job touches 2048 pages of this memory and a few dozen others; 1024 leaves room for any machine.
    for kind in ["read", "write", "randwrite", "randrw"] {
        for thread in ["--thread=0", "--thread=1"] {
            let once = n_faults(&report(&scratch, &format!("{thread} --rw={kind} --size=8m")));
            assert!((2048..3072).contains(&once), "{kind} {thread}: {once}");
        }
    }
    let thrice = n_faults(&report(&scratch, "--rw=write --size=8m --loops=3"));
    assert!((2048..3072).contains(&thrice), "{thrice}");
    let larger = n_faults(&report(&scratch, "--rw=write --size=8m --bs=64k --nrfiles=4"));
    assert!((2048..3072).contains(&larger), "{larger}");
}

#[test]
fn what_is_written_is_there_until_the_end() {
    let scratch = Scratch::new("what_is_written_is_there_until_the_end");
    for options in [
        "--rw=write --size=1m --verify=crc32c --fsync=8",
        "--rw=randwrite --size=1m --bsrange=1k-16k --nrfiles=3 --openfiles=1 --verify=md5 --offset=64k",
        "--rw=randrw --size=1m --verify=sha1 --thread --direct=1 --iodepth=8",
        "--rw=randwrite --size=1m --verify=crc32c --io_submit_mode=offload --iodepth=4",
    ] {
        let job = report(&scratch, &format!("{options} --verify_state_save=0"));
        let (read, written) = (&job["read"]["io_bytes"], &job["write"]["io_bytes"]);
        assert_eq!((job["error"].as_i64(), written.as_u64() > Some(0)), (Some(0), true), "{options}");
        assert!(read.as_u64() >= written.as_u64(), "{options}: {read} of {written}");
    }
    assert_eq!(scratch.names(), Vec::<String>::new(), "no file is made");
}

#[test]
fn memory_is_mapped_once_and_given_back() {
    let test = "memory_is_mapped_once_and_given_back";
    if !has_programs(test, &["strace"]) {
        return;
    }
    let scratch = Scratch::new(test);
    // A size that nothing else has, in whole pages.
    let options = "--name=p --ioengine=page_fault --rw=write --size=9764864 --bs=4k --loops=2";
    let run =
        Run::new(Program::Ferrio, scratch.path(), options).under("strace -f -o calls -e trace=mmap,munmap,madvise");
    run.finish().succeeded();
    let calls = scratch.read("calls");
    let of_job: Vec<&str> = calls.lines().filter(|line| line.contains("9764864")).collect();
    assert!(of_job.len() == 2, "{of_job:?}");
    assert!(
        of_job[0].contains("mmap(NULL, 9764864, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0)"),
        "{of_job:?}"
    );
    assert!(of_job[1].contains("munmap("), "{of_job:?}");
}

#[test]
fn what_it_cannot_do_is_an_error() {
    let scratch = Scratch::new("what_it_cannot_do_is_an_error");
    for (options, errno, text) in [
        ("--rw=trim --size=1m", 22, "the engine page_fault has nothing to trim"),
        (
            "--rw=write --size=1000t",
            12,
            "page_fault: mapping memory of the size of the job failed: Cannot allocate memory",
        ),
        ("--rw=write", 22, "you need to specify size="),
        ("--rw=write --size=1m --end_syncfs=1", 22, "does not support syncfs"),
    ] {
        let finished = run(&scratch, options);
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        assert!(finished.stderr.contains(text), "{}", finished.all());
        assert!(finished.all().contains(&format!("err={errno}")), "{}", finished.all());
    }
}
