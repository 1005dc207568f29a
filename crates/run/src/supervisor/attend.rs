//! What the watch does for somebody outside: signals, triggers, reports of the running state, samples for a log.
//!
//! Must not know: who asks at which time (see [`super::agenda`]). Start reading at [`Watch::attend`].
//! Facts: reference "Environment, files, signals, exit codes".

use super::board::{Shown, WorkerState, attention};
use super::eta;
use super::idle::IdleWatch;
use super::outcome::{self, Moment};
use super::watch::Watch;
use crate::events::{RunEvent, Stream};
use ferrio_sys::signals;
use std::io;
use std::os::fd::AsFd;
use std::process::Command;
use std::time::{Duration, Instant};

/// Workers have this long to send their figures for a report; one that waits for its device all that time is shown as
/// it was when it sent them last.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(1);

impl Watch<'_> {
    /// Looks at what came and what is due. Cheap: it may be called as often as somebody has time for it.
    pub(super) fn attend(&mut self) {
        let pending = signals::take_pending();
        let due = self.agenda.take_due(Instant::now());
        if pending.user1 > 0 || due.status {
            self.ask_for_figures();
        }
        self.report_when_complete();
        if due.trigger {
            self.ask_for_states();
            self.end_all();
            self.triggered_at.get_or_insert_with(Instant::now);
        }
        self.start_command_when_saved();
        let number = if pending.interrupts > 0 { Some(2) } else { (pending.terminations > 0).then_some(15) };
        if let Some(number) = number {
            self.signal = self.signal.or(Some(number));
            let text = format!("\nfio: terminating on signal {number}");
            self.observer.event(RunEvent::Message(Stream::Info, text));
            self.end_all();
        }
    }

    /// Ends all workers; those that wait are not started.
    fn end_all(&mut self) {
        self.told_at.get_or_insert_with(Instant::now);
        (0..self.records.len()).for_each(|index| self.end_worker(index));
    }

    /// Before the jobs are told to end: they would be gone without it.
    fn ask_for_states(&mut self) {
        for (index, record) in self.records.iter().enumerate() {
            let has_state = self.plan.workers[index].spec.verify.is_some();
            if has_state && record.is_running() && self.board.slot(index).state() >= WorkerState::Ramping {
                self.board.slot(index).ask(attention::SAVE_STATE);
            }
        }
    }

    /// What the command does may be the end of the machine: the states of verified jobs are on disk before it, unless one
    /// cannot answer.
    pub(super) fn start_command_when_saved(&mut self) {
        let Some(triggered_at) = self.triggered_at else { return };
        let mut records = self.records.iter().enumerate();
        let is_saving = records.any(|(index, record)| record.is_running() && self.board.slot(index).wants_state());
        if !is_saving || triggered_at.elapsed() >= ANSWER_LIMIT {
            self.triggered_at = None;
            self.start_command();
        }
    }

    /// The command of the trigger. The jobs end meanwhile; fio waits with that until the command has ended.
    fn start_command(&mut self) {
        let trigger = &self.settings.control.trigger;
        let Some(text) = trigger.command.as_deref().filter(|_| self.command.is_none()) else { return };
        let mut command = Command::new("/bin/sh");
        command.args(["-c", text]);
        let started = match trigger.keeps_stdout_free.then(|| io::stderr().as_fd().try_clone_to_owned()).transpose() {
            Ok(stderr) => stderr.into_iter().fold(&mut command, |command, stderr| command.stdout(stderr)).spawn(),
            Err(error) => Err(error),
        };
        match started {
            Ok(child) => self.command = Some(child),
            Err(error) => self.complain(format!("fio: cannot run the trigger command: {error}")),
        }
    }

    /// Waits for the command of the trigger. How it ended is its own affair.
    pub(super) fn await_command(&mut self) {
        if let Some(Err(error)) = self.command.take().map(|mut child| child.wait()) {
            self.complain(format!("fio: lost the trigger command: {error}"));
        }
    }

    fn complain(&mut self, text: String) {
        self.observer.event(RunEvent::Message(Stream::Error, text));
    }

    /// Tells the bandwidth since the last sample, when it is time.
    pub(super) fn measure_bandwidth(&mut self) {
        let Some(meter) = &mut self.meter else { return };
        if let Some(sample) = meter.take_due(self.board, Instant::now()) {
            self.observer.event(RunEvent::Bandwidth(sample));
        }
    }

    /// Asks all running workers for their figures; the report follows when all have answered. Who asks while others are
    /// being answered gets the same report.
    fn ask_for_figures(&mut self) {
        if self.asked_at.is_some() {
            return;
        }
        for (index, record) in self.records.iter_mut().enumerate() {
            let slot = self.board.slot(index);
            if record.is_running() && slot.state() >= WorkerState::Ramping {
                record.awaits_snapshot = true;
                slot.ask(attention::SNAPSHOT);
            }
        }
        self.asked_at = Some(Instant::now());
    }

    fn report_when_complete(&mut self) {
        let Some(asked_at) = self.asked_at else { return };
        let is_complete = !self.records.iter().any(|record| record.awaits_snapshot);
        if is_complete || asked_at.elapsed() >= ANSWER_LIMIT {
            self.report(asked_at);
        }
    }

    /// A report that was asked for and has not come.
    pub(super) fn report_if_asked(&mut self) {
        if let Some(asked_at) = self.asked_at {
            self.report(asked_at);
        }
    }

    fn report(&mut self, asked_at: Instant) {
        self.asked_at = None;
        for (index, record) in self.records.iter_mut().enumerate() {
            if record.awaits_snapshot && record.snapshot.is_none() {
                let ran = record.let_go_at.map_or(Duration::ZERO, |instant| instant.elapsed());
                record.snapshot = Some((Box::new(Shown::of(self.board.slot(index)).figures(ran)), Instant::now()));
            }
        }
        let result = outcome::result(self.plan, self.settings, self.records, &self.moment(asked_at));
        self.records.iter_mut().for_each(|record| record.awaits_snapshot = false);
        self.observer.event(RunEvent::Status(Box::new(result)));
    }

    /// The run as a whole, for a report that was asked for at that time.
    pub(super) fn moment(&self, asked_at: Instant) -> Moment {
        let elapsed = asked_at.saturating_duration_since(self.started_at);
        let eta_secs = eta::seconds_left(self.plan, self.board, self.records, asked_at);
        let idleness = self.idle.map(IdleWatch::report);
        Moment { elapsed, eta_secs, disks: self.disks.reports(), idleness }
    }
}
