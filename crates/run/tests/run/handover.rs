//! A request to stop is handled whenever it comes: at each event of a run, and between the parts of a run.
//!
//! Start reading at [`a_stop_is_heard_at_every_point`].

use crate::builder::{reader, settings, spec};
use crate::scratch::Scratch;
use ferrio_run::{Handle, Run, RunEvent, RunObserver, RunOutcome, RunSettings, TraceSettings};
use ferrio_spec::JobSpec;
use std::path::Path;

/// The point at which a run is stopped.
#[derive(Clone, Copy)]
enum Point {
    /// After this many events.
    After(usize),
    /// At the first event with this text.
    Told(&'static str),
}

/// Stops the run within that event.
struct Stopper {
    at: Point,
    handle: Handle,
    is_done: bool,
    n_events: usize,
    is_told: bool,
    /// The text of the event.
    point: String,
}

impl RunObserver for Stopper {
    fn event(&mut self, event: RunEvent) {
        let is_there = match self.at {
            Point::After(n_before) => self.n_events == n_before,
            Point::Told(words) => match &event {
                RunEvent::Trace(text) => text.contains(words),
                RunEvent::Message(_, note) => ferrio_formats::words::note(note).contains(words),
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

/// Texts of points that do not depend on the timing of jobs: the layout of a file, the time between layouts and jobs,
/// the start of a job, its way to the gate, its end.
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

/// Jobs that each lay out a file: a process, a thread, one that lays out its file itself, and one that waits for
/// another.
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

/// Runs with many messages, and stops within that event.
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
        // The timing of jobs may lead to fewer lines.
        let is_short = matches!(at, Point::After(n_before) if stopper.n_events <= n_before);
        let is_heard = outcome.is_stopped && stopper.is_told;
        assert!(is_heard || is_short, "{}", stopper.point);
        assert_eq!((outcome.n_failed, outcome.record.workers.len()), (0, 4), "{}", stopper.point);
    }
}
