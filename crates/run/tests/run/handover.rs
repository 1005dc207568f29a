//! A wish to stop is heard whenever it comes: at each point where something happens in a run, and where one part of it hands over to the
//! next.
//!
//! Start reading at [`a_stop_is_heard_at_every_point`].

use crate::builder::{reader, settings, spec};
use crate::scratch::Scratch;
use ferrio_run::{Handle, Run, RunEvent, RunObserver, RunOutcome, RunSettings, TraceSettings};
use ferrio_spec::JobSpec;
use std::path::Path;

/// Where in a run it is stopped.
#[derive(Clone, Copy)]
enum Point {
    /// Behind so many events.
    After(usize),
    /// At the first event in which this is told.
    Told(&'static str),
}

/// Stops the run within that event.
struct Stopper {
    at: Point,
    handle: Handle,
    is_done: bool,
    n_events: usize,
    is_told: bool,
    /// What was told there.
    point: String,
}

impl RunObserver for Stopper {
    fn event(&mut self, event: RunEvent) {
        let is_there = match self.at {
            Point::After(n_before) => self.n_events == n_before,
            Point::Told(words) => match &event {
                RunEvent::Trace(text) => text.contains(words),
                RunEvent::Message(_, note) => ferrio_report::words::note(note).contains(words),
                _ => false,
            },
        };
        if is_there && !self.is_done {
            self.is_done = true;
            self.handle.stop();
            self.point = format!("{event:?}").chars().take(200).collect();
        }
        self.n_events += 1;
        self.is_told |= matches!(event, RunEvent::Stopping);
    }
}

/// Words of points that lines of jobs in their own time cannot move away: the layout of a file, what lies between layouts and
/// jobs, the start of a job, its way to the gate, its end.
const STRETCHES: &[&str] = &[
    "setup files",
    "runstate SETTING_UP -> NOT_CREATED",
    "diskutil",
    "runstate NOT_CREATED -> CREATED",
    "will fork",
    "will pthread_create",
    "runstate CREATED -> INITIALIZED",
    "runstate INITIALIZED -> RUNNING",
    "runstate RUNNING -> FINISHING",
    "runstate EXITED -> REAPED",
];

/// Jobs that lay out a file each: a process, a thread, one that lays out its file itself, and one that waits for another.
fn jobs(directory: &Path) -> Vec<JobSpec> {
    let mut jobs: Vec<JobSpec> =
        ["process", "thread", "itself", "waiting"].map(|name| reader(name, "psync", 16)).into();
    for job in &mut jobs {
        job.target.directories = vec![directory.to_owned()];
        job.layout.unlink = true;
    }
    jobs[1].worker.thread = true;
    jobs[2].layout.create_serialize = false;
    jobs[3].grouping.wait_for = Some("process".to_owned());
    jobs
}

/// A run that is stopped within that event, with much that is told.
fn run_with_stop(directory: &Path, at: Point) -> (RunOutcome, Stopper) {
    let trace = TraceSettings::new(["process", "diskutil", "job", "time", "file"], None);
    let run = Run::new(spec(jobs(directory)), RunSettings { trace, ..settings() }).unwrap();
    let mut stopper =
        Stopper { at, handle: run.handle(), is_done: false, n_events: 0, is_told: false, point: String::new() };
    let outcome = run.go(&mut stopper).unwrap();
    (outcome, stopper)
}

#[test]
fn a_stop_is_heard_at_every_point() {
    let scratch = Scratch::new("handover");
    let (outcome, undisturbed) = run_with_stop(scratch.path(), Point::After(usize::MAX));
    assert!(undisturbed.n_events > 20 && !outcome.is_stopped, "{} events", undisturbed.n_events);
    let counted = (0..undisturbed.n_events).map(Point::After);
    for at in counted.chain(STRETCHES.iter().map(|words| Point::Told(words))) {
        let (outcome, stopper) = run_with_stop(scratch.path(), at);
        // Lines of jobs come in their own time: there may be less of them.
        let is_short = matches!(at, Point::After(n_before) if stopper.n_events <= n_before);
        let is_heard = outcome.is_stopped && stopper.is_told;
        assert!(is_heard || is_short, "{}", stopper.point);
        assert_eq!((outcome.n_failed, outcome.record.workers.len()), (0, 4), "{}", stopper.point);
    }
}
