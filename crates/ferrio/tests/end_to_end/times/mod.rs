//! What lies inside a runtime, a rate, a latency: system calls that a tracer delays by known amounts, in ferrio and in the peer.
//!
//! A case names calls with their delays, a job, and the times that its report must have. The times are arithmetic: with
//! `fsync` delayed by 300 ms a job with `end_fsync=1` takes 300 ms. What the machine adds to that depends on its other work, so a
//! case has several attempts; nothing takes time away from a delay, so a time that is too short fails at once.
//! Start reading at [`all_times_are_right`]; the cases are in the files below this folder.

mod around;
mod engines;
mod interrupted;
mod pace;
mod report;
mod syncs;
mod verified;

use crate::engines_net::free_port;
use crate::support::{Program, Run, Scratch, has_peer, skip, tool};
use report::Report;
use std::fmt::Write as _;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of cases that run at the same time: they spend most of their time asleep.
const N_AT_ONCE: usize = 5;

/// Attempts of a case until its times are right.
const N_ATTEMPTS: u32 = 12;

/// What a machine may add to a time, ms, beside [`Tolerance::share`]: at the first attempt, with each further one, and at most.
/// The most is less than any delay that a fault would add or leave out.
const SLACK_MS: [f64; 3] = [30.0, 10.0, 80.0];

/// What a machine may add to a time, and what a delay may lack, as a share of the time; in the same way.
const SHARE: [f64; 3] = [0.15, 0.01, 0.25];

/// What an attempt allows.
#[derive(Clone, Copy)]
pub(super) struct Tolerance {
    pub(super) slack_ms: f64,
    pub(super) share: f64,
}

impl Tolerance {
    fn of_attempt(attempt: u32) -> Self {
        let grown = |[first, step, most]: [f64; 3]| f64::from(attempt).mul_add(step, first).min(most);
        Self { slack_ms: grown(SLACK_MS), share: grown(SHARE) }
    }
}

/// A job, some of whose system calls are delayed.
pub(super) struct Case {
    /// Calls and their delays, ms: `fsync=300 pread64,pwrite64=5`. `close=50@f`: calls to the file `f` alone. `fsync=50:when=2`: the
    /// second call alone.
    pub(super) delays: &'static str,
    /// Arguments of fio; `{port}` is a free port.
    pub(super) arguments: &'static str,
    /// The times that each job of the report must have, ms, and numbers of I/Os: `job=300 write=300 write.lat.max=0 write.n=4`.
    /// `w:job=300`: the job `w` alone.
    pub(super) times: &'static str,
    /// Whether the peer has the same times.
    pub(super) peer: Peer,
}

/// How the peer's report of a case differs from its times.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    Same,
    /// The peer has other times, for this reason.
    Differs(&'static str),
}

/// A case whose times the peer has, too.
pub(super) const fn same(delays: &'static str, arguments: &'static str, times: &'static str) -> Case {
    Case { delays, arguments, times, peer: Peer::Same }
}

/// A case whose times the peer does not have.
pub(super) const fn own(
    delays: &'static str,
    arguments: &'static str,
    times: &'static str,
    reason: &'static str,
) -> Case {
    Case { delays, arguments, times, peer: Peer::Differs(reason) }
}

fn cases() -> Vec<&'static Case> {
    [syncs::CASES, verified::CASES, pace::CASES, engines::CASES, around::CASES].into_iter().flatten().collect()
}

/// True if strace can delay system calls here; else the test is reported as skipped.
pub(super) fn can_delay(test: &str) -> bool {
    let works = tool("strace -f --seccomp-bpf -qq -o /dev/null -e trace=fsync -e inject=fsync:delay_exit=1000 true");
    if works.is_none() {
        skip(test, "needs strace that can delay system calls");
    }
    works.is_some()
}

