//! `ioengine=rdma` as far as a machine without an RDMA device goes: what is refused, in the words of fio. `guest/rdma.rs` has the rest.
//!
//! Start reading at the test that failed.

use crate::support::{Program, Run, Scratch, has_peer, skip};

/// Jobs that are refused, and the words of both programs.
const REFUSED: [(&str, &str); 4] = [
    ("--rw=write --hostname=127.0.0.1", "no port has been specified which is required for the rdma engine"),
    ("--rw=rw --hostname=127.0.0.1 --port=5", "rdma connections must be read OR write"),
    ("--rw=randwrite --hostname=127.0.0.1 --port=5", "RDMA network IO can't be random"),
    ("--rw=write --filename=127.0.0.1/x", "bad rdma host/port/protocol"),
];

fn refused(scratch: &Scratch, program: Program, options: &str, words: &str) {
    let job = format!("--name=a --ioengine=rdma --size=64k --bs=4k {options}");
    let finished = Run::new(program, scratch.path(), &job).finish();
    assert!(finished.code == Some(1) && finished.all().contains(words), "{}", finished.all());
}

#[test]
fn what_does_not_go_together_is_refused_in_the_words_of_fio() {
    let name = "what_does_not_go_together_is_refused_in_the_words_of_fio";
    let scratch = Scratch::new(name);
    for (options, words) in REFUSED {
        refused(&scratch, Program::Ferrio, options, words);
    }
    for (options, words) in [
        ("--rw=write --port=5", "option hostname="),
        ("--rw=trim --hostname=127.0.0.1 --port=5", "option rw=trim"),
        ("--rw=write --hostname=127.0.0.1 --port=5 --verb=recv", "option verb=recv"),
        ("--rw=write --hostname=127.0.0.1 --port=5 --iodepth=513", "option iodepth=513: allowed: 1 to 512"),
    ] {
        refused(&scratch, Program::Ferrio, options, words);
    }
}

#[test]
#[cfg_attr(not(peer), ignore = "a comparison with fio")]
fn fio_refuses_the_same() {
    let name = "fio_refuses_the_same";
    if !has_peer(name) {
        return;
    }
    let scratch = Scratch::new(name);
    for (options, words) in REFUSED {
        refused(&scratch, Program::Peer, options, words);
    }
}

#[test]
fn a_machine_without_a_device_or_a_library_says_what_is_missing() {
    let name = "a_machine_without_a_device_or_a_library_says_what_is_missing";
    if std::fs::read_dir("/sys/class/infiniband").is_ok_and(|mut devices| devices.next().is_some()) {
        return skip(name, "this machine has an RDMA device");
    }
    let scratch = Scratch::new(name);
    for job in ["--rw=write --hostname=127.0.0.1 --port=5", "--rw=read --port=5"] {
        let job = format!("--name=a --ioengine=rdma --size=64k --bs=4k {job}");
        let finished = Run::new(Program::Ferrio, scratch.path(), &job).finish();
        let all = finished.all();
        let lacks_library = all.contains("install the Debian package librdmacm1t64 (before Debian 13: librdmacm1)")
            || all.contains("install the Debian package libibverbs1");
        let lacks_device =
            all.contains("rdma_create_event_channel fail") && all.contains("this host has no RDMA device");
        assert!(finished.code == Some(1) && (lacks_library || lacks_device), "{all}");
    }
}
