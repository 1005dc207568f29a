//! A run on virtual time: every worker in turn in the calling thread, each with a clock that only the simulated device
//! moves. Exact, repeatable, and as fast as the loops are.
//!
//! Must not know: real processes. Start reading at [`simulate`].

use super::board::{Board, attention};
use super::outcome::{self, Moment};
use super::record::{Record, Status, setup_failed};
use super::steady::{Phase, Steady, SteadyGroup};
use super::stretches::Teller;
use super::{RunOutcome, RunSettings, end_logs};
use crate::error::RunError;
use crate::events::{RunEvent, RunObserver, Stream};
use crate::files::FileSet;
use crate::logs::{LogDrain, LogPort};
use crate::plan::{RunPlan, WorkerPlan};
use crate::provenance::Facts;
use crate::worker::{WorkerContext, WorkerMessage, work};
use crate::zones::ZoneRegistry;
use ferrio_job::spec::RunSpec;
use ferrio_sys::Clock;
use std::cell::RefCell;
use std::time::Duration;

/// Does a run on virtual time. Meant for engines that complete by the clock they are given (`sim`); with others time
/// stands still. Jobs do not run side by side: each starts at time 0 of its own clock.
pub fn simulate(spec: RunSpec, settings: &RunSettings, observer: &mut dyn RunObserver) -> Result<RunOutcome, RunError> {
    let mut plan = RunPlan::new(spec)?;
    plan.facts = Facts::collect(&plan, settings, &Clock::new_virtual());
    let teller = Teller::start(&plan, settings.record_interval, 0, observer);
    let board = Board::new(plan.workers.len())?.with_locks(&plan.workers)?.with_intervals(teller.times());
    let mut records = Vec::with_capacity(plan.workers.len());
    let logs = LogDrain::start(&plan.workers, settings.open_logs).map_err(RunError::Logs)?;
    for (index, worker) in plan.workers.iter().enumerate() {
        let log = logs.as_ref().map_or(Ok(None), |logs| logs.add(index, worker))?;
        let mut record = simulate_worker(worker, index, (&board, log), settings, &teller, observer);
        teller.end(worker, &mut record, 0, observer);
        records.push(record);
        if let Some(logs) = &logs {
            logs.finish(index);
        }
    }
    let n_logs_lost = end_logs(logs, observer);
    let longest_ns = records.iter().filter_map(Record::final_stats).map(|stats| stats.total_runtime_ns).max();
    let elapsed = Duration::from_nanos(longest_ns.unwrap_or(0));
    let moment = Moment { elapsed, eta_secs: Some(0), disks: None, idleness: None };
    let result = outcome::result(&plan, settings, &records, &moment);
    let n_failed = records.iter().filter(|record| record.has_failed()).count() as u32;
    Ok(RunOutcome { result, n_failed, signal: None, n_logs_lost })
}

fn simulate_worker(
    worker: &WorkerPlan,
    index: usize,
    (board, log): (&Board, Option<LogPort>),
    settings: &RunSettings,
    teller: &Teller,
    observer: &mut dyn RunObserver,
) -> Record {
    let mut record = Record::default();
    let mut zones = ZoneRegistry::new(1);
    let tell = &mut |event| observer.event(event);
    let files = match FileSet::prepare(worker, Some(&mut zones), settings.readonly, tell, &|| false) {
        Ok(files) => files,
        Err(error) => {
            setup_failed(&mut record, error, observer);
            return record;
        }
    };
    let generation = board.gate_generation();
    board.open_gate();
    let messages = RefCell::new(Vec::new());
    // Jobs that share a report run one after another here: each is judged alone.
    let steady = RefCell::new(SteadyGroup::new(index, worker));
    let send = |message: &WorkerMessage| {
        let WorkerMessage::Steady(sample) = message else {
            // It is heard at the end, in its order.
            board.slot(index).set_heard();
            messages.borrow_mut().push(message.clone());
            return;
        };
        let mut steady = steady.borrow_mut();
        if steady.as_mut().is_some_and(|group| group.take(index, *sample, |_| Phase::Running)) {
            board.slot(index).ask(attention::TERMINATE);
        }
    };
    let context = WorkerContext {
        board,
        slot_index: index,
        gate_generation: generation,
        clock: Clock::new_virtual(),
        send: &send,
        is_thread: true,
        readonly: settings.readonly,
        trace: settings.trace,
        log: log.as_ref(),
    };
    record.outcome = Some(Box::new(work(worker, Some(files), &context)));
    record.status = Status::Ended;
    record.steady = steady.take().map(|group| Steady::Leads(Box::new(group)));
    for message in messages.take() {
        match message {
            WorkerMessage::Text(stream, text) => observer.event(RunEvent::Message(stream, text)),
            WorkerMessage::Interval(figures) => teller.interval(worker, &mut record, *figures, observer),
            _ => {}
        }
    }
    let failure = record.outcome.as_ref().and_then(|outcome| outcome.failure.as_ref());
    if let Some(error) = failure.filter(|error| !error.message.is_empty()) {
        observer.event(RunEvent::Message(Stream::Error, error.message.clone()));
    }
    record
}
