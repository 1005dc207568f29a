//! The watch: starts and ends workers, and handles what is due and what is requested meanwhile.
//!
//! Must not know: how workers are started and heard (`workers`), how results are merged. Start reading at [`Watch::until_all_ended`].
//! Facts: reference "Run structure", "Environment, files, signals, exit codes".

use super::bandwidth::BandwidthMeter;
use super::eta::{self, EtaMaker};
use super::no_io_jobs::NoIoJobs;
use super::outcome::{self, Moment};
use super::prepare;
use super::reports::Reports;
use super::requests::{Requests, URGENT_LIMIT};
use super::scene::Scene;
use super::schedulers::Schedulers;
use super::timed_requests::TimedRequests;
use super::trigger::TriggerCommand;
use super::workers::Workers;
use super::{RunOutcome, groups, start_order};
use crate::events::{MessageStream, RunEvent, RunObserver};
use crate::logs::LogDrain;
use ferrio_stats::EndedBy;
use ferrio_sys::clock::monotonic_ns;
use std::time::{Duration, Instant};

const READY_LIMIT: Duration = Duration::from_secs(10);
/// Time after which workers that were told to end are given up.
const END_LIMIT: Duration = Duration::from_secs(300);
/// Time between two looks of the probes.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// Longest sleep of the watch.
const TICK: Duration = Duration::from_millis(100);
/// Longest sleep while there are threads, because their messages do not wake it.
const THREAD_TICK: Duration = Duration::from_millis(2);

/// A run whose files are laid out, until all its workers have ended.
pub(super) struct Watch {
    pub(super) scene: Scene,
    pub(super) workers: Workers,
    pub(super) requests: Requests,
    pub(super) groups: groups::Made,
    pub(super) schedulers: Schedulers,
    timed_requests: TimedRequests,
    eta: EtaMaker,
    meter: Option<BandwidthMeter>,
    reports: Reports,
    command: TriggerCommand,
    started_at: Instant,
    /// Workers that are at the gate for the start of the run.
    at_gate: Vec<usize>,
    /// Time of the probes' last look.
    looked_at: Instant,
    /// Time at which all workers were told to end.
    told_at: Option<Instant>,
    /// The last stonewall at which the run has said that it waits.
    stood_at: u32,
}

impl Watch {
    /// Starts the workers that begin with the run, and waits until they are ready.
    pub(super) fn prepare(
        scene: Scene,
        workers: Workers,
        requests: Requests,
        groups: groups::Made,
        schedulers: Schedulers,
        observer: &mut dyn RunObserver,
    ) -> Self {
        let started_at = scene.time.now();
        let mut watch = Self {
            timed_requests: prepare::timed_requests(&scene.settings, started_at),
            eta: EtaMaker::new(scene.settings.snapshot_interval, started_at),
            meter: None,
            reports: Reports::default(),
            command: TriggerCommand::default(),
            started_at,
            at_gate: Vec::new(),
            told_at: None,
            stood_at: 0,
            looked_at: started_at,
            scene,
            workers,
            requests,
            groups,
            schedulers,
        };
        // Handles requests made during the layout first, so that a request to stop starts no worker.
        watch.attend(observer);
        watch.at_gate = watch.start_turn(observer);
        watch
    }

    /// Waits until the time is up, or until the run is to end.
    pub(super) fn stand_by(&mut self, time_left: &dyn Fn() -> Duration, observer: &mut dyn RunObserver) {
        while !self.requests.is_ending() && !self.workers.have_all_ended() {
            let left = time_left();
            if left.is_zero() {
                return;
            }
            self.sleep(left);
            self.attend(observer);
            let running = self.workers.running();
            self.workers.hear(&running, &self.scene, observer);
        }
    }

    /// Intervals count from now on; no worker has begun.
    pub(super) fn restart_intervals(&self) {
        self.scene.teller.restart(&self.scene.board, self.scene.clock.now_ns());
    }

    /// Runs from the start, which was `so_far` ago, until all workers have ended or were given up.
    pub(super) fn until_all_ended(&mut self, so_far: Duration, observer: &mut dyn RunObserver) {
        let at_ns = self.begin(so_far);
        observer.event(RunEvent::Began { at_ns });
        self.requests.set_watched(true);
        let mut companions = NoIoJobs::new(&self.scene.plan);
        loop {
            self.attend(observer);
            let turn = self.start_turn(observer);
            self.let_go(&turn);
            if self.workers.have_all_ended() {
                break;
            }
            let ready = self.sleep(Duration::MAX);
            self.workers.hear(&ready, &self.scene, observer);
            for index in companions.due(&self.workers.records) {
                self.workers.end_worker(index, None, &self.scene, observer);
            }
            self.tell_log_problems(observer);
            if let Some(limit) = self.passed_limit() {
                self.workers.give_up(limit, &self.scene, observer);
                break;
            }
            self.measure(observer);
        }
        self.requests.set_watched(false);
        if let Some(asked_at) = self.reports.take(&mut self.workers, &self.scene) {
            self.report(asked_at, observer);
        }
        (0..self.workers.records.len()).for_each(|index| self.workers.tell_end(index, &self.scene, observer));
        self.command.look(&self.workers, &self.scene, observer);
        self.command.finish(observer);
    }

