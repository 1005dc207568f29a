//! Snapshots of the running state for the ETA line: rates, states, time left.
//!
//! Must not know: how the line looks. Start reading at [`EtaMaker::snapshot`].

use super::EtaSettings;
use super::board::{Board, WorkerState};
use super::record::Record;
use crate::plan::{RunPlan, WorkerPlan};
use ferrio_job::spec::{DirectionMix, SizeSpec};
use ferrio_stats::eta::EtaSnapshot;
use ferrio_units::{DataDirection, PerDirection};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// No estimate is made before this.
const FIRST_ESTIMATE: Duration = Duration::from_secs(3);

/// Makes snapshots at an interval.
pub(super) struct EtaMaker {
    settings: EtaSettings,
    started_at: Instant,
    last_at: Instant,
    bytes: PerDirection<u64>,
    ios: PerDirection<u64>,
}

impl EtaMaker {
    pub(super) fn new(settings: EtaSettings, started_at: Instant) -> Self {
        let zero = PerDirection::all(0);
        Self { settings, started_at, last_at: started_at, bytes: zero, ios: zero }
    }

    fn interval(&self) -> Duration {
        Duration::from_millis(self.settings.interval_ms.max(1))
    }

    pub(super) fn is_due(&self) -> bool {
        self.settings.enabled && self.last_at.elapsed() >= self.interval()
    }

    /// Until the next snapshot.
    pub(super) fn time_left(&self) -> Duration {
        if self.settings.enabled { self.interval().saturating_sub(self.last_at.elapsed()) } else { Duration::MAX }
    }

    pub(super) fn snapshot(&mut self, plan: &RunPlan, board: &Board, records: &[Record]) -> EtaSnapshot {
        let elapsed = self.started_at.elapsed();
        let interval_ms = self.last_at.elapsed().as_millis().max(1) as u64;
        self.last_at = Instant::now();
        let (bytes, ios) = totals(board, records.len());
        let per_sec = |now: &PerDirection<u64>, before: &PerDirection<u64>| {
            let rate = |direction: DataDirection| {
                now[direction].saturating_sub(before[direction]).saturating_mul(1_000) / interval_ms
            };
            PerDirection(DataDirection::ALL.map(rate))
        };
        let (bytes_per_sec, ios_per_sec) = (per_sec(&bytes, &self.bytes), per_sec(&ios, &self.ios));
        (self.bytes, self.ios) = (bytes, ios);
        let running = |index: &usize| records[*index].is_running();
        let eta_secs = (elapsed >= FIRST_ESTIMATE).then(|| seconds_left(plan, board, records, elapsed)).flatten();
        let reporting = plan.workers.first().map(|worker| &worker.spec.reporting);
        EtaSnapshot {
            n_running: (0..records.len()).filter(running).count() as u32,
            n_open_files: (0..records.len()).map(|i| u64::from(board.slot(i).n_open_files.load(Relaxed))).sum(),
            limits: None,
            shows_progress: elapsed >= FIRST_ESTIMATE,
            states: (0..records.len()).map(|i| letter(&plan.workers[i], board.slot(i).state(), &records[i])).collect(),
            percent_done: eta_secs.map(|left| percent_done(elapsed.as_secs(), left)),
            bytes_per_sec,
            ios_per_sec,
            eta_secs,
            kb_base: reporting.map_or(1024, |reporting| reporting.kb_base),
            unit_bits: reporting.is_some_and(|reporting| reporting.unit_bits),
        }
    }
}

fn percent_done(elapsed_secs: u64, left_secs: u64) -> f64 {
    100.0 * elapsed_secs as f64 / (elapsed_secs + left_secs).max(1) as f64
}

fn totals(board: &Board, n_workers: usize) -> (PerDirection<u64>, PerDirection<u64>) {
    let mut sums = (PerDirection::all(0u64), PerDirection::all(0u64));
    for slot in (0..n_workers).map(|index| board.slot(index)) {
        for index in 0..3 {
            sums.0.0[index] += slot.bytes[index].load(Relaxed);
            sums.1.0[index] += slot.ios[index].load(Relaxed);
        }
    }
    sums
}

/// The longest estimate of all workers that have not ended.
fn seconds_left(plan: &RunPlan, board: &Board, records: &[Record], elapsed: Duration) -> Option<u64> {
    let open = (0..records.len()).filter(|index| !records[*index].has_ended());
    let estimates = open.map(|index| {
        let slot = board.slot(index);
        let bytes: u64 = slot.bytes.iter().map(|bytes| bytes.load(Relaxed)).sum();
        worker_seconds_left(&plan.workers[index], bytes, elapsed, records[index].is_running())
    });
    estimates.collect::<Option<Vec<_>>>().map(|all| all.into_iter().max().unwrap_or(0))
}

fn worker_seconds_left(worker: &WorkerPlan, bytes: u64, elapsed: Duration, runs: bool) -> Option<u64> {
    let limits = &worker.spec.limits;
    let secs = |us: u64| us.div_ceil(1_000_000);
    let planned = secs(limits.runtime_us) + secs(limits.ramp_time_us) + worker.start_delay_ns / 1_000_000_000;
    let by_time = (limits.runtime_us > 0).then(|| planned.saturating_sub(if runs { elapsed.as_secs() } else { 0 }));
    if limits.time_based {
        return by_time;
    }
    let wanted = match (worker.spec.extent.io_size, worker.spec.extent.size) {
        (Some(SizeSpec::Bytes(bytes)), _) | (None, Some(SizeSpec::Bytes(bytes))) => {
            Some(bytes.saturating_mul(u64::from(limits.loops)))
        }
        _ => None,
    };
    let by_bytes = match wanted {
        Some(wanted) if bytes > 0 => {
            let left = wanted.saturating_sub(bytes) as f64;
            Some((elapsed.as_secs_f64() * left / bytes as f64) as u64)
        }
        _ => None,
    };
    match (by_time, by_bytes) {
        (Some(time), Some(bytes)) => Some(time.min(bytes)),
        (one, other) => one.or(other),
    }
}

/// The letter of a worker in the line.
fn letter(worker: &WorkerPlan, state: WorkerState, record: &Record) -> char {
    if record.has_ended() {
        return match record {
            _ if record.killed_by.is_some() => 'K',
            _ if record.has_failed() => 'X',
            _ => '_',
        };
    }
    match state {
        WorkerState::Waiting => 'P',
        WorkerState::Created => 'C',
        WorkerState::Initialised => 'I',
        WorkerState::PreReading => 'p',
        WorkerState::Ramping => '/',
        WorkerState::Running => running_letter(worker),
        WorkerState::Syncing => 'F',
        WorkerState::Finishing => 'f',
        WorkerState::Exited => 'E',
    }
}

fn running_letter(worker: &WorkerPlan) -> char {
    let pattern = &worker.spec.pattern;
    let mix = match (pattern.mix, pattern.rwmix_read) {
        (DirectionMix::ReadWrite, 100) => DirectionMix::Read,
        (DirectionMix::ReadWrite, 0) => DirectionMix::Write,
        (mix, _) => mix,
    };
    let (sequential, random) = match mix {
        DirectionMix::Read => ('R', 'r'),
        DirectionMix::Write => ('W', 'w'),
        DirectionMix::Trim => ('D', 'd'),
        DirectionMix::ReadWrite | DirectionMix::TrimWrite => ('M', 'm'),
    };
    if pattern.random { random } else { sequential }
}