/// The command that delays system calls of the program behind it.
pub(super) fn tracer(delays: &str, scratch: &Scratch) -> String {
    let mut command = "strace -f --seccomp-bpf -qq -o /dev/null".to_owned();
    let mut names = Vec::new();
    for delay in delays.split_whitespace() {
        let (calls, rest) = delay.split_once('=').expect("calls=delay");
        let (rest, file) = rest.split_once('@').map_or((rest, None), |(rest, file)| (rest, Some(file)));
        let (ms, when) = rest.split_once(':').map_or((rest, String::new()), |(ms, when)| (ms, format!(":{when}")));
        let us = ms.parse::<u32>().expect("a number of ms") * 1_000;
        names.extend(calls.split(','));
        write!(command, " -e inject={calls}:delay_exit={us}{when}").expect("a string");
        if let Some(file) = file {
            write!(command, " -P {file} -P {}", scratch.join(file).display()).expect("a string");
        }
    }
    write!(command, " -e trace={}", names.join(",")).expect("a string");
    command
}

/// A trace whose I/Os begin 100 ms apart.
const TRACE: &str = "fio version 3 iolog\n0 f add\n0 f open\n100000 f write 0 8192\n200000 f write 8192 8192\n\
                     300000 f write 16384 8192\n300000 f close\n";

/// What is wrong with the times of a report.
fn complaint(program: Program, case: &Case, tolerance: Tolerance) -> Result<(), String> {
    let scratch = Scratch::in_memory("times");
    scratch.write("trace", TRACE);
    scratch.write("pause", "#!/bin/sh\nsleep 0.3\n");
    std::fs::set_permissions(scratch.join("pause"), Permissions::from_mode(0o755)).expect("a script");
    let mut arguments = format!("{} --output-format=json --output=report", case.arguments);
    if arguments.contains("{port}") {
        arguments = arguments.replace("{port}", &free_port().to_string());
    }
    let mut run = Run::new(program, scratch.path(), &arguments);
    if !case.delays.is_empty() {
        run = run.under(&tracer(case.delays, &scratch));
    }
    let finished = if program == Program::Peer {
        // fio 3.41 was seen to hang when other threads submit: one attempt less.
        catch_unwind(AssertUnwindSafe(|| run.finish())).map_err(|_| "it did not end".to_owned())?
    } else {
        run.finish()
    };
    let report = Report::read(&scratch.read("report")).map_err(|error| format!("{error}: {}", finished.all()))?;
    report.check(case.times, tolerance)
}

/// The last complaint about a case, when no attempt was right.
fn last_complaint(program: Program, case: &Case) -> Option<String> {
    let mut last = None;
    for attempt in 0..N_ATTEMPTS {
        match complaint(program, case, Tolerance::of_attempt(attempt)) {
            Ok(()) => return None,
            Err(complaint) => last = Some(complaint),
        }
    }
    let Case { delays, arguments, times, .. } = case;
    last.map(|last| format!("{program:?}: {delays} | {arguments} | {times}\n    {last}\n"))
}

#[test]
fn all_times_are_right() {
    const NAME: &str = "all_times_are_right";
    if !can_delay(NAME) {
        return;
    }
    let programs: &[Program] = if has_peer(NAME) { &[Program::Peer, Program::Ferrio] } else { &[Program::Ferrio] };
    let wanted = std::env::var("FERRIO_TIMES").unwrap_or_default();
    let all = cases();
    let chosen: Vec<&Case> = all.into_iter().filter(|case| case.arguments.contains(&wanted)).collect();
    let next = AtomicUsize::new(0);
    let look = || {
        let mut found = String::new();
        while let Some(case) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            let is_own = |program: &&Program| **program == Program::Peer && case.peer != Peer::Same;
            let programs = programs.iter().filter(|program| !is_own(program));
            programs.filter_map(|program| last_complaint(*program, case)).for_each(|complaint| found += &complaint);
        }
        found
    };
    let found: String = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..N_AT_ONCE).map(|_| scope.spawn(look)).collect();
        workers.into_iter().map(|worker| worker.join().expect("it returns")).collect()
    });
    assert!(found.is_empty(), "{found}");
}

/// The table has the kinds of cases that it promises, and each difference from the peer has a reason.
#[test]
fn the_table_is_large() {
    let all = cases();
    assert!(all.len() >= 130, "{}", all.len());
    for case in all {
        let Peer::Differs(reason) = case.peer else { continue };
        assert!(reason.len() > 20 && reason.ends_with('.'), "{}: {reason}", case.arguments);
    }
}
