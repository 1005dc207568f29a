//! All workers, from the supervisor's side: they are started and ended, their messages are received, and their ends are
//! reported.
//!
//! Must not know: when these steps are due, how results are merged. Start reading at [`Workers::start`], then
//! [`Workers::hear`].
//! Facts: reference "Run structure", "Environment, files, signals, exit codes".

use super::launch::{self, lost_outcome};
use super::record::{SupervisedWorker, WorkerStatus, setup_failed, tell_failed};
use super::scene::Scene;
use super::stops::StopTimes;
use super::worker_handle::{Heard, WorkerHandle};
use super::{debug_trace, steady};
use crate::error::{errno_of, failure};
use crate::events::{MessageStream, RunEvent, RunObserver};
use crate::evidence::Probes;
use crate::link::board::{Shown, WorkerState, attention};
use crate::link::message::{WorkerMessage, WorkerOutcome};
use crate::link::trace::{self, TraceGroup};
use ferrio_spec::ExitWhat;
use ferrio_stats::note::{During, RunNote};
use ferrio_stats::{EndedBy, Note};
use ferrio_stats::{SteadySample, ThreadStats};
use ferrio_sys::errno::EINTR;
use ferrio_sys::heap;
use ferrio_sys::process::{self, Signal};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

pub(super) struct Workers {
    pub(super) records: Vec<SupervisedWorker>,
    pub(super) probes: Probes,
    pub(super) stops: StopTimes,
}

impl Workers {
    /// Starts workers, which then wait at the gate.
    pub(super) fn start(&mut self, turn: &[usize], scene: &Scene, observer: &mut dyn RunObserver) {
        let are_processes = turn.len() > 1 && turn.iter().any(|index| !scene.is_thread(*index));
        // With this, what each process allocates costs it fewer copied pages. It is freed after the last fork.
        let _filled_holes = are_processes.then(heap::fill_holes);
        for &index in turn {
            self.start_worker(index, scene, observer);
        }
        for &index in turn {
            // Freed only after all have started: see `launch::start`.
            self.records[index].files = None;
        }
    }

    /// If the system refuses a worker, that worker has failed; the others continue.
    fn start_worker(&mut self, index: usize, scene: &Scene, observer: &mut dyn RunObserver) {
        let plan = &scene.plan.workers[index];
        debug_assert!(self.records[index].is_waiting(), "a worker starts once");
        debug_trace::tell_launch(scene, &self.records, observer, index);
        let started = scene.logs.as_ref().map_or(Ok(None), |logs| logs.add(index, plan));
        match started.and_then(|log| launch::start(scene, index, &mut self.records[index].files, log)) {
            Ok((handle, pid)) => {
                self.records[index].pid = pid;
                self.records[index].status = WorkerStatus::Running(handle);
            }
            Err(error) => {
                let note = Note::system(During::Job(plan.spec.name.clone()), &error);
                let error = failure!(errno_of(&error), "start").explained(note);
                setup_failed(&mut self.records[index], error, observer);
                scene.board.slot(index).set_state(WorkerState::Exited);
                scene.finish_logs(index);
            }
        }
    }

    /// True if some of these workers are not at the gate yet.
    pub(super) fn is_getting_ready(&self, turn: &[usize], scene: &Scene) -> bool {
        let unready = |index: &&usize| {
            self.records[**index].is_running() && scene.board.slot(**index).state() < WorkerState::Initialised
        };
        turn.iter().any(|index| unready(&index))
    }

    /// Notices workers that are stopped by signals.
    pub(super) fn look_for_stops(&mut self, scene: &Scene, now: Instant) {
        self.stops.look(&self.records, &scene.board, now);
    }

    /// Opens the gate. Workers that begin their I/O now join their flow first, so that it does not matter which of them
    /// runs first.
    pub(super) fn let_go(&mut self, turn: &[usize], scene: &Scene) {
        for &index in turn.iter().filter(|index| !self.records[**index].has_ended()) {
            let worker = &scene.plan.workers[index];
            if let Some(seat) = scene.board.flow_seat(worker, index).filter(|_| worker.begins_at_once()) {
                seat.join(worker.spec.pace.flow.weight);
            }
        }
        scene.board.open_gate();
        scene.time.let_go();
        let now = scene.time.now();
        for &index in turn {
            self.records[index].let_go_at = Some(now);
        }
    }

    pub(super) fn running(&self) -> Vec<usize> {
        (0..self.records.len()).filter(|index| self.records[*index].is_running()).collect()
    }

    pub(super) fn have_all_ended(&self) -> bool {
        self.records.iter().all(SupervisedWorker::has_ended)
    }

    /// Descriptors to poll for messages of processes, and the workers that they belong to.
    pub(super) fn poll_fds(&self) -> (Vec<usize>, Vec<BorrowedFd<'_>>) {
        let poll_fd = |index: usize| match &self.records[index].status {
            WorkerStatus::Running(handle) => handle.poll_fd().map(|fd| (index, fd)),
            _ => None,
        };
        (0..self.records.len()).filter_map(poll_fd).unzip()
    }

