//! The driver of many runs on a terminal: progress, time left, messages, signals, rests.
//!
//! Must not know: kinds of runs. Start reading at [`RunsOnTerminal::start`].

use crate::shared::hosts::RunsOnHosts;
use crate::ui::console::Console;
use crate::ui::signals::Signals;
use crate::ui::step_bar::StepBar;
use crate::ui::step_bar::time_text;
use ferrio::session::runs::{RunDriver, RunNotice, WorkUnit};
use ferrio::session::{Observer, Session, SessionOutcome};
use ferrio_formats::native::note_text;
use ferrio_run::{RunError, RunEvent};
use ferrio_units::humanize::three_digits;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// How often a rest looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Makes the runs, and shows the progress.
pub(crate) struct RunsOnTerminal<'a> {
    signals: &'a Signals,
    bar: StepBar,
    begun: Instant,
    /// The time that all runs may take.
    time: Option<Duration>,
    /// The longest time of a run with the work before it, and the beginning of the last one.
    longest: Duration,
    last_begun: Option<Instant>,
    /// The part of the work that is shown, when it began here, and how much of it was done then.
    part: Option<(String, Instant, u64)>,
    /// Number of runs of earlier programs, in work that continues.
    n_before: Option<u64>,
    messages: Option<ShownMessages<'a>>,
    /// The hosts on which the runs are made; `None`: this one.
    hosts: Option<&'a mut RunsOnHosts>,
}

/// Messages of runs, each text once.
struct ShownMessages<'a> {
    console: &'a mut Console,
    known: HashSet<String>,
}

impl<'a> RunsOnTerminal<'a> {
    /// A bar of this number of steps, or of those that come (0).
    pub(crate) fn start(signals: &'a Signals, n_steps: usize) -> Self {
        Self {
            signals,
            bar: StepBar::start(n_steps),
            begun: Instant::now(),
            time: None,
            longest: Duration::ZERO,
            last_begun: None,
            part: None,
            n_before: None,
            messages: None,
            hosts: None,
        }
    }

    /// Each run is one of all these hosts; `None`: of this one.
    #[must_use]
    pub(crate) fn on(self, hosts: Option<&'a mut RunsOnHosts>) -> Self {
        Self { hosts, ..self }
    }

    /// Ends the runs before they take longer than that.
    #[must_use]
    pub(crate) fn within(self, time: Option<Duration>) -> Self {
        Self { time, ..self }
    }

    /// Shows messages of the runs, such as failures of jobs.
    #[must_use]
    pub(crate) fn telling(self, console: &'a mut Console) -> Self {
        Self { messages: Some(ShownMessages { console, known: HashSet::new() }), ..self }
    }

    /// Removes the bar.
    pub(crate) fn end(self) {
        self.bar.end();
    }

    fn show_runs(&mut self, notice: &RunNotice) {
        let n_here = notice.done - (*self.n_before.get_or_insert(notice.done)).min(notice.done);
        let left = (notice.unit == WorkUnit::EqualRuns && n_here > 0)
            .then(|| self.begun.elapsed().mul_f64((notice.whole - notice.done) as f64 / n_here as f64));
        let name = match left {
            Some(left) => format!("{}, {} left", notice.name, time_text(left)),
            None => notice.name.clone(),
        };
        self.bar.step_at(notice.number, &name, notice.whole);
        self.bar.set(notice.done, "");
    }

    fn show_bytes(&mut self, notice: &RunNotice) {
        if self.part.as_ref().is_none_or(|(name, ..)| *name != notice.name) {
            self.bar.step_at(notice.number, &notice.name, notice.whole);
            self.part = Some((notice.name.clone(), Instant::now(), notice.done));
        }
        let Some((_, begun, before)) = &self.part else { return };
        let (moved, time) = (notice.done.saturating_sub(*before), begun.elapsed());
        let figures = if moved == 0 || time.is_zero() {
            String::new()
        } else {
            let per_second = moved as f64 / time.as_secs_f64();
            let left = Duration::from_secs_f64((notice.whole - notice.done) as f64 / per_second);
            format!("{} MB/s, {} left", three_digits(per_second / 1e6), time_text(left))
        };
        self.bar.set(notice.done, &figures);
    }
}

impl RunDriver for RunsOnTerminal<'_> {
    fn begin(&mut self, notice: &RunNotice) {
        let now = Instant::now();
        self.longest = self.longest.max(self.last_begun.map_or(Duration::ZERO, |begun| now.duration_since(begun)));
        self.last_begun = Some(now);
        match notice.unit {
            WorkUnit::Runs | WorkUnit::EqualRuns => self.show_runs(notice),
            WorkUnit::Bytes => self.show_bytes(notice),
        }
    }

    fn run(&mut self, session: Session, n_hosts: Option<u32>) -> Result<SessionOutcome, RunError> {
        let mut messages = Messages(Vec::new());
        let outcome = match &mut self.hosts {
            Some(hosts) => {
                self.signals.steer(session.handle());
                hosts.run(&session, n_hosts, &mut |text| messages.0.push(text))
            }
            // Commands that take a number of hosts refuse it without hosts.
            None if n_hosts.is_some() => return Err(RunError::Elsewhere("there are no hosts".into())),
            None => self.signals.run(session, &mut [&mut messages]),
        };
        let Some(shown) = &mut self.messages else { return outcome };
        self.bar.aside(|| {
            for text in messages.0 {
                if shown.known.insert(text.clone()) {
                    shown.console.error(&format!("{}\n", text.trim_end()));
                }
            }
        });
        outcome
    }

    fn rest(&mut self, rest: Duration) {
        let end = Instant::now() + rest;
        while !self.is_stopped() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(LOOK));
        }
    }

    fn is_stopped(&self) -> bool {
        self.signals.first().is_some()
    }

    fn is_out_of_time(&self) -> bool {
        let (Some(time), Some(last_begun)) = (self.time, self.last_begun) else { return false };
        self.begun.elapsed() + self.longest.max(last_begun.elapsed()) > time
    }
}

/// Messages of a run for the user.
struct Messages(Vec<String>);

impl Observer for Messages {
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Message(_, note) = event {
            self.0.push(note_text(note));
        }
    }
}