    /// Ends the run; its outcome.
    pub(super) fn finish(mut self, observer: &mut dyn RunObserver) -> RunOutcome {
        self.groups.remove();
        self.schedulers.restore();
        let moment = self.moment(self.scene.time.now());
        let logs = self.scene.logs.take();
        let n_logs_lost = end_logs(logs, &mut self.requests, observer);
        let mut records = self.workers.records;
        records.iter_mut().enumerate().for_each(|(index, record)| record.end.stopped_ns = self.workers.stops.of(index));
        let n_failed = records.iter().filter(|record| record.is_no_success()).count() as u32;
        let mut record = outcome::last(&self.scene.plan, &self.scene.settings, records, &moment);
        record.series = self.scene.teller.take_series();
        // Done last, so that all requests so far are part of the outcome.
        self.requests.look(observer);
        RunOutcome { record, n_failed, is_stopped: self.requests.is_stopped(), n_logs_lost }
    }

    /// Sets the start of the run for all that counts from it; returns the time at which the gate was opened.
    fn begin(&mut self, so_far: Duration) -> u64 {
        let now = self.scene.time.now();
        self.started_at = now.checked_sub(so_far).unwrap_or(now);
        let (settings, workers) = (&self.scene.settings, &self.scene.plan.workers);
        self.timed_requests = TimedRequests::new(&settings.control, self.started_at);
        self.eta = EtaMaker::new(settings.snapshot_interval, self.started_at);
        self.meter = settings.control.samples_bandwidth.then(|| BandwidthMeter::new(workers, self.started_at));
        let at_gate = std::mem::take(&mut self.at_gate);
        let at_ns = monotonic_ns();
        self.let_go(&at_gate);
        at_ns
    }

    /// Time since the start of the workers that begin with the run.
    pub(super) fn elapsed(&self) -> Duration {
        self.scene.time.since(self.started_at)
    }

    /// Starts the workers whose turn it is, and waits until they are ready.
    fn start_turn(&mut self, observer: &mut dyn RunObserver) -> Vec<usize> {
        let open = if self.scene.settings.waits_at_stonewalls { self.requests.open_stonewalls() } else { u32::MAX };
        let due = start_order::due_to_start(&self.scene.plan, &self.workers.records, self.elapsed(), open);
        if let Some(stonewall) = due.waits_at.filter(|stonewall| *stonewall > self.stood_at) {
            self.stood_at = stonewall;
            observer.event(RunEvent::AtStonewall(stonewall));
        }
        let turn = due.workers;
        if turn.is_empty() {
            return turn;
        }
        self.workers.start(&turn, &self.scene, observer);
        let began_at = self.scene.time.now();
        // The board shows without a system call which workers are ready; messages (a layout, a failure) are checked
        // less often.
        for n_looks in 0u32.. {
            let is_late = self.scene.time.since(began_at) >= READY_LIMIT;
            if !self.workers.is_getting_ready(&turn, &self.scene) || is_late || self.told_at.is_some() {
                break;
            }
            self.scene.time.nap();
            if n_looks % 16 == 15 || self.scene.time.is_virtual() {
                let heard = self.workers.running();
                self.workers.hear(&heard, &self.scene, observer);
                self.attend(observer);
            }
        }
        turn
    }

    fn let_go(&mut self, turn: &[usize]) {
        if !turn.is_empty() {
            self.workers.let_go(turn, &self.scene);
        }
    }

    /// Handles requests and what is due. Cheap: it may be called at any time.
    fn attend(&mut self, observer: &mut dyn RunObserver) {
        self.requests.look(observer);
        let due = self.timed_requests.take_due(self.scene.time.now());
        if self.requests.take_report() || due.status {
            self.reports.ask(&mut self.workers, &self.scene);
        }
        if let Some(asked_at) = self.reports.take_complete(&mut self.workers, &self.scene) {
            self.report(asked_at, observer);
        }
        if due.trigger || self.requests.take_trigger() {
            self.workers.ask_for_states(&self.scene);
            self.end_all(&EndedBy::Trigger, observer);
            self.command.pull(&self.scene);
        }
        self.command.look(&self.workers, &self.scene, observer);
        if self.requests.take_end() {
            let by = self.requests.ended_by();
            self.end_all(&by, observer);
            if self.requests.is_aborted() {
                self.workers.kill_all();
            }
        }
    }

