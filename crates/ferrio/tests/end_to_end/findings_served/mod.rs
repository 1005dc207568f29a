//! Findings about files that a program serves (FUSE): made for real, by a small file system that a test can stop.
//!
//! Start reading at [`Served`].

use crate::findings::{has, ids};
use crate::support::{Program, Run, Scratch, has_programs, is_root, send, skip, succeeds_once, unmount};
use rustix::process::Signal;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The program that serves one file, `f`.
const PROGRAM: &str = include_str!("served.py");

/// A mounted file system whose program is a child of the test.
struct Served {
    scratch: Scratch,
    program: Child,
}

impl Served {
    /// `None`: nothing can be mounted.
    fn new(name: &str) -> Option<Self> {
        let scratch = Scratch::new(name);
        scratch.write("served.py", PROGRAM);
        std::fs::create_dir(scratch.join("mnt")).ok()?;
        let mut command = Command::new("python3");
        command.arg(scratch.join("served.py")).arg(scratch.join("mnt")).stdin(Stdio::null()).stdout(Stdio::piped());
        let program = command.stderr(Stdio::null()).spawn().ok()?;
        let mut served = Self { scratch, program };
        let mut line = String::new();
        BufReader::new(served.program.stdout.take()?).read_line(&mut line).ok()?;
        (line == "mounted\n").then_some(served)
    }

    fn at(&self) -> PathBuf {
        self.scratch.join("mnt")
    }

    /// The report of a run of two seconds, in which the program is stopped for a time.
    fn document(&self, stop: Duration) -> Value {
        let job = "run --json --name=a --filename=mnt/f --rw=randread --bs=4k --size=64m --ioengine=psync --time_based --runtime=2";
        let mut running = Run::new(Program::Ferrio, self.scratch.path(), job).start();
        running.wait_until("the job runs", |running| !running.jobs().is_empty());
        std::thread::sleep(Duration::from_millis(700));
        if !stop.is_zero() {
            send(self.program.id(), Signal::STOP);
            std::thread::sleep(stop);
            send(self.program.id(), Signal::CONT);
        }
        let finished = running.finish().succeeded();
        serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{}", finished.all()))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        send(self.program.id(), Signal::CONT);
        unmount(&self.at());
        // It ends by itself when it is unmounted.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// Seconds of the longest stall that is told; 0 without one.
fn longest_stall(document: &Value) -> f64 {
    let findings = document["findings"].as_array().expect("a list");
    let stalls = findings.iter().find(|finding| finding["id"] == "stalls");
    stalls.map_or(0.0, |finding| finding["evidence"][1]["value"].as_f64().expect("seconds"))
}

#[test]
fn a_program_that_stops_serving_for_half_a_second_is_a_stall() {
    let test = "a_program_that_stops_serving_for_half_a_second_is_a_stall";
    if !is_root(test) || !has_programs(test, &["python3", "umount"]) {
        return;
    }
    if !std::path::Path::new("/dev/fuse").exists() {
        return skip(test, "no /dev/fuse");
    }
    let Some(served) = Served::new("served-stopped") else {
        return skip(test, "no file system of a program can be mounted");
    };
    let stopped = served.document(Duration::from_millis(500));
    assert!(longest_stall(&stopped) > 0.4 && has(&ids(&stopped["findings"]), "below-unseen"), "{stopped}");
    // On a busy machine the program waits for a CPU at times, which is a shorter stall.
    assert!(succeeds_once(|| longest_stall(&served.document(Duration::ZERO)) < 0.3), "the program was not stopped");
}
