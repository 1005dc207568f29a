//! A signal while a closing sync takes its time.
//!
//! Must not know: the table of cases.

use super::report::Report;
use super::{N_ATTEMPTS, Tolerance, can_delay};
use crate::support::{Program, Run, Scratch, send};
use rustix::process::Signal;

/// A run in its closing sync has done its I/O: its report has all of it, and the time of the sync.
#[test]
fn a_signal_within_a_closing_sync_leaves_the_figures_whole() {
    if !can_delay("a_signal_within_a_closing_sync_leaves_the_figures_whole") {
        return;
    }
    let mut complaints = Vec::new();
    for attempt in 0..N_ATTEMPTS {
        match complaint(Tolerance::of_attempt(attempt)) {
            Ok(()) => return,
            Err(complaint) => complaints.push(complaint),
        }
    }
    panic!("{}", complaints.join("\n"));
}

/// What is wrong with the times of a run that gets a signal. All else must be right at the first attempt.
fn complaint(tolerance: Tolerance) -> Result<(), String> {
    let scratch = Scratch::in_memory("times-signal");
    let job = "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --end_fsync=1";
    // With -D the process that was started is ferrio's and not the tracer's.
    let strace = "strace -D -f -r -qq -o calls -e trace=pwrite64,fsync -e inject=fsync:delay_exit=600000";
    let arguments = format!("{job} --output-format=json --output=report");
    let mut running = Run::new(Program::Ferrio, scratch.path(), &arguments).under(strace).start();
    let calls = || std::fs::read_to_string(scratch.join("calls")).unwrap_or_default();
    let number_of =
        |call: &str, end: &str| calls().lines().filter(|line| line.contains(call) && line.contains(end)).count();
    running.wait_until("four writes", |_| number_of("pwrite64(", "= 8192") >= 4);
    send(running.pid(), Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(128), "{}", finished.all());
    assert_eq!(number_of("fsync", "(DELAYED)"), 1, "{}", calls());
    let report = Report::read(&scratch.read("report")).expect("a report");
    report.check("write.n=4", tolerance).expect("all writes");
    report.check("job=600 write=600", tolerance).map_err(|complaint| format!("{complaint}\n{}", calls()))
}
