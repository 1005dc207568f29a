//! `ioengine=splice`, compared with fio.
//!
//! Start reading at [`each_reads_what_the_other_wrote`].

use crate::support::{Program, Run, Scratch, has_peer, has_programs};

/// Blocks that a pipe takes at once, that it does not, and that begin in the midst of a page.
const SHAPES: [&str; 4] =
    ["--bs=4k", "--bs=96k", "--bs=512,40k --bs_unaligned --norandommap", "--bs=64k --direct=1 --iomem_align=4k"];

#[cfg_attr(not(peer), ignore = "needs the peer, FERRIO_PEER=1")]
#[test]
fn each_reads_what_the_other_wrote() {
    if !has_peer("each_reads_what_the_other_wrote") {
        return;
    }
    for (writer, reader) in [(Program::Ferrio, Program::Peer), (Program::Peer, Program::Ferrio)] {
        for shape in SHAPES {
            let scratch = Scratch::new("splice");
            let job = format!("--name=a --filename=f --size=960k --verify=crc32c {shape}");
            let write = format!("{job} --ioengine=splice --rw=randwrite --do_verify=0");
            Run::new(writer, scratch.path(), &write).finish().succeeded();
            for engine in ["splice", "psync"] {
                let read = format!("{job} --ioengine={engine} --rw=randwrite --verify_only");
                let finished = Run::new(reader, scratch.path(), &read).finish();
                assert!(finished.code == Some(0), "{writer:?} {reader:?} {shape}: {}", finished.all());
            }
        }
    }
}

#[cfg_attr(not(peer), ignore = "needs the peer, FERRIO_PEER=1")]
#[test]
fn files_hold_what_those_of_the_peer_hold() {
    if !has_peer("files_hold_what_those_of_the_peer_hold") {
        return;
    }
    let contents = |program, shape: &str| {
        let scratch = Scratch::new("splice-contents");
        let job = format!("--name=a --filename=f --size=960k --rw=randrw --ioengine=splice {shape}");
        Run::new(program, scratch.path(), &job).finish().succeeded();
        std::fs::read(scratch.join("f")).expect("the file")
    };
    for shape in SHAPES {
        let shape = format!("{shape} --buffer_pattern=\"ferrio\"");
        assert!(contents(Program::Ferrio, &shape) == contents(Program::Peer, &shape), "{shape}");
    }
}

#[test]
fn system_calls_go_through_a_pipe() {
    if !has_programs("system_calls_go_through_a_pipe", &["strace"]) {
        return;
    }
    let scratch = Scratch::new("splice-calls");
    for (rw, calls) in [
        ("write", ["vmsplice(", "splice(", "vmsplice(", "splice("]),
        ("read", ["splice(", "vmsplice(", "splice(", "vmsplice("]),
    ] {
        let strace = format!(
            "strace -f -qq -e signal=none -e trace=splice,vmsplice,pread64,pwrite64 -o {}",
            scratch.join("trace").display()
        );
        let job = format!("--name=a --filename=f --size=8k --bs=4k --rw={rw} --ioengine=splice --thread --overwrite=0");
        Run::new(Program::Ferrio, scratch.path(), &job).under(&strace).finish().succeeded();
        let trace = scratch.read("trace");
        let seen: Vec<&str> = trace.lines().filter(|line| line.contains("splice(")).collect();
        assert_eq!(seen.len(), calls.len(), "{rw}: {trace}");
        for (line, call) in seen.iter().zip(calls) {
            assert!(line.contains(&format!(" {call}")) && line.contains(" = 4096"), "{rw}: {trace}");
        }
    }
}
