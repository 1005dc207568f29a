//! A run is interrupted, at any moment and in different ways: its output must still be readable.
//!
//! The moments are drawn from a seed. A busy machine shifts them relative to the run, but the checks hold at any
//! moment. Start reading at [`check_documents`].

use crate::json_stream::{documents, messages};
use crate::support::{Finished, Program, Run, Running, Scratch, has_programs, is_root, send, skip, tool, unmount};
use rustix::process::Signal;
use std::path::PathBuf;
use std::time::Duration;

/// Formats, and whether reports are asked for with SIGUSR1 before the end.
const FORMATS: [(&str, bool); 4] = [("json", false), ("json+", false), ("terse", false), ("json", true)];

/// A layout, a ramp, jobs one after the other, threads and processes; endless, so that only a signal ends it.
const ENDLESS: &str = "[global]\nsize=2m\nbs=4k\nfallocate=none\ntime_based\n\
                       [ramp]\nrw=randread\nramp_time=20ms\nruntime=40ms\nnumjobs=2\n\
                       [threads]\nstonewall\nioengine=null\nthread\nnumjobs=2\nruntime=15ms\n\
                       [first]\nstonewall\nrw=write\nruntime=10ms\n\
                       [last]\nstonewall\nioengine=null\nsize=1t\nruntime=100000\n";

/// Draws of a linear congruential generator (the constants of Knuth's MMIX).
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// Half of the moments are in the first 10 ms, the others in the first 160 ms.
    fn moment(&mut self) -> Duration {
        let bound_us = if self.below(2) == 0 { 10_000 } else { 160_000 };
        Duration::from_micros(self.below(bound_us))
    }
}

/// Fails unless the output is whole: documents alone, or lines of terse and messages. Returns the number of reports.
fn check_documents(format: &str, output: &str, what: &str) -> usize {
    if format.starts_with("json") {
        return documents(output, what).len();
    }
    assert!(output.is_empty() || output.ends_with('\n'), "{what}");
    let is_line = |line: &&str| line.starts_with("3;");
    let is_message = |line: &str| line.is_empty() || line.starts_with("fio: ");
    let is_whole = |line: &str| line.split(';').count() >= 121;
    assert!(output.lines().all(|line| is_message(line) || (is_line(&line) && is_whole(line))), "{what}");
    // Four jobs without clones, two with one each.
    assert_eq!(output.lines().filter(is_line).count() % 6, 0, "{what}");
    output.lines().filter(is_line).count() / 6
}

fn start(scratch: &Scratch, format: &str) -> Running {
    scratch.write("jobs.fio", ENDLESS);
    Run::new(Program::Ferrio, scratch.path(), &format!("jobs.fio --output-format={format}")).start()
}

/// Checks a run that received signals. If the first one came before it listened, it died without output.
fn check_ended(format: &str, finished: &Finished, told: &[Signal]) {
    let what = finished.all();
    assert_eq!(finished.stderr, "", "{what}");
    let n_reports = check_documents(format, &finished.stdout, &what);
    match finished.signal {
        None => assert!(finished.code == Some(128) && n_reports >= 1, "{what}"),
        Some(signal) => {
            assert!(told.iter().any(|told| told.as_raw() == signal) && finished.stdout.is_empty(), "{what}");
        }
    }
}

#[test]
fn told_to_end_at_any_moment() {
    let mut draws = Draws(20_261_120);
    for (format, asks) in FORMATS.into_iter().chain([("json --status-interval=3ms", false)]) {
        for told in [&[Signal::INT][..], &[Signal::TERM], &[Signal::INT, Signal::INT], &[Signal::TERM, Signal::INT]] {
            for _ in 0..5 {
                let scratch = Scratch::new("told-to-end");
                let running = start(&scratch, format);
                let asked = if asks { &[Signal::USR1, Signal::USR1][..] } else { &[] };
                for signal in asked.iter().chain(told) {
                    std::thread::sleep(draws.moment());
                    send(running.pid(), *signal);
                }
                check_ended(format, &running.finish(), &[asked, told].concat());
            }
        }
    }
}

#[test]
fn told_to_end_while_jobs_run() {
    for (format, asks) in FORMATS {
        let scratch = Scratch::new("told-while-running");
        let mut running = start(&scratch, format);
        running.wait_until("a job", |running| !running.jobs().is_empty());
        if asks {
            send(running.pid(), Signal::USR1);
            std::thread::sleep(Duration::from_millis(20));
        }
        send(running.pid(), Signal::INT);
        let finished = running.finish();
        assert_eq!(finished.signal, None, "{}", finished.all());
        check_ended(format, &finished, &[Signal::INT]);
        if format.starts_with("json") {
            let all = documents(&finished.stdout, "documents alone");
            let last = all.last().expect("a document");
            assert_eq!(last["jobs"].as_array().map(Vec::len), Some(6), "{}", finished.all());
            assert_eq!(messages(last), ["info: fio: terminating on signal 2"]);
        }
    }
}

