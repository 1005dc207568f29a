//! The runs of a sweep on a terminal: a bar, signals, rests.
//!
//! Must not know: points, records. Start reading at [`RunsOnTerminal`].

use crate::console::Console;
use crate::signals::Signals;
use crate::step_bar::StepBar;
use ferrio_report::native::note_text;
use ferrio_run::{RunError, RunEvent};
use ferrio_session::{Observer, Session, SessionOutcome};
use ferrio_sweep::space::SweepPoint;
use ferrio_sweep::{Conductor, SweepPlan, SweepStep};
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// How often a rest looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Conducts the runs, and shows how far they are.
pub(super) struct RunsOnTerminal<'a> {
    n_repeats: u32,
    /// The number of runs is known before.
    is_counted: bool,
    console: &'a mut Console,
    signals: Signals,
    bar: StepBar,
    begun: Instant,
    /// The time that all runs may take.
    time: Option<Duration>,
    /// The longest time of a run with what stands before it, and when the last one began.
    longest: Duration,
    last_begun: Option<Instant>,
    n_made_before: Option<usize>,
    /// What earlier runs have said: each text is shown once.
    said: HashSet<String>,
}

impl<'a> RunsOnTerminal<'a> {
    /// Listens for signals from now on.
    ///
    /// # Errors
    /// In words: the system has no descriptor left.
    pub(super) fn start(plan: &SweepPlan, time: Option<Duration>, console: &'a mut Console) -> Result<Self, String> {
        let signals = Signals::listen(true).map_err(|error| error.to_string())?;
        let (n_repeats, is_counted) = (plan.n_repeats, plan.limit.is_none());
        let bar = StepBar::start(if is_counted { plan.n_runs() } else { 0 });
        let (begun, said) = (Instant::now(), HashSet::new());
        let (longest, last_begun, n_made_before) = (Duration::ZERO, None, None);
        Ok(Self { n_repeats, is_counted, console, signals, bar, begun, time, longest, last_begun, n_made_before, said })
    }

    /// Removes the bar; the signal that has ended the runs.
    pub(super) fn end(self) -> Option<i32> {
        self.bar.end();
        self.signals.first()
    }

    /// The time that is left, if the other runs take as long as those that were made.
    fn left(&self, n_made: usize, n_all: usize) -> Option<Duration> {
        let n_here = n_made - self.n_made_before?;
        (n_here > 0).then(|| self.begun.elapsed().mul_f64((n_all - n_made) as f64 / n_here as f64))
    }
}

impl Conductor for RunsOnTerminal<'_> {
    fn has_made_one(&self) -> bool {
        self.n_made_before.is_some()
    }

    fn next(&mut self, point: &SweepPoint, step: SweepStep, n_made: usize, n_all: usize) {
        self.n_made_before.get_or_insert(n_made);
        let now = Instant::now();
        self.longest = self.longest.max(self.last_begun.map_or(Duration::ZERO, |begun| now.duration_since(begun)));
        self.last_begun = Some(now);
        let mut name = point.to_string();
        if self.n_repeats > 1 {
            name = format!("{name} (run {})", step.repeat_index + 1);
        }
        if let Some(left) = self.left(n_made, n_all).filter(|_| self.is_counted) {
            name = format!("{name}, {} left", super::table::time_text(left));
        }
        self.bar.step_at(n_made + 1, &name, n_all as u64);
        self.bar.set(n_made as u64, "");
    }

    fn run(&mut self, session: Session) -> Result<SessionOutcome, RunError> {
        let mut messages = Messages(Vec::new());
        let outcome = self.signals.run(session, &mut [&mut messages]);
        let (console, said) = (&mut *self.console, &mut self.said);
        self.bar.aside(|| {
            for text in messages.0 {
                if !said.contains(&text) {
                    console.error(&format!("{}\n", text.trim_end()));
                    said.insert(text);
                }
            }
        });
        outcome
    }

    fn rest(&mut self, rest: Duration) {
        let end = Instant::now() + rest;
        while self.signals.first().is_none() {
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
        let Some(time) = self.time.filter(|_| self.has_made_one()) else { return false };
        let last = self.last_begun.map_or(Duration::ZERO, |begun| begun.elapsed());
        self.begun.elapsed() + self.longest.max(last) > time
    }
}

/// What a run says to a person.
struct Messages(Vec<String>);

impl Observer for Messages {
    fn event(&mut self, event: &RunEvent) {
        if let RunEvent::Message(_, note) = event {
            self.0.push(note_text(note));
        }
    }
}