    /// Receives all messages of these workers.
    pub(super) fn hear(&mut self, indexes: &[usize], scene: &Scene, observer: &mut dyn RunObserver) {
        for &index in indexes {
            while let WorkerStatus::Running(handle) = &mut self.records[index].status {
                match handle.hear() {
                    Heard::Nothing => break,
                    Heard::Message(message) => self.take_message(index, message, scene, observer),
                    Heard::Ended(killed_by) => {
                        self.take_end(index, killed_by, scene, observer);
                        break;
                    }
                }
            }
        }
    }

    fn take_message(&mut self, index: usize, message: WorkerMessage, scene: &Scene, observer: &mut dyn RunObserver) {
        match message {
            WorkerMessage::Trace(_) if debug_trace::is_other_than_traced(scene, &self.records, index) => {}
            WorkerMessage::Trace(text) => observer.event(RunEvent::Trace(text)),
            WorkerMessage::Note(stream, note) => observer.event(RunEvent::Message(stream, note)),
            WorkerMessage::LayingOut(n_files, total_bytes) => {
                let job_name = scene.plan.workers[index].spec.name.clone();
                observer.event(RunEvent::LayingOut { job_name, n_files, total_bytes });
            }
            WorkerMessage::Snapshot(stats) => {
                self.records[index].take_snapshot(stats, scene.time.now());
            }
            WorkerMessage::Interval(figures) => {
                scene.board.slot(index).set_heard();
                let (worker, now) = (&scene.plan.workers[index], scene.time.now());
                scene.teller.interval(worker, &mut self.records[index], *figures, now, observer);
            }
            WorkerMessage::Steady(sample) => self.take_steady_sample(index, sample, scene, observer),
            WorkerMessage::Outcome(outcome) => {
                let (number, pid) = (scene.plan.workers[index].thread_number, self.records[index].pid);
                // Its process is about to disappear, and the kernel's accounts with it.
                self.probes.worker_ends(number, pid, scene.is_thread(index));
                self.records[index].outcome = Some(outcome);
            }
        }
    }

    /// Adds a sample to the search for a steady state, reports the result, and ends the workers that it ends.
    fn take_steady_sample(
        &mut self,
        index: usize,
        sample: SteadySample,
        scene: &Scene,
        observer: &mut dyn RunObserver,
    ) {
        let mut lines = Vec::new();
        let ending = steady::take(&mut self.records, index, sample, |last_member, state| {
            lines.extend(debug_trace::steady_lines(scene, index, last_member, state));
        });
        for line in lines {
            debug_trace::trace(scene, &self.records, observer, TraceGroup::SteadyState, || line);
        }
        for member in ending {
            self.end_worker(member, None, scene, observer);
        }
    }

    /// Handles the end of a worker: reports a failure, and ends workers that are to end with it.
    fn take_end(&mut self, index: usize, killed_by: Option<i32>, scene: &Scene, observer: &mut dyn RunObserver) {
        let lost = self.records[index].outcome.is_none().then(|| self.lost_stats(index, scene));
        let (worker, slot) = (&scene.plan.workers[index], scene.board.slot(index));
        let record = &mut self.records[index];
        record.end(worker, killed_by, lost.is_some());
        let (pid, last_state) = (record.pid, slot.state());
        slot.set_state(WorkerState::Exited);
        scene.finish_logs(index);
        let mut tell = |text: String| debug_trace::trace(scene, &self.records, observer, TraceGroup::Process, || text);
        tell(trace::state_change(pid, last_state, WorkerState::Exited));
        tell(format!("pid={pid}: runstate EXITED -> REAPED"));
        if let Some(signal) = killed_by {
            observer.event(RunEvent::Message(MessageStream::Error, Note::Killed { pid, signal }));
        }
        if let Some(stats) = lost {
            self.records[index].outcome = Some(Box::new(lost_outcome(stats, killed_by)));
        }
        if let Some(seat) = scene.board.flow_seat(worker, index) {
            seat.leave();
        }
        self.tell_failure(index, observer);
        self.tell_end(index, scene, observer);
        let grouping = &worker.spec.grouping;
        let exits_all = scene.plan.workers.iter().any(|worker| worker.spec.grouping.exitall);
        if exits_all || (grouping.exitall_on_error && self.records[index].has_failed()) {
            self.end_with(index, grouping.exit_what, scene, observer);
        }
    }

    /// Reports the end of a worker for the records.
    pub(super) fn tell_end(&mut self, index: usize, scene: &Scene, observer: &mut dyn RunObserver) {
        let times = (scene.time.now(), scene.clock.now_ns());
        scene.teller.end(&scene.plan.workers[index], &mut self.records[index], times, observer);
    }

    fn tell_failure(&self, index: usize, observer: &mut dyn RunObserver) {
        let record = &self.records[index];
        let Some(outcome) = &record.outcome else { return };
        let Some(error) = &outcome.failure else { return };
        if let Some(note) = error.note.as_deref() {
            observer.event(RunEvent::Message(MessageStream::Error, note.clone()));
        }
        // As in fio, failures in the process of a job are reported on the stream of the report.
        let stream = if record.pid == 0 { MessageStream::Error } else { MessageStream::Info };
        tell_failed(record.pid, stream, error, observer);
    }

