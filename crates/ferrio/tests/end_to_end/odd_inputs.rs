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

/// A name that clears the screen, rings, and turns letters around is shown with these signs written out, in all that people look at.
#[test]
fn names_steer_no_terminal_and_no_page() {
    let scratch = Scratch::new("names-that-steer");
    let steers = |text: &str| {
        text.contains(|sign: char| sign.is_control() && sign != '\n' || ('\u{202a}'..='\u{202e}').contains(&sign))
    };
    scratch.write("jobs.fio", "[=a\x1b[2J\x1b[1A\x07\u{202e}b]\nioengine=null\nsize=1m\nrw=read\niodepth=8\n");
    let run = |arguments: &str| Run::new(Program::Ferrio, scratch.path(), arguments).finish();
    run("jobs.fio --output-format=json --output=fio.json").succeeded();
    run("run jobs.fio --json --record=record").succeeded();
    for arguments in [
        "check jobs.fio",
        "run jobs.fio",
        "run --csv jobs.fio",
        "run --repeat 2 jobs.fio",
        "sweep --show --over iodepth=1,2 jobs.fio",
        "check --result fio.json",
        "check --result record",
        "compare fio.json record",
        "report record",
        "report --output-format=normal record",
        "report --csv record",
        "run jobs.fio --nosuch=1",
        "report fio.json record -o page.html",
    ] {
        let finished = run(arguments);
        assert!(!steers(&finished.stdout) && !steers(&finished.stderr), "{arguments}: {:?}", finished.all());
    }
    let page = scratch.read("page.html");
    assert!(page.contains("\\u001b[2J") && !steers(&page), "{page}");
    // A program for tables computes what begins with such a sign.
    let rows = run("run --csv jobs.fio").stdout;
    assert!(rows.contains(",'=a\\x1b[2J"), "{rows}");
}

/// The word that readers of a run's page must know is none of the programs that a job starts.
#[test]
fn programs_of_jobs_do_not_get_the_word_of_readers() {
    let scratch = Scratch::new("token-of-readers");
    scratch.write("jobs.fio", "[a]\nioengine=null\nsize=4k\nexec_prerun=env\n");
    let run = Run::new(Program::Ferrio, scratch.path(), "jobs.fio").env("FERRIO_WEB_TOKEN", "word-of-readers");
    run.env("OTHER", "is-passed-on").finish().succeeded();
    let environment = scratch.read("a.prerun.txt");
    assert!(environment.contains("OTHER=is-passed-on") && !environment.contains("word-of-readers"), "{environment}");
}

/// A device without an end, and a file of which a read waits for news.
#[test]
fn files_that_options_name_are_regular_and_end() {
    let scratch = Scratch::new("named-files");
    let server = "--name=a --ioengine=http --http_host=127.0.0.1:1 --filename=/o --size=4k --https=on";
    for (file, why) in [
        ("/dev/zero", "it is no regular file"),
        ("/proc/kmsg", "Resource temporarily unavailable"),
        ("/proc", "Is a directory"),
    ] {
        let finished = Run::new(Program::Ferrio, scratch.path(), &format!("{server} --http_ca={file}")).finish();
        // Only root may read the log of the kernel.
        let is_refused =
            [why, "Permission denied", "Operation not permitted"].iter().any(|why| finished.stderr.contains(why));
        assert!(finished.code == Some(1) && is_refused, "{file}: {}", finished.all());
    }
}

/// In one line, before anything is made: without the refusal the program would die of it.
#[test]
fn more_files_than_memory_has_room_for_are_refused() {
    let scratch = Scratch::new("too-many-files");
    for job in ["--nrfiles=1000000000", "--nrfiles=100000000 --numjobs=10"] {
        let arguments = format!("--name=a --ioengine=null --size=1t --filesize=4k {job}");
        let script = "ulimit -v 4000000; exec \"$0\" \"$@\"";
        let refused = shell(&scratch, script, &arguments);
        assert!(refused.stderr.contains("fio: a: 1,000,000,000 files take 373 GiB of memory"), "{}", refused.all());
        assert!(refused.code.is_some_and(|code| code > 0) && !refused.stderr.contains("panicked"), "{}", refused.all());
    }
}

/// In one line, before anything is made: without the refusal the program would be busy for minutes and then fail.
#[test]
fn more_jobs_than_the_machine_can_carry_are_refused() {
    let scratch = Scratch::new("too-many-jobs");
    for command in ["", "run "] {
        for kind in ["", " --thread"] {
            let job = format!("{command}--name=a --rw=write --size=4k --numjobs=1000000{kind}");
            // So that it is too many on each machine.
            let refused = shell(&scratch, "ulimit -v 2500000; exec \"$0\" \"$@\"", &job);
            let (n_lines, is_told) = (refused.stderr.lines().count(), refused.stderr.contains("set a lower numjobs"));
            assert!(n_lines == 1 && is_told && refused.stdout.is_empty(), "{job}: {}", refused.all());
            assert!(refused.code.is_some_and(|code| code > 0), "{job}: {}", refused.all());
        }
    }
    assert_eq!(std::fs::read_dir(scratch.path()).expect("a directory").count(), 0);
    // What it can carry, it does.
    let carried =
        Run::new(Program::Ferrio, scratch.path(), "--name=a --ioengine=null --size=4k --numjobs=200 --thread");
    assert!(carried.finish().succeeded().stdout.contains("Starting 200 threads"));
}
