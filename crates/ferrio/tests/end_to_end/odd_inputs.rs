//! Inputs and settings that have no end or no room: pipes without a writer, long turns of work, files cut off, little memory.
//!
//! Start reading at [`a_trace_that_nobody_writes_ends_with_the_run`].

use crate::support::{Finished, Program, Run, Scratch, send};
use rustix::process::Signal;
use serde_json::Value;
use std::time::{Duration, Instant};

fn shell(scratch: &Scratch, script: &str, arguments: &str) -> Finished {
    Run::new(Program::Ferrio, scratch.path(), arguments).in_shell(script).finish()
}

#[test]
fn a_trace_that_nobody_writes_ends_with_the_run() {
    let scratch = Scratch::new("pipe-trace");
    let script = "mkfifo pipe; timeout -s INT -k 60 1 \"$0\" \"$@\"; test $? -ne 137 && echo ended";
    let ended = shell(&scratch, script, "--name=a --read_iolog=pipe --filename=f --size=4k");
    assert!(ended.stdout.contains("ended"), "{}", ended.all());
    let script = "(sleep 0.3; printf 'fio version 2 iolog\\n%s/f add\\n%s/f open\\n%s/f write 0 4096\\n%s/f close\\n' $PWD $PWD $PWD $PWD > pipe) & \
                  exec \"$0\" \"$@\"";
    let replayed = shell(&scratch, script, "--name=a --read_iolog=pipe --output-format=json").succeeded();
    let document: Value = serde_json::from_str(&replayed.stdout).expect("JSON");
    assert_eq!(document["jobs"][0]["write"]["total_ios"], 1);
}

#[test]
fn logs_that_are_no_files_end_on_a_signal() {
    let scratch = Scratch::new("pipe-log");
    let script = "mkfifo pipe; timeout -s INT -k 60 0.5 \"$0\" \"$@\"; test $? -ne 137 && echo ended";
    assert!(shell(&scratch, script, "--inflate-log=pipe").stdout.contains("ended"));
    for input in [".", "/dev/zero"] {
        let refused = shell(&scratch, "exec \"$0\" \"$@\"", &format!("--inflate-log={input}"));
        assert!(refused.stderr.contains("failed inflating log"), "{input}: {}", refused.all());
    }
}

/// A turn of 20 s beside a runtime of 0.3 s.
#[test]
fn a_long_turn_of_work_ends_with_the_runtime() {
    let scratch = Scratch::new("long-turn");
    let arguments = "--name=a --ioengine=cpuio --cpuload=100 --cpuchunks=20000000 --runtime=300ms --time_based --output-format=json";
    let start = Instant::now();
    let finished = Run::new(Program::Ferrio, scratch.path(), arguments).finish().succeeded();
    assert!(start.elapsed() < Duration::from_secs(10), "{}", finished.all());
    let arguments = "--name=a --ioengine=cpuio --cpuload=100 --cpuchunks=40000000";
    let start = Instant::now();
    let running = Run::new(Program::Ferrio, scratch.path(), arguments).start();
    std::thread::sleep(Duration::from_millis(300));
    send(running.pid(), Signal::INT);
    let finished = running.finish();
    assert!(start.elapsed() < Duration::from_secs(20), "{}", finished.all());
}

#[test]
fn a_layout_without_memory_is_an_error_of_its_job() {
    let scratch = Scratch::new("layout-memory");
    let script = "ulimit -v 800000; exec \"$0\" \"$@\"";
    let refused = shell(&scratch, script, "--name=a --rw=read --bs=900m --size=900m --filename=f --fallocate=none");
    assert!(refused.stderr.contains("func=malloc, error=Cannot allocate memory"), "{}", refused.all());
    assert!(!refused.stderr.contains("panicked") && refused.code == Some(1), "{}", refused.all());
}

/// Reads run ahead of the writes that make the file longer: libaio reads nothing there.
#[test]
fn reads_behind_the_end_are_told() {
    let scratch = Scratch::new("behind-end");
    let job = "--name=a --filename=f --filesize=1m --create_on_open=1 --fallocate=none --rw=rw --bs=4k --ioengine=libaio --iodepth=4";
    let is_told = |document: &Value, at: &str| {
        let findings = document.pointer(at).and_then(Value::as_array).expect("findings");
        findings.iter().any(|finding| finding["id"] == "reads-behind-end")
    };
    let as_fio = Run::new(Program::Ferrio, scratch.path(), &format!("{job} --output-format=json")).finish().succeeded();
    let document: Value = serde_json::from_str(&as_fio.stdout).expect("JSON");
    let n_reads = document["jobs"][0]["read"]["total_ios"].as_u64();
    assert!(n_reads > Some(0) && is_told(&document, "/ferrio/findings"), "{}", as_fio.all());
    std::fs::remove_file(scratch.join("f")).expect("the file");
    let native = Run::new(Program::Ferrio, scratch.path(), &format!("run --json {job}")).finish();
    let document: Value = serde_json::from_str(&native.stdout).expect("JSON");
    assert!(is_told(&document, "/findings") && native.code == Some(1), "{}", native.all());
}