/// Jobs that end by themselves and must not be affected by the others.
const ENDING: &str = "--name=a --ioengine=null --size=1t --time_based --runtime=150ms --numjobs=3";

#[test]
fn jobs_that_die_at_any_moment() {
    let mut draws = Draws(7);
    for (format, _) in FORMATS {
        for signal in [Signal::KILL, Signal::SEGV, Signal::KILL] {
            let scratch = Scratch::new("dying");
            let arguments = format!("{ENDING} --output-format={format}");
            let running = Run::new(Program::Ferrio, scratch.path(), &arguments).start();
            std::thread::sleep(draws.moment());
            let victim = running.jobs().first().copied();
            victim.inspect(|pid| send(*pid, signal));
            let finished = running.finish();
            let what = finished.all();
            assert!(matches!(finished.code, Some(0 | 1)), "{what}");
            if format == "terse" {
                assert_eq!(finished.stdout.lines().count(), 3, "{what}");
                continue;
            }
            let [document] = &documents(&finished.stdout, &what)[..] else { panic!("one document: {what}") };
            assert_eq!(document["jobs"].as_array().map(Vec::len), Some(3), "{what}");
            let killed = document["ferrio"]["killed"].as_array().map_or(0, Vec::len);
            assert_eq!(Some(killed as i32), finished.code, "{what}");
            // A job that was about to end may have been quicker.
            let line = victim.map(|pid| format!("error: fio: pid={pid}, got signal={}", signal.as_raw()));
            let said = messages(document);
            assert!(said.is_empty() || Some(&said) == line.map(|line| vec![line]).as_ref(), "{what}");
        }
    }
}

#[test]
fn a_job_that_is_killed_while_it_runs_is_named_in_the_document() {
    let scratch = Scratch::new("named");
    let arguments = "--name=a --ioengine=null --size=1t --time_based --runtime=100000 --output-format=json";
    let mut running = Run::new(Program::Ferrio, scratch.path(), arguments).start();
    running.wait_until("the job", |running| running.jobs().len() == 1);
    let job = running.jobs()[0];
    send(job, Signal::KILL);
    let finished = running.finish();
    let line = format!("fio: pid={job}, got signal=9");
    assert_eq!((finished.code, finished.stderr.trim_end()), (Some(1), line.as_str()), "{}", finished.all());
    let document = &documents(&finished.stdout, "one")[0];
    assert_eq!(messages(document), [format!("error: {line}")]);
    let expected = serde_json::json!([{"jobname": "a", "groupid": 0, "pid": job, "signal": 9}]);
    assert_eq!((&document["ferrio"]["killed"], &document["jobs"][0]["error"]), (&expected, &0.into()));
}

#[test]
fn a_reader_that_goes_away() {
    let mut draws = Draws(3);
    for (format, _) in FORMATS {
        for n_bytes in [0, 1, 4096, draws.below(6_000)] {
            let scratch = Scratch::new("closed");
            let script = format!("{{ \"$0\" \"$@\"; echo code=$? >&2; }} | head -c {n_bytes}");
            // More than a pipe holds.
            let arguments = format!("--name=a --ioengine=null --size=4k --numjobs=30 --output-format={format}");
            let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).in_shell(&script).finish();
            let is_known = ["code=0\n", "code=1\n"].contains(&finished.stderr.as_str());
            assert!(is_known && finished.stdout.len() as u64 == n_bytes, "{}", finished.all());
            assert!(format == "terse" || finished.stderr == "code=1\n", "{}", finished.all());
        }
    }
}

/// A file system in memory that is soon full.
struct SmallFileSystem(PathBuf);

impl SmallFileSystem {
    fn new(test: &str, scratch: &Scratch, n_pages: u64) -> Option<Self> {
        if !is_root(test) || !has_programs(test, &["mount"]) {
            return None;
        }
        let path = scratch.join("small");
        std::fs::create_dir_all(&path).expect("a directory");
        let mounted = tool(&format!("mount -t tmpfs -o size={} none {}", n_pages * 4096, path.display()));
        if mounted.is_none() {
            skip(test, "no tmpfs here");
        }
        mounted.map(|_| Self(path))
    }
}

impl Drop for SmallFileSystem {
    fn drop(&mut self) {
        unmount(&self.0);
    }
}

/// Ways to write the output into the file `small/out`; with `>>` the file already contains a document.
const WAYS: [(&str, &str, bool); 3] = [
    ("exec \"$0\" \"$@\" --output=small/out", "--output", false),
    ("exec \"$0\" \"$@\" > small/out", "standard output", false),
    ("exec \"$0\" \"$@\" >> small/out", "standard output, appended", true),
];

