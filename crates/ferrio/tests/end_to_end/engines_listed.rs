//! `ferrio engines`: engines, files, devices and servers; and job files with engines that are not built.
//!
//! Start reading at [`every_engine_is_listed`].

use crate::support::{Finished, LoopDevice, Program, Run, Scratch, is_root, peer_too};
use serde_json::Value;
use std::net::TcpListener;

fn engines(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), &format!("engines {arguments}")).finish()
}

/// The answers of a document, after a look at its form.
fn answers(done: &Finished) -> Vec<(String, String, String)> {
    let document: Value = serde_json::from_str(&done.stdout).expect("JSON");
    assert_eq!(document["ferrio engines version"], 1, "{}", done.all());
    let list = document["answers"].as_array().expect("a list").iter();
    list.map(|answer| {
        assert_eq!(answer.as_object().map(serde_json::Map::len), Some(4), "{answer}");
        assert!(answer["cure"].is_null() || answer["cure"].is_string(), "{answer}");
        let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
        (text("name"), text("state"), text("why"))
    })
    .collect()
}

fn state(answers: &[(String, String, String)], name: &str) -> String {
    let found = answers.iter().find(|answer| answer.0 == name);
    found.unwrap_or_else(|| panic!("no {name} in {answers:?}")).1.clone()
}

#[test]
fn every_engine_is_listed() {
    let scratch = Scratch::new("every_engine_is_listed");
    let found = answers(&engines(&scratch, "--json").succeeded());
    assert_eq!([state(&found, "psync"), state(&found, "null")], ["works", "works"]);
    assert_eq!([state(&found, "xnvme"), state(&found, "libcufile")], ["not built", "not built"]);
    // What is said of rings is what a job of them meets.
    for engine in ["io_uring", "libaio"] {
        let job = format!("--name=a --ioengine={engine} --filename=f --size=4k --bs=4k --rw=write");
        let works = Run::new(Program::Ferrio, scratch.path(), &job).finish().code == Some(0);
        assert_eq!(state(&found, engine) == "works", works, "{engine}");
    }
    // So is what is said of a library of others.
    let job = "--name=a --ioengine=nfs --nfs_url=nfs://127.0.0.1/none --size=4k --bs=4k --rw=write";
    let lacks_library = Run::new(Program::Ferrio, scratch.path(), job).finish().all().contains("is not available");
    assert_eq!(state(&found, "nfs") != "works", lacks_library, "{found:?}");
    let text = engines(&scratch, "").succeeded();
    assert!(text.stdout.lines().all(|line| line.chars().count() <= 80), "{}", text.stdout);
    assert!(text.stdout.lines().any(|line| line.starts_with("psync ") && line.ends_with("works")), "{}", text.stdout);
}

#[test]
fn a_file_and_a_device_say_what_they_can_do() {
    let name = "a_file_and_a_device_say_what_they_can_do";
    let scratch = Scratch::new(name);
    scratch.write("data", vec![0u8; 1 << 16]);
    let found = answers(&engines(&scratch, "--json data").succeeded());
    assert!(found[0].2.starts_with("a file on "), "{found:?}");
    let direct = "--name=a --filename=data --rw=read --bs=4k --direct=1";
    let works = Run::new(Program::Ferrio, scratch.path(), direct).finish().code == Some(0);
    assert_eq!(state(&found, "direct I/O") == "works", works, "{found:?}");
    for name in ["RWF_NOWAIT", "RWF_DONTCACHE", "atomic writes", "io_uring: fixedbufs", "holes"] {
        assert!(!state(&found, name).is_empty());
    }
    let directory = answers(&engines(&scratch, "--json .").succeeded());
    assert_eq!(state(&directory, "direct I/O"), "unknown");
    if !is_root(name) {
        return;
    }
    let Some(device) = LoopDevice::new(&scratch, 1 << 20) else { return };
    let found = answers(&engines(&scratch, &format!("--json {}", device.path())).succeeded());
    assert_eq!(found[0].2, "a block device");
    let disk = found.iter().find(|answer| answer.0 == "blocks of the disk").expect("a disk");
    assert!(disk.2.contains("512 bytes"), "{disk:?}");
    assert_eq!(state(&found, "zones"), "does not work here");
}

#[test]
fn what_is_not_there_is_an_error() {
    let scratch = Scratch::new("what_is_not_there_is_an_error");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    // The client of an NBD server, asked by one that says nothing.
    let mute = engines(&scratch, &format!("nbd://127.0.0.1:{port}/export"));
    assert!(mute.code == Some(2) && mute.stderr.contains("no answer within 5 s"), "{}", mute.all());
    drop(listener);
    for (target, text) in [
        ("absent".to_owned(), "No such file or directory"),
        (format!("https://127.0.0.1:{port}/export"), "refused"),
        (format!("nbd://127.0.0.1:{port}/export"), "refused"),
        ("gopher://127.0.0.1".to_owned(), "unknown scheme; allowed: nbd"),
        ("http://".to_owned(), "names no host"),
    ] {
        let done = engines(&scratch, &target);
        assert!(done.code == Some(2) && done.stdout.is_empty() && done.stderr.contains(text), "{}", done.all());
    }
}

#[test]
fn job_files_with_engines_that_are_not_built_parse() {
    let name = "job_files_with_engines_that_are_not_built_parse";
    let scratch = Scratch::new(name);
    scratch.write("known.fio", "[a]\nioengine=libhdfs\nhdfsdirectory=/x\nsize=4k\nbs=4k\n");
    scratch.write("unknown.fio", "[a]\nioengine=pmemblk\nsize=4k\nbs=4k\n");
    scratch.write("wrong.fio", "[a]\nioengine=null\nsize=many\n");
    scratch.write("bare.fio", "[a]\nioengine=libhdfs\nsize=4k\nbs=4k\n");
    scratch.write("options.fio", "[a]\nioengine=xnvme\nxnvme_be=linux\nxnvme_async=io_uring\nsize=4k\n");
    for (file, code, text) in [
        ("bare.fio", 0, "engine libhdfs"),
        ("known.fio", 1, "hdfsdirectory"),
        ("options.fio", 1, "xnvme_async"),
        ("unknown.fio", 0, "pmemblk not loadable"),
        ("wrong.fio", 1, "size"),
    ] {
        let done = Run::new(Program::Ferrio, scratch.path(), &format!("--parse-only {file}")).finish();
        assert!(done.code == Some(code) && done.all().contains(text), "{file}: {}", done.all());
        if file != "bare.fio" && peer_too(name) {
            let peer = Run::new(Program::Peer, scratch.path(), &format!("--parse-only {file}")).finish();
            assert_eq!(peer.code, Some(code), "{file}: {}", peer.all());
        }
        // A run of the same file is refused.
        let run = Run::new(Program::Ferrio, scratch.path(), file).finish();
        assert_eq!(run.code, Some(1), "{file}: {}", run.all());
    }
}
