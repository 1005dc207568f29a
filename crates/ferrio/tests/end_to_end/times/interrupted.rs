//! A signal while a closing sync takes its time.
//!
//! Must not know: the table of cases.

use super::report::Report;
use super::{Tolerance, can_delay};
use crate::support::{Program, Run, Scratch, send};
use rustix::process::Signal;

/// A run in its closing sync has done its I/O: its report has all of it, and the time of the sync.
#[test]
fn a_signal_within_a_closing_sync_leaves_the_figures_whole() {
    if !can_delay("a_signal_within_a_closing_sync_leaves_the_figures_whole") {
        return;
    }
    let scratch = Scratch::in_memory("times-signal");
    let job = "--name=j --filename=f --size=32k --bs=8k --rw=write --ioengine=psync --end_fsync=1";
    // With -D the process that was started is ferrio's and not the tracer's.
    let strace = "strace -D -f -qq -o calls -e trace=pwrite64,fsync -e inject=fsync:delay_exit=600000";
    let arguments = format!("{job} --output-format=json --output=report");
    let mut running = Run::new(Program::Ferrio, scratch.path(), &arguments).under(strace).start();
    let n_writes = || {
        let calls = std::fs::read_to_string(scratch.join("calls")).unwrap_or_default();
        calls.lines().filter(|line| line.contains("pwrite64(") && line.contains("= 8192")).count()
    };
    running.wait_until("four writes", |_| n_writes() >= 4);
    send(running.pid(), Signal::INT);
    let finished = running.finish();
    assert_eq!(finished.code, Some(128), "{}", finished.all());
    let report = Report::read(&scratch.read("report")).expect("a report");
    report.check("job=600 write=600 write.n=4", Tolerance::of_attempt(10)).expect("times");
}