#[test]
fn an_output_without_room_for_a_document() {
    let test = "an_output_without_room_for_a_document";
    let job = "--name=a --ioengine=null --size=256k --output-format";
    for (format, _) in FORMATS {
        for n_pages in [1, 2, 3, 7] {
            let scratch = Scratch::new(test);
            let Some(small) = SmallFileSystem::new(test, &scratch, n_pages) else { return };
            for (script, way, is_appended) in WAYS {
                let before = if is_appended { "{}\n" } else { "" };
                for n_clones in [1, 3, 40] {
                    std::fs::write(small.0.join("out"), before).expect("room for three bytes");
                    let arguments = format!("{job}={format} --numjobs={n_clones}");
                    let finished = Run::new(Program::Ferrio, scratch.path(), &arguments).in_shell(script).finish();
                    let output = std::fs::read_to_string(small.0.join("out")).expect("it is there");
                    let what = format!("{way}, {n_pages} pages, {n_clones} jobs\n{}", finished.all());
                    let no_room = "fio: cannot write the output: No space left on device (os error 28)\n";
                    assert!(output.starts_with(before), "{what}");
                    if format == "terse" {
                        assert_eq!(output.trim_start_matches(before).lines().count() % n_clones, 0, "{what}");
                    } else {
                        documents(&output, &what);
                    }
                    match finished.code {
                        Some(0) => assert!(finished.stderr.is_empty() && output.len() > before.len(), "{what}"),
                        code => assert!(code == Some(1) && finished.stderr == no_room, "{what}"),
                    }
                }
            }
        }
    }
}

#[test]
fn documents_on_demand_until_there_is_no_room() {
    let test = "documents_on_demand_until_there_is_no_room";
    for (script, way, _) in WAYS {
        let scratch = Scratch::new(test);
        let job = "--name=a --ioengine=null --size=1t --time_based --output-format=json";
        let document = Run::new(Program::Ferrio, scratch.path(), &format!("{job} --runtime=1ms")).finish().stdout;
        // Room for two documents, but not for a third.
        let n_pages = document.len() as u64 * 5 / 2 / 4096;
        let Some(small) = SmallFileSystem::new(test, &scratch, n_pages) else { return };
        let arguments = &format!("{job} --runtime=100000");
        let mut running = Run::new(Program::Ferrio, scratch.path(), arguments).in_shell(script).start();
        let size = || std::fs::metadata(small.0.join("out")).map_or(0, |metadata| metadata.len());
        running.wait_until("the job", |running| running.jobs().len() == 1);
        send(running.pid(), Signal::USR1);
        running.wait_until("a document", |_| size() > 0);
        send(running.pid(), Signal::USR1);
        running.wait_until("another", |_| size() > document.len() as u64 * 3 / 2);
        // Neither this one nor that of the end.
        send(running.pid(), Signal::USR1);
        send(running.pid(), Signal::INT);
        let finished = running.finish();
        let what = format!("{way}\n{}", finished.all());
        let output = std::fs::read_to_string(small.0.join("out")).expect("it is there");
        assert!(!documents(&output, &what).is_empty(), "{what}");
        assert_eq!(finished.code, Some(129), "{what}");
        assert_eq!(finished.stderr.matches("cannot write the output").count(), 1, "{what}");
    }
}

#[test]
fn a_standard_output_that_takes_nothing() {
    for (format, _) in FORMATS {
        let scratch = Scratch::new("takes-nothing");
        let arguments = format!("--name=a --ioengine=null --size=64k --output-format={format}");
        let run = Run::new(Program::Ferrio, scratch.path(), &arguments).in_shell("exec \"$0\" \"$@\" > /dev/full");
        let finished = run.finish();
        let text = "fio: cannot write the output: No space left on device (os error 28)\n";
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(1), text), "{}", finished.all());
    }
}

/// Only one zone may be open. The job that has it is killed; another job takes it over, and continues at its write
/// pointer.
#[test]
fn a_killed_job_keeps_no_zone() {
    for beside in ["", "stonewall\n"] {
        let scratch = Scratch::new("killed-with-a-zone");
        scratch.write("f", vec![0; 256 << 10]);
        let jobs = format!(
            "[global]\nfilename=f\nsize=256k\nbs=4k\nzonemode=zbd\nzonesize=64k\nmax_open_zones=1\n\
             [a]\nrw=randwrite\nrate_iops=1\n[b]\n{beside}rw=write\n"
        );
        scratch.write("jobs.fio", jobs);
        let mut running =
            Run::new(Program::Ferrio, scratch.path(), "jobs.fio --output-format=json --output=out").start();
        running.wait_until("a write", |_| {
            std::fs::read(scratch.join("f")).is_ok_and(|bytes| bytes.iter().any(|byte| *byte != 0))
        });
        let job = running.jobs()[0];
        send(job, Signal::KILL);
        let finished = running.finish();
        let document: serde_json::Value = serde_json::from_str(&scratch.read("out")).expect("JSON");
        let what = format!("{}\n{document}", finished.all());
        assert_eq!((finished.code, &document["ferrio"]["killed"][0]["pid"]), (Some(1), &job.into()), "{what}");
        let last = &document["jobs"][1];
        // The dead job left at most 15 blocks of room in its zone; it may be the last zone of the file.
        let n_written = last["write"]["total_ios"].as_u64().expect("a number");
        assert!(last["error"] == 0 && n_written >= 12, "{what}");
    }
}
