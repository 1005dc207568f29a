//! The watch: starts workers when their turn comes, hears them, ends them, tells what happens.
//!
//! Must not know: how results are merged. Start reading at [`Watch::until_all_ended`].
//! Facts: reference "Run structure", "Environment, files, signals, exit codes".

use super::agenda::Agenda;
use super::attend::ANSWER_LIMIT;
use super::bandwidth::BandwidthMeter;
use super::board::{Board, Shown, WorkerState, attention};
use super::disks::DiskWatch;
use super::eta::EtaMaker;
use super::idle::IdleWatch;
use super::launch::{Handle, Heard, Launcher, lost_outcome};
use super::record::{Record, Status, error_line, setup_failed};
use super::stretches::Teller;
use super::{RunSettings, steady};
use crate::error::{errno_of, job_error};
use crate::events::{RunEvent, RunObserver, Stream};
use crate::logs::LogDrain;
use crate::plan::RunPlan;
use crate::trace::{self, TraceGroup};
use crate::worker::WorkerMessage;
use ferrio_job::spec::ExitWhat;
use ferrio_sys::{Clock, poll};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Workers have this long to get ready.
const READY_LIMIT: Duration = Duration::from_secs(10);
/// Workers that were told to end and do not are given up after this.
const END_LIMIT: Duration = Duration::from_secs(300);
/// Longest sleep of the watch.
const TICK: Duration = Duration::from_millis(100);
/// Longest sleep while there are threads, which cannot wake it.
const THREAD_TICK: Duration = Duration::from_millis(2);

/// Everything that the watch looks at.
pub(super) struct Watch<'a> {
    pub(super) plan: &'a Arc<RunPlan>,
    pub(super) board: &'a Arc<Board>,
    pub(super) settings: &'a RunSettings,
    pub(super) clock: Clock,
    pub(super) started_at: Instant,
    pub(super) records: &'a mut Vec<Record>,
    pub(super) observer: &'a mut dyn RunObserver,
    pub(super) disks: &'a DiskWatch,
    pub(super) idle: Option<&'a IdleWatch>,
    pub(super) logs: Option<&'a LogDrain>,
    pub(super) agenda: Agenda,
    pub(super) teller: &'a Teller,
    pub(super) meter: Option<BandwidthMeter>,
    /// The command of the trigger.
    pub(super) command: Option<std::process::Child>,
    /// When the trigger came, until its command is started.
    pub(super) triggered_at: Option<Instant>,
    /// When a report was asked for that has not come.
    pub(super) asked_at: Option<Instant>,
    /// The signal that ends the run.
    pub(super) signal: Option<i32>,
    /// When all workers were told to end.
    pub(super) told_at: Option<Instant>,
}