    fn end_all(&mut self, by: &EndedBy, observer: &mut dyn RunObserver) {
        self.told_at.get_or_insert_with(|| self.scene.time.now());
        self.workers.end_all(by, &self.scene, observer);
    }

    /// The time since all workers were told to end, if that is longer than the limit.
    fn passed_limit(&self) -> Option<Duration> {
        if self.requests.gives_up() {
            return Some(URGENT_LIMIT);
        }
        self.told_at.filter(|told_at| self.scene.time.since(*told_at) > END_LIMIT).map(|_| END_LIMIT)
    }

    /// Waits for an event; returns the workers that may have sent messages.
    fn sleep(&self, limit: Duration) -> Vec<usize> {
        let has_threads = (0..self.workers.records.len()).any(|index| self.scene.is_thread(index));
        let tick = if has_threads { THREAD_TICK } else { TICK };
        let (indexes, mut fds) = self.workers.poll_fds();
        // Wakes the watch; `attend` then reads the requests.
        fds.push(self.requests.poll_fd());
        let readable = self.scene.time.wait(&fds, self.longest_sleep().min(limit), tick);
        let mut ready: Vec<usize> =
            readable.into_iter().filter_map(|position| indexes.get(position).copied()).collect();
        if has_threads {
            ready.extend(self.workers.running().into_iter().filter(|index| self.scene.is_thread(*index)));
        }
        ready
    }

    fn longest_sleep(&self) -> Duration {
        let now = self.scene.time.now();
        let start = start_order::next_start(&self.scene.plan, &self.workers.records, self.elapsed());
        let sample = self.meter.as_ref().map_or(Duration::MAX, |meter| meter.time_left(now));
        let lefts = [self.eta.time_left(now), self.timed_requests.time_left(now), self.reports.time_left(now), sample];
        lefts.into_iter().fold(start, Duration::min)
    }

    fn tell_log_problems(&self, observer: &mut dyn RunObserver) {
        for text in self.scene.logs.as_ref().map(LogDrain::take_problems).unwrap_or_default() {
            observer.event(RunEvent::Message(MessageStream::Error, text));
        }
    }

    /// Lets the probes, the bandwidth log and the ETA line measure when they are due.
    fn measure(&mut self, observer: &mut dyn RunObserver) {
        let (scene, now) = (&self.scene, self.scene.time.now());
        if !scene.time.is_virtual() && !scene.settings.control.skips_evidence {
            self.workers.look_for_stops(scene, now);
        }
        if now.saturating_duration_since(self.looked_at) >= LOOK_INTERVAL {
            self.looked_at = now;
            self.workers.probes.look();
        }
        if let Some(sample) = self.meter.as_mut().and_then(|meter| meter.take_due(&scene.board, now)) {
            observer.event(RunEvent::Bandwidth(sample));
        }
        if self.eta.is_due(now) && !self.workers.have_all_ended() {
            let snapshot = self.eta.snapshot(&scene.plan, &scene.board, &self.workers.records, now);
            observer.event(RunEvent::Eta(snapshot));
        }
    }

    fn report(&mut self, asked_at: Instant, observer: &mut dyn RunObserver) {
        let moment = self.moment(asked_at);
        let record = outcome::snapshot(&self.scene.plan, &self.scene.settings, &self.workers.records, &moment);
        self.workers.records.iter_mut().for_each(|record| record.awaits_snapshot = false);
        observer.event(RunEvent::Status(Box::new(record)));
    }

    /// The run as a whole, for a report requested at that time.
    fn moment(&self, asked_at: Instant) -> Moment {
        let scene = &self.scene;
        Moment {
            now: scene.time.now(),
            elapsed: asked_at.saturating_duration_since(self.started_at),
            eta_secs: eta::seconds_left(&scene.plan, &scene.board, &self.workers.records, asked_at),
            evidence: self.workers.probes.evidence(),
        }
    }
}

/// Empties and closes the logs; returns the number of logs that have lost rows.
fn end_logs(logs: Option<LogDrain>, requests: &mut Requests, observer: &mut dyn RunObserver) -> u32 {
    let mut gives_up = || {
        requests.look(observer);
        requests.gives_up()
    };
    let (problems, n_lost) = logs.map_or_else(Default::default, |logs| logs.stop(&mut gives_up));
    for text in problems {
        observer.event(RunEvent::Message(MessageStream::Error, text));
    }
    n_lost
}
