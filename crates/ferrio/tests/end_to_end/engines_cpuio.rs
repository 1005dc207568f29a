//! `ioengine=cpuio`: a job that burns CPU time does no I/O, and can end together with the jobs that do.
//!
//! Start reading at [`slices_are_reported_as_by_the_peer`].

use crate::outline::outline;
use crate::support::{Program, Run, Scratch, peer_too};

/// Ferrio, and fio if it is installed.
fn programs(test: &str) -> &'static [Program] {
    if peer_too(test) { &[Program::Ferrio, Program::Peer] } else { &[Program::Ferrio] }
}

#[test]
fn slices_are_reported_as_by_the_peer() {
    let test = "slices_are_reported_as_by_the_peer";
    let scratch = Scratch::new(test);
    for job in [
        "--name=c --ioengine=cpuio --cpuload=50 --cpuchunks=2000 --number_ios=5",
        "--name=c --ioengine=cpuio --cpuload=150 --cpuchunks=300 --number_ios=3 --cpumode=qsort --thread --numjobs=2",
        // Options on I/O have no effect with this engine.
        "--name=c --ioengine=cpuio --cpuload=99 --cpuchunks=100 --number_ios=2 --rw=write --bs=1m --size=2m --verify=md5",
    ] {
        let report = |program: &Program| {
            let finished = Run::new(*program, scratch.path(), job).finish().succeeded().quiet();
            outline(&finished.stdout, false)
        };
        let reports: Vec<_> = programs(test).iter().map(report).collect();
        assert!(
            reports[0].iter().any(|line| line.starts_with("c (") && line.contains("ioengine=cpuio")),
            "{reports:?}"
        );
        assert!(reports.iter().all(|report| *report == reports[0]), "{job}: {reports:#?}");
    }
}

#[test]
fn the_load_is_told_and_its_slices_are_counted() {
    let scratch = Scratch::new("the_load_is_told_and_its_slices_are_counted");
    let job = "--name=c --ioengine=cpuio --cpuload=-5 --cpuchunks=100 --number_ios=7 --loops=2";
    for program in programs("the_load_is_told_and_its_slices_are_counted") {
        let finished = Run::new(*program, scratch.path(), job).finish().succeeded();
        assert!(
            finished.stdout.contains("c (noop): ioengine=cpuio, cpuload=100, cpucycle=100\n"),
            "{}",
            finished.all()
        );
        assert!(finished.stdout.contains("issued rwts: total=14,0,0,0"), "{}", finished.all());
        assert_eq!(scratch.names(), Vec::<String>::new(), "no file is made");
    }
}

#[test]
fn what_burns_ends_with_the_others() {
    let test = "what_burns_ends_with_the_others";
    let scratch = Scratch::new(test);
    let burns = "--name=c --ioengine=cpuio --cpuload=100 --cpuchunks=1000";
    // Long enough for the peer, which otherwise may not see it end: 300 ms.
    let reads = "--name=n --ioengine=null --size=300k --rate=1m";
    for program in programs(test) {
        // A thread without an end of its own ends with the I/O.
        let beside = format!("--thread {burns} {reads}");
        let beside = Run::new(*program, scratch.path(), &beside).finish().succeeded();
        assert!(beside.stdout.contains("c: (groupid=0, jobs=1): err= 0"), "{}", beside.all());
        // A process counts as a job with I/O itself, and runs on: 600 ms.
        let beside = format!("{burns} --number_ios=600 {reads}");
        let beside = Run::new(*program, scratch.path(), &beside).finish().succeeded();
        assert!(beside.stdout.contains("total=600,0,0,0"), "{}", beside.all());
        let beside = format!("{burns} --exit_on_io_done=1 {reads}");
        let beside = Run::new(*program, scratch.path(), &beside).finish().succeeded();
        assert!(beside.stdout.contains("c: (groupid=0, jobs=1): err= 0"), "{}", beside.all());
        // The job does not begin when there is no I/O left.
        let behind = format!("{reads} {burns} --stonewall --exit_on_io_done=1");
        let behind = Run::new(*program, scratch.path(), &behind).finish().succeeded();
        assert!(!behind.stdout.contains("c: (groupid=1"), "{}", behind.all());
        // Without `exit_on_io_done` it does.
        let behind = format!("{reads} {burns} --stonewall --number_ios=3");
        let behind = Run::new(*program, scratch.path(), &behind).finish().succeeded();
        assert!(behind.stdout.contains("c: (groupid=1") && behind.stdout.contains("total=3,0,0,0"), "{}", behind.all());
        // Nor does it end where no job does I/O.
        let alone = format!("{burns} --exit_on_io_done=1 --number_ios=4");
        let alone = Run::new(*program, scratch.path(), &alone).finish().succeeded();
        assert!(alone.stdout.contains("total=4,0,0,0"), "{}", alone.all());
    }
}

#[test]
fn a_slice_of_an_hour_ends_with_a_signal() {
    let scratch = Scratch::new("a_slice_of_an_hour_ends_with_a_signal");
    let job = "--name=c --ioengine=cpuio --cpuload=100 --cpuchunks=2147483647";
    let mut run = Run::new(Program::Ferrio, scratch.path(), job).start();
    run.wait_until("a worker", |run| !run.jobs().is_empty());
    crate::support::send(run.pid(), rustix::process::Signal::INT);
    let finished = run.finish();
    assert_eq!(finished.code, Some(128), "{}", finished.all());
    assert!(finished.stdout.contains("terminating on signal 2"), "{}", finished.all());
}

#[test]
fn a_load_that_cannot_be_is_refused() {
    let test = "a_load_that_cannot_be_is_refused";
    let scratch = Scratch::new(test);
    for (options, text) in [
        ("", "cpuio: option cpuload=0: 1 to 100 percent of a CPU have to be given"),
        ("--cpuload=0", "cpuio: option cpuload=0: 1 to 100 percent of a CPU have to be given"),
        ("--cpuload=5 --cpumode=bla", "failed parsing cpumode=bla"),
    ] {
        let job = format!("--name=c --ioengine=cpuio {options} --number_ios=1");
        for program in programs(test) {
            let finished = Run::new(*program, scratch.path(), &job).finish();
            assert_eq!(finished.code, Some(1), "{}", finished.all());
            assert!(*program == Program::Peer || finished.stderr.contains(text), "{}", finished.all());
        }
    }
    // A native run does not take it for all of a CPU.
    for percent in ["101", "-5"] {
        let job = format!("run --name=c --ioengine=cpuio --cpuload={percent} --number_ios=1");
        let finished = Run::new(Program::Ferrio, scratch.path(), &job).finish();
        assert_eq!(finished.code, Some(1), "{}", finished.all());
        assert!(finished.stderr.contains(&format!("option cpuload={percent}: 1 to 100")), "{}", finished.all());
    }
    // The peer is stuck.
    let job = "--name=c --ioengine=cpuio --cpuload=5 --cpuchunks=-1 --number_ios=1";
    let finished = Run::new(Program::Ferrio, scratch.path(), job).finish();
    assert_eq!(finished.code, Some(1), "{}", finished.all());
    assert!(finished.stderr.contains("option cpuchunks=-1"), "{}", finished.all());
}