impl Watch<'_> {
    /// Runs until every worker has ended. Returns the signal that ended the run early.
    pub(super) fn until_all_ended(&mut self) -> Option<i32> {
        let mut eta = EtaMaker::new(self.settings.eta, self.started_at);
        loop {
            // First, so that a signal of the time of the layout starts nothing.
            self.attend();
            self.start_ready();
            if self.records.iter().all(Record::has_ended) {
                break;
            }
            let ready = self.sleep(&eta);
            self.hear(&ready);
            self.tell_log_problems();
            if self.told_at.is_some_and(|told_at| told_at.elapsed() > END_LIMIT) {
                self.give_up();
                break;
            }
            self.measure_bandwidth();
            if eta.is_due() && !self.records.iter().all(Record::has_ended) {
                let snapshot = eta.snapshot(self.plan, self.board, self.records);
                self.observer.event(RunEvent::Eta(snapshot));
            }
        }
        self.report_if_asked();
        (0..self.records.len()).for_each(|index| self.tell_end(index));
        self.start_command_when_saved();
        self.await_command();
        self.signal
    }

    /// Starts all workers whose turn it is, waits until they are ready, and lets them go together.
    fn start_ready(&mut self) {
        let turn: Vec<usize> = self.whose_turn();
        if turn.is_empty() {
            return;
        }
        let (plan, board, clock) = (Arc::clone(self.plan), Arc::clone(self.board), self.clock.clone());
        let launcher = Launcher {
            plan: &plan,
            board: &board,
            clock: &clock,
            readonly: self.settings.readonly,
            trace: self.settings.trace,
        };
        for &index in &turn {
            self.start_worker(&launcher, index);
        }
        for &index in &turn {
            // Not before all have started: see `Launcher::start`.
            self.records[index].files = None;
        }
        let limit = Instant::now() + READY_LIMIT;
        // The board says who is ready without a system call; messages (a layout, a failure) are looked for now and then.
        for n_looks in 0u32.. {
            if !self.is_getting_ready(&turn) || Instant::now() >= limit || self.told_at.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_micros(50));
            if n_looks % 16 == 15 {
                let heard = self.running();
                self.hear(&heard);
                self.attend();
            }
        }
        self.join_flows(&turn);
        self.board.open_gate();
        let now = Instant::now();
        for index in turn {
            self.records[index].let_go_at = Some(now);
        }
    }

    /// Who begins its I/O when the gate opens takes part in its flow from then on, whichever of them runs first.
    fn join_flows(&self, turn: &[usize]) {
        for index in turn.iter().copied().filter(|index| !self.records[*index].has_ended()) {
            let worker = &self.plan.workers[index];
            if let Some(seat) = self.board.flow_seat(worker, index).filter(|_| worker.begins_at_once()) {
                seat.join(worker.spec.pace.flow.weight);
            }
        }
    }

    /// Starts a worker. One that the system refuses has failed; the others run on.
    fn start_worker(&mut self, launcher: &Launcher<'_>, index: usize) {
        let plan = &self.plan.workers[index];
        let started = self.logs.map_or(Ok(None), |logs| logs.add(index, plan));
        match started.and_then(|log| launcher.start(index, &mut self.records[index].files, log)) {
            Ok((handle, pid)) => {
                self.records[index].pid = pid;
                self.trace_process(index, &format!("started {}", self.plan.workers[index].spec.name));
                self.records[index].status = Status::Running(handle);
            }
            Err(error) => {
                let name = &self.plan.workers[index].spec.name;
                let error = job_error!(errno_of(&error), "start").explained(format!("fio: {name}: {error}"));
                setup_failed(&mut self.records[index], error, self.observer);
                self.board.slot(index).set_state(WorkerState::Exited);
                self.finish_logs(index);
            }
        }
    }

    /// A worker is gone: its logs hold all that they will.
    fn finish_logs(&self, index: usize) {
        if let Some(logs) = self.logs {
            logs.finish(index);
        }
    }

    fn trace_process(&mut self, index: usize, text: &str) {
        let number = self.plan.workers[index].thread_number;
        if self.settings.trace.has(TraceGroup::Process, number) {
            let text = trace::line(TraceGroup::Process, &format!("pid={}: {text}", self.records[index].pid));
            self.observer.event(RunEvent::Message(Stream::Trace, text));
        }
    }

    fn is_getting_ready(&self, turn: &[usize]) -> bool {
        let unready = |index: &&usize| {
            self.records[**index].is_running() && self.board.slot(**index).state() < WorkerState::Initialised
        };
        turn.iter().any(|index| unready(&index))
    }

    fn whose_turn(&self) -> Vec<usize> {
        let mut turn = Vec::new();
        let elapsed_ns = self.started_at.elapsed().as_nanos() as u64;
        let mut earlier_have_ended = true;
        for (index, worker) in self.plan.workers.iter().enumerate() {
            let record = &self.records[index];
            if record.is_waiting() {
                if worker.stonewall && !earlier_have_ended {
                    break;
                }
                if elapsed_ns >= worker.start_delay_ns && self.waitee_has_ended(index) {
                    turn.push(index);
                }
            }
            earlier_have_ended &= record.has_ended();
        }
        turn
    }

    /// `wait_for`: all workers of the named job have ended.
    fn waitee_has_ended(&self, index: usize) -> bool {
        let Some(name) = &self.plan.workers[index].spec.grouping.wait_for else { return true };
        let same = |other: &usize| self.plan.workers[*other].spec.name == *name;
        (0..index).filter(same).all(|other| self.records[other].has_ended())
    }

    fn tell_log_problems(&mut self) {
        for text in self.logs.map(LogDrain::take_problems).unwrap_or_default() {
            self.observer.event(RunEvent::Message(Stream::Error, text));
        }
    }

    /// Waits for something to happen; returns the workers that may have something to say.
    fn sleep(&self, eta: &EtaMaker) -> Vec<usize> {
        let has_threads = self.plan.workers.iter().any(|worker| worker.spec.worker.thread);
        let tick = if has_threads { THREAD_TICK } else { TICK };
        let poll_fd = |index: usize| match &self.records[index].status {
            Status::Running(handle) => handle.poll_fd().map(|fd| (index, fd)),
            _ => None,
        };
        let (indexes, fds): (Vec<usize>, Vec<_>) = (0..self.records.len()).filter_map(poll_fd).unzip();
        let readable = poll::wait_readable(&fds, self.longest_sleep(eta).min(tick));
        let mut ready: Vec<usize> = readable.into_iter().map(|position| indexes[position]).collect();
        if has_threads {
            ready.extend(self.running().into_iter().filter(|index| self.plan.workers[*index].spec.worker.thread));
        }
        ready
    }

    fn longest_sleep(&self, eta: &EtaMaker) -> Duration {
        let now = Instant::now();
        let report = self.asked_at.map_or(Duration::MAX, |asked_at| ANSWER_LIMIT.saturating_sub(now - asked_at));
        let sample = self.meter.as_ref().map_or(Duration::MAX, |meter| meter.time_left(now));
        eta.time_left().min(self.next_start()).min(self.agenda.time_left(now)).min(report).min(sample)
    }

    fn running(&self) -> Vec<usize> {
        (0..self.records.len()).filter(|index| self.records[*index].is_running()).collect()
    }

    /// Time until a start delay is over.
    fn next_start(&self) -> Duration {
        let elapsed_ns = self.started_at.elapsed().as_nanos() as u64;
        let waiting = self.plan.workers.iter().zip(self.records.iter()).filter(|(_, record)| record.is_waiting());
        let left = waiting.map(|(worker, _)| worker.start_delay_ns.saturating_sub(elapsed_ns)).filter(|ns| *ns > 0);
        left.min().map_or(TICK, Duration::from_nanos)
    }

    fn hear(&mut self, indexes: &[usize]) {
        for &index in indexes {
            while let Status::Running(handle) = &mut self.records[index].status {
                match handle.hear() {
                    Heard::Nothing => break,
                    Heard::Message(message) => self.take_message(index, message),
                    Heard::Ended(killed_by) => {
                        self.take_end(index, killed_by);
                        break;
                    }
                }
            }
        }
    }

    fn take_message(&mut self, index: usize, message: WorkerMessage) {
        match message {
            WorkerMessage::Text(stream, text) => self.observer.event(RunEvent::Message(stream, text)),
            WorkerMessage::LayingOut(n_files, total_bytes) => {
                let job_name = self.plan.workers[index].spec.name.clone();
                self.observer.event(RunEvent::LayingOut { job_name, n_files, total_bytes });
            }
            WorkerMessage::Snapshot(stats) => {
                self.records[index].take_snapshot(stats);
            }
            WorkerMessage::Interval(figures) => {
                self.board.slot(index).set_heard();
                self.teller.interval(&self.plan.workers[index], &mut self.records[index], *figures, self.observer);
            }
            WorkerMessage::Steady(sample) => {
                for member in steady::take(self.records, index, sample) {
                    self.end_worker(member);
                }
            }
            WorkerMessage::Outcome(outcome) => self.records[index].outcome = Some(outcome),
        }
    }

    /// A worker is gone: says why if it failed, and ends others that are to end with it.
    fn take_end(&mut self, index: usize, killed_by: Option<i32>) {
        let record = &mut self.records[index];
        record.status = Status::Ended;
        record.awaits_snapshot = false;
        record.killed_by = killed_by;
        let shown = Shown::of(self.board.slot(index));
        self.board.slot(index).set_state(WorkerState::Exited);
        let pid = record.pid;
        self.finish_logs(index);
        self.trace_process(index, &format!("ended, signal={}", killed_by.unwrap_or(0)));
        if let Some(signal) = killed_by {
            self.observer.event(RunEvent::Message(Stream::Error, format!("fio: pid={pid}, got signal={signal}")));
        }
        let record = &mut self.records[index];
        if record.outcome.is_none() {
            let ran = record.let_go_at.map_or(Duration::ZERO, |instant| instant.elapsed());
            let stats = record.snapshot.take().map_or_else(|| shown.figures(ran), |(stats, _)| *stats);
            record.outcome = Some(Box::new(lost_outcome(Box::new(stats), killed_by)));
        }
        if let Some(seat) = self.board.flow_seat(&self.plan.workers[index], index) {
            seat.leave();
        }
        self.tell_failure(index);
        self.tell_end(index);
        let grouping = &self.plan.workers[index].spec.grouping;
        let exits_all = self.plan.workers.iter().any(|worker| worker.spec.grouping.exitall);
        if exits_all || (grouping.exitall_on_error && self.records[index].has_failed()) {
            self.end_with(index, grouping.exit_what);
        }
    }

    /// For the records.
    pub(super) fn tell_end(&mut self, index: usize) {
        let now_ns = self.clock.now_ns();
        self.teller.end(&self.plan.workers[index], &mut self.records[index], now_ns, self.observer);
    }

    fn tell_failure(&mut self, index: usize) {
        let record = &self.records[index];
        let Some(outcome) = &record.outcome else { return };
        let Some(error) = &outcome.failure else { return };
        if !error.message.is_empty() {
            self.observer.event(RunEvent::Message(Stream::Error, error.message.clone()));
        }
        let (pid, stream) = if outcome.has_started { (record.pid, Stream::Info) } else { (0, Stream::Error) };
        self.observer.event(RunEvent::Message(stream, error_line(pid, error)));
    }

    /// `exitall`: ends the workers that `exit_what` of the ending one selects.
    fn end_with(&mut self, index: usize, what: ExitWhat) {
        let group = self.plan.workers[index].group_index;
        for other in 0..self.records.len() {
            let selected = match what {
                ExitWhat::Group => self.plan.workers[other].group_index == group,
                ExitWhat::Stonewall => self.records[other].is_running(),
                ExitWhat::All => true,
            };
            if selected {
                self.end_worker(other);
            }
        }
    }

    pub(super) fn end_worker(&mut self, index: usize) {
        if self.records[index].is_waiting() {
            self.records[index].status = Status::Ended;
        } else if self.records[index].is_running() {
            self.board.slot(index).ask(attention::TERMINATE);
        }
    }

    /// Abandons workers that do not end.
    fn give_up(&mut self) {
        for index in 0..self.records.len() {
            if let Status::Running(Handle::Process(..)) = &self.records[index].status {
                let name = &self.plan.workers[index].spec.name;
                let text = format!(
                    "fio: job '{name}' has not exited in {} seconds, it appears to be stuck. Doing forceful exit of this job.",
                    END_LIMIT.as_secs()
                );
                self.observer.event(RunEvent::Message(Stream::Error, text));
            }
            self.records[index].status = Status::Ended;
        }
    }
}
