//! Engines in shared libraries (`ioengine=external:PATH`): the example in C, and libraries that are none or break the rules.
//!
//! Start reading at [`the_example_moves_data`].

use crate::support::{Finished, Program, Run, Scratch, has_programs, tool};
use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Builds a library with the C compiler, as the header says.
fn build(scratch: &Scratch, source: &Path, name: &str, flags: &str) -> String {
    let (include, library) = (root().join("include"), scratch.join(name));
    let command = format!(
        "cc -shared -fPIC -O2 -Wall -Wextra -Werror {flags} -I {} -o {} {}",
        include.display(),
        library.display(),
        source.display()
    );
    assert!(tool(&command).is_some(), "{command}");
    library.display().to_string()
}

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).finish()
}

#[test]
fn the_example_moves_data() {
    let name = "the_example_moves_data";
    if !has_programs(name, &["cc"]) {
        return;
    }
    let scratch = Scratch::new(name);
    let library = build(&scratch, &root().join("examples/engine-c/memory.c"), "memory.so", "");
    let job = format!("--name=a --filename=t --bs=4k --size=1m --ioengine=external:{library}");
    let verified = run(&scratch, &format!("{job} --rw=randrw --iodepth=16 --verify=crc32c")).succeeded();
    // 256 blocks, each read or written in the mix, and each written one read again.
    assert!(verified.stdout.contains("ioengine=external, iodepth=16"), "{}", verified.all());
    let total = verified.stdout.lines().find_map(|line| line.split_once("issued rwts: total=")).expect("a total").1;
    let counts: Vec<u64> = total.split([',', ' ']).take(2).map(|n| n.parse().expect("a number")).collect();
    assert_eq!(counts[0], 256, "{total}");
    for arguments in ["--rw=write --thread=1 --numjobs=4 --iodepth=4 --fsync=16", "--rw=trim", "--rw=read --iodepth=64"]
    {
        run(&scratch, &format!("{job} {arguments}")).succeeded();
    }
    // The size is what the engine says: 64 KiB are 16 blocks.
    let sized = run(&scratch, &format!("{job} --rw=read --library_options=size=65536")).succeeded();
    assert!(sized.stdout.contains("issued rwts: total=16,0,0,0 "), "{}", sized.all());
    for (arguments, text) in [
        ("--rw=read --library_options=size=much", "size=much: not a number of bytes"),
        ("--rw=read --library_options=sizes=1", "it has size, fail_at"),
        ("--rw=read --library_options=size", "write NAME=VALUE"),
        ("--rw=read --library_options=fail_at=8192", "Input/output error: read offset=8192"),
    ] {
        let done = run(&scratch, &format!("{job} {arguments}"));
        assert!(done.code == Some(1) && done.all().contains(text), "{arguments}: {}", done.all());
    }
    let help = run(&scratch, &format!("--enghelp={library}")).succeeded();
    assert!(help.stdout.contains("size ") && help.stdout.contains("(default: 16777216)"), "{}", help.all());
    assert!(help.stdout.contains("fail_at "), "{}", help.all());
}

/// An engine with the parts that a test gives: `FLAGS`, `VERSION`, and what `reap` does.
const SOURCE: &str = "
#include \"ferrio_engine.h\"
static int start(const struct ferrio_engine_job *job, void **engine, char *error, size_t n) {
    (void)job; (void)error; (void)n; *engine = NULL; return 0; }
static int bytes(const struct ferrio_engine_job *job, const char *t, uint64_t *bytes, char *error, size_t n) {
    (void)job; (void)t; (void)error; (void)n; *bytes = 1 << 20; return 0; }
static int queue(void *engine, const struct ferrio_engine_io *io) { (void)engine; (void)io; return QUEUE; }
static int reap(void *engine, uint32_t min, uint32_t max, uint64_t ns, struct ferrio_engine_event *events) {
    (void)engine; (void)min; (void)max; (void)ns; (void)events; REAP; }
static void stop(void *engine) { (void)engine; }
static const struct ferrio_engine_api api = { .version = VERSION, .struct_bytes = sizeof api, .name = \"odd\",
    .target_bytes = bytes, .start = start, .queue = queue, .reap = reap, .stop = stop };
const struct ferrio_engine_api *ferrio_engine(uint32_t version) { (void)version; return API; }
";