    /// `exitall`: ends the workers that `exit_what` of the ending one selects.
    fn end_with(&mut self, index: usize, what: ExitWhat, scene: &Scene, observer: &mut dyn RunObserver) {
        let workers = &scene.plan.workers;
        let group = workers[index].group_index;
        let by = EndedBy::ExitAll { job: workers[index].spec.name.clone() };
        let group_id = if what == ExitWhat::Group { i64::from(group) } else { -1 };
        debug_trace::trace(scene, &self.records, observer, TraceGroup::Process, || {
            format!("terminate group_id={group_id}")
        });
        for (other, worker) in workers.iter().enumerate() {
            let selected = match what {
                ExitWhat::Group => worker.group_index == group,
                ExitWhat::Stonewall => self.records[other].is_running(),
                ExitWhat::All => true,
            };
            if selected {
                self.end_worker(other, Some(&by), scene, observer);
            }
        }
    }

    /// Ends all workers before they are done; those that wait for their start are not started.
    pub(super) fn end_all(&mut self, by: &EndedBy, scene: &Scene, observer: &mut dyn RunObserver) {
        debug_trace::trace(scene, &self.records, observer, TraceGroup::Process, || "terminate group_id=-1".to_owned());
        (0..self.records.len()).for_each(|index| self.end_worker(index, Some(by), scene, observer));
    }

    /// Ends a worker. `by`: before it is done; `None`: as its options want it.
    pub(super) fn end_worker(
        &mut self,
        index: usize,
        by: Option<&EndedBy>,
        scene: &Scene,
        observer: &mut dyn RunObserver,
    ) {
        let record = &mut self.records[index];
        if let Some(by) = by.filter(|_| !record.has_ended()) {
            record.end.ended_by.get_or_insert_with(|| by.clone());
        }
        if self.records[index].is_waiting() {
            self.records[index].status = WorkerStatus::Ended;
        } else if self.records[index].is_running() {
            let (name, pid) = (&scene.plan.workers[index].spec.name, self.records[index].pid);
            let text = || format!("setting terminate on {name}/{pid}");
            debug_trace::trace(scene, &self.records, observer, TraceGroup::Process, text);
            scene.board.slot(index).ask(attention::TERMINATE);
        }
    }

    /// Requests the states before the jobs are told to end, because then no worker could answer.
    pub(super) fn ask_for_states(&self, scene: &Scene) {
        for (index, record) in self.records.iter().enumerate() {
            let has_state = scene.plan.workers[index].spec.verify.is_some();
            if has_state && record.is_running() && scene.board.slot(index).state() >= WorkerState::Ramping {
                scene.board.slot(index).ask(attention::SAVE_STATE);
            }
        }
    }

    /// True if a worker has not written its state yet.
    pub(super) fn is_saving(&self, scene: &Scene) -> bool {
        let mut records = self.records.iter().enumerate();
        records.any(|(index, record)| record.is_running() && scene.board.slot(index).wants_state())
    }

    /// Kills all processes; their ends are noticed like any others.
    pub(super) fn kill_all(&self) {
        for record in &self.records {
            if let WorkerStatus::Running(WorkerHandle::Process(pid, _)) = &record.status {
                // The process may have ended just now. One that survives SIGKILL (in an uninterruptible system call) is
                // left behind.
                let _ = process::kill(*pid, Signal::KILL);
            }
        }
    }

    /// Gives up workers that have not ended within `limit`; processes are killed. They count as failed.
    pub(super) fn give_up(&mut self, limit: Duration, scene: &Scene, observer: &mut dyn RunObserver) {
        self.kill_all();
        for index in self.running() {
            let (job, state) = (scene.plan.workers[index].spec.name.clone(), scene.board.slot(index).state() as u32);
            let note = RunNote::EndedByForce { job, state, limit_secs: limit.as_secs() };
            let figures = self.lost_stats(index, scene);
            let failure = failure!(EINTR, "stuck").explained(note);
            self.records[index].outcome = Some(Box::new(WorkerOutcome::new(figures, Some(failure), true)));
            self.take_end(index, None, scene, observer);
        }
        // Workers that were waiting for their start have been reported already.
        self.records.iter_mut().for_each(|record| record.status = WorkerStatus::Ended);
    }

    /// The figures of a worker that cannot send them any more: the last ones that it sent, or those on the board.
    fn lost_stats(&mut self, index: usize, scene: &Scene) -> Box<ThreadStats> {
        let shown = Shown::of(scene.board.slot(index));
        let record = &mut self.records[index];
        let ran = record.let_go_at.map_or(Duration::ZERO, |instant| scene.time.since(instant));
        record.snapshot.take().map_or_else(|| Box::new(shown.figures(ran)), |(stats, _)| stats)
    }
}