#[test]
fn libraries_that_break_the_rules_are_errors() {
    let name = "libraries_that_break_the_rules_are_errors";
    if !has_programs(name, &["cc"]) {
        return;
    }
    let scratch = Scratch::new(name);
    scratch.write("odd.c", SOURCE);
    let (source, mut number) = (scratch.join("odd.c"), 0);
    let mut odd = |version: &str, api: &str, queue: &str, reap: &str| {
        number += 1;
        let flags = format!("-DVERSION={version} -DAPI={api} -DQUEUE={queue} -DREAP={reap}");
        build(&scratch, &source, &format!("odd{number}.so"), &flags)
    };
    let cases = [
        (odd("39", "&api", "0", "return/**/0"), "it has version 39 of the interface, and ferrio has 1"),
        (odd("1", "(0?&api:NULL)", "0", "return/**/0"), "does not work with version 1"),
        (odd("1", "&api", "1", "return/**/1000"), "more I/Os than it was asked for"),
        (odd("1", "&api", "1", "events[0].tag=7777;return/**/1"), "not in flight"),
        (odd("1", "&api", "1", "events[0].tag=0;events[0].result=1<<20;return/**/1"), "more bytes"),
        (odd("1", "&api", "2", "return/**/0"), "nothing is in flight"),
        (odd("1", "&api", "77", "return/**/0"), "what it may not return"),
        (odd("1", "&api", "-28", "return/**/0"), "No space left on device"),
        (odd("1", "&api", "1", "return/**/-5"), "Input/output error"),
    ];
    for (library, text) in cases {
        let done = run(&scratch, &format!("--name=a --filename=t --rw=read --bs=4k --ioengine=external:{library}"));
        assert!(done.code == Some(1) && done.all().contains(text), "{text}: {}", done.all());
    }
    let writer = odd("1", "&api", "0", "return/**/0");
    let refused = run(&scratch, &format!("--name=a --filename=t --rw=write --bs=4k --ioengine={writer}"));
    assert!(refused.code == Some(1) && refused.all().contains("the engine odd does not write"), "{}", refused.all());
    // A library that completes within queue() needs no reap().
    let read = run(&scratch, &format!("--name=a --filename=t --rw=read --bs=4k --ioengine={writer}")).succeeded();
    assert!(read.stdout.contains("issued rwts: total=256,0,0,0 "), "{}", read.all());
    // I/Os that never complete are given up when the time of the job is over.
    let silent = odd("1", "&api", "1", "return/**/0");
    let given_up = Run::new(
        Program::Ferrio,
        scratch.path(),
        &format!("--name=a --filename=t --rw=read --bs=4k --ioengine={silent}"),
    );
    let mut running = given_up.start();
    running.wait_until("the job runs", |run| !run.jobs().is_empty());
    crate::support::send(running.pid(), rustix::process::Signal::INT);
    running.finish();
}

#[test]
fn what_is_no_engine_is_refused() {
    let name = "what_is_no_engine_is_refused";
    let scratch = Scratch::new(name);
    scratch.write("text.so", "this is no library\n".repeat(100));
    scratch.write("empty.so", "");
    let mut cases = vec![
        (scratch.join("absent.so").display().to_string(), "it is not a regular file"),
        ("/dev/null".to_owned(), "it is not a regular file"),
        (scratch.path().display().to_string(), "it is not a regular file"),
        (scratch.join("text.so").display().to_string(), "ELF header"),
        (scratch.join("empty.so").display().to_string(), "file too short"),
    ];
    if has_programs(name, &["cc"]) {
        scratch.write("none.c", "int nothing;");
        cases.push((build(&scratch, &scratch.join("none.c"), "none.so", ""), "it has no function ferrio_engine()"));
        scratch.write("other.c", "int ioengine;");
        cases.push((build(&scratch, &scratch.join("other.c"), "other.so", ""), "it is made for fio"));
    }
    for (library, text) in cases {
        let done = run(&scratch, &format!("--name=a --filename=t --rw=read --bs=4k --ioengine=external:{library}"));
        assert!(done.code == Some(1) && done.all().contains(text), "{library}: {}", done.all());
        let help = run(&scratch, &format!("--enghelp={library}"));
        assert!(help.code == Some(1) && help.all().contains(text), "{library}: {}", help.all());
    }
    let nothing = run(&scratch, "--name=a --filename=t --rw=read --bs=4k --ioengine=external");
    assert!(nothing.code == Some(1) && nothing.all().contains("ioengine=external:PATH"), "{}", nothing.all());
}
