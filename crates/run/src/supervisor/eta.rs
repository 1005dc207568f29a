//! Snapshots of the running state for the ETA line: rates, states, time left.
//!
//! Must not know: how the line looks. Start reading at [`EtaMaker::snapshot`].

use super::record::SupervisedWorker;
use crate::link::board::{Board, WorkerState};
use crate::plan::{RunPlan, WorkerPlan};
use ferrio_spec::DirectionMix;
use ferrio_stats::eta::{EtaLimits, EtaSnapshot};
use ferrio_units::{DataDirection, PerDirection};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// The second of a run with which estimates begin to be shown.
pub(super) const FIRST_ESTIMATE_SECS: u64 = 3;

/// Seconds since the start as reports count them: a second that has begun counts.
pub(super) fn whole_seconds(elapsed: Duration) -> u64 {
    elapsed.as_millis().div_ceil(1_000) as u64
}

/// Longest interval while no job does counted I/O.
const IDLE_INTERVAL: Duration = Duration::from_millis(250);

/// Makes snapshots at an interval.
pub(super) struct EtaMaker {
    /// `None`: no snapshots are made.
    interval: Option<Duration>,
    started_at: Instant,
    /// Due time of the next snapshot. The intervals count from the run, however long a snapshot takes.
    due_at: Instant,
    last_at: Instant,
    bytes: PerDirection<u64>,
    ios: PerDirection<u64>,
}

impl EtaMaker {
    pub(super) fn new(interval: Option<Duration>, started_at: Instant) -> Self {
        let zero = PerDirection::all(0);
        let mut maker = Self { interval, started_at, due_at: started_at, last_at: started_at, bytes: zero, ios: zero };
        maker.due_at += maker.interval();
        maker
    }

    fn interval(&self) -> Duration {
        self.interval.unwrap_or_default().max(Duration::from_millis(1))
    }

    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.interval.is_some() && now >= self.due_at
    }

    /// Time until the next snapshot.
    pub(super) fn time_left(&self, now: Instant) -> Duration {
        if self.interval.is_none() {
            return Duration::MAX;
        }
        self.due_at.saturating_duration_since(now)
    }

    /// The time that a snapshot made now stands for: its due time, so that a second that has just begun does not count.
    /// If it is late by more than an interval, it stands for the present time. While no job does counted I/O the next
    /// one comes sooner.
    fn take_due_time(&mut self, now: Instant, counts: bool) -> Instant {
        let interval = if counts { self.interval() } else { self.interval().min(IDLE_INTERVAL) };
        let (due_at, following) = (self.due_at, self.due_at + interval);
        self.due_at = if following > now { following } else { now + interval };
        debug_assert!(self.due_at > now, "a snapshot that is made is not due again at once");
        if following > now { due_at } else { now }
    }

    pub(super) fn snapshot(
        &mut self,
        plan: &RunPlan,
        board: &Board,
        records: &[SupervisedWorker],
        now: Instant,
    ) -> EtaSnapshot {
        let running = |index: &usize| records[*index].is_running();
        let counts = |index: &usize| running(index) && board.slot(*index).state() > WorkerState::Ramping;
        let only_ramps = !(0..records.len()).any(|index| counts(&index));
        let due_at = self.take_due_time(now, !only_ramps);
        let elapsed_secs = whole_seconds(due_at.saturating_duration_since(self.started_at));
        let interval_ms = now.saturating_duration_since(self.last_at).as_millis().max(1) as u64;
        self.last_at = now;
        let (bytes, ios) = totals(board, records.len());
        let per_sec = |now: &PerDirection<u64>, before: &PerDirection<u64>| {
            let rate = |direction: DataDirection| {
                now[direction].saturating_sub(before[direction]).saturating_mul(1_000) / interval_ms
            };
            PerDirection(DataDirection::ALL.map(rate))
        };
        let (bytes_per_sec, ios_per_sec) = (per_sec(&bytes, &self.bytes), per_sec(&ios, &self.ios));
        (self.bytes, self.ios) = (bytes, ios);
        let shows_progress = elapsed_secs >= FIRST_ESTIMATE_SECS;
        let eta_secs = shows_progress.then(|| seconds_left(plan, board, records, due_at)).flatten();
        let n_open = |index: usize| u64::from(board.slot(index).n_open_files.load(Relaxed));
        let reporting = plan.workers.first().map(|worker| &worker.spec.reporting);
        EtaSnapshot {
            p99_ns: None,
            n_running: (0..records.len()).filter(running).count() as u32,
            n_open_files: (0..records.len()).filter(counts).map(n_open).sum(),
            limits: rate_limits(
                plan.workers.iter().enumerate().filter(|(index, _)| running(index)).map(|(_, worker)| worker),
            ),
            shows_progress,
            states: (0..records.len()).map(|i| letter(&plan.workers[i], board.slot(i).state(), &records[i])).collect(),
            percent_done: eta_secs.filter(|_| !only_ramps).map(|left| percent_done(elapsed_secs, left)),
            only_ramps,
            bytes_per_sec,
            ios_per_sec,
            eta_secs,
            kb_base: reporting.map_or(1024, |reporting| reporting.kb_base),
            unit_bits: plan.workers.first().is_some_and(WorkerPlan::shows_bits),
        }
    }
}

/// Rates and minimum rates of the jobs, summed over the directions in use; rates in bytes come first.
fn rate_limits<'a>(workers: impl Iterator<Item = &'a WorkerPlan>) -> Option<EtaLimits> {
    let (mut bytes, mut ios) = ((0_u64, 0_u64), (0_u64, 0_u64));
    for worker in workers {
        let (pace, used) = (&worker.spec.pace, worker.used_directions());
        for direction in DataDirection::ALL.into_iter().filter(|direction| used[*direction]) {
            bytes.0 = bytes.0.saturating_add(pace.min_bytes_per_sec[direction]);
            bytes.1 = bytes.1.saturating_add(pace.bytes_per_sec[direction]);
            ios.0 = ios.0.saturating_add(pace.min_ios_per_sec[direction].into());
            ios.1 = ios.1.saturating_add(pace.ios_per_sec[direction].into());
        }
    }
    match (bytes, ios) {
        ((0, 0), (0, 0)) => None,
        ((0, 0), (min, max)) => Some(EtaLimits::Ios { min, max }),
        ((min, max), _) => Some(EtaLimits::BytesPerSec { min, max }),
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

/// The longest estimate of all workers that have not ended, plus those of workers that wait for them. `None`: unknown.
pub(super) fn seconds_left(plan: &RunPlan, board: &Board, records: &[SupervisedWorker], now: Instant) -> Option<u64> {
    let (mut before, mut longest) = (0_u64, 0);
    for (index, (worker, record)) in plan.workers.iter().zip(records).enumerate() {
        if record.has_ended() {
            continue;
        }
        if worker.stonewall() && record.is_waiting() {
            before = before.saturating_add(longest);
            longest = 0;
        }
        let left = match record.let_go_at {
            Some(let_go_at) if record.is_running() => {
                let bytes = board.slot(index).bytes.iter().map(|bytes| bytes.load(Relaxed)).sum();
                time_left_of(worker, bytes, now.saturating_duration_since(let_go_at))?
            }
            _ => time_left_of(worker, 0, Duration::ZERO)?,
        };
        longest = left.as_secs().max(longest);
    }
    Some(before.saturating_add(longest))
}

/// Remaining time of a worker that has moved this many bytes in this time, including its ramp.
fn time_left_of(worker: &WorkerPlan, bytes: u64, ran: Duration) -> Option<Duration> {
    let limits = &worker.spec.limits;
    let ramp = Duration::from_micros(limits.ramp_time_us);
    let by_time = (limits.runtime_us > 0).then(|| {
        let delay = if ran.is_zero() { Duration::from_nanos(worker.start_delay_ns) } else { Duration::ZERO };
        (Duration::from_micros(limits.runtime_us).saturating_add(ramp).saturating_add(delay)).saturating_sub(ran)
    });
    if limits.time_based {
        return by_time;
    }
    let by_bytes = wanted_bytes(worker).and_then(|wanted| time_for_bytes(wanted, bytes, ran, ramp));
    match (by_time, by_bytes) {
        (Some(time), Some(bytes)) => Some(time.min(bytes)),
        (one, other) => one.or(other),
    }
}

/// Bytes that a worker will have moved at its end, if its options determine that.
fn wanted_bytes(worker: &WorkerPlan) -> Option<u64> {
    let extent = &worker.spec.extent;
    let given = extent.given_io_bytes()?;
    let bytes = match &worker.spec.pattern.sprandom {
        Some(sprandom) if extent.io_size.is_none() => sprandom.pass_bytes(given, worker.write_block_bytes()),
        _ => given,
    };
    Some(bytes.saturating_mul(u64::from(worker.spec.limits.loops)))
}

/// Time for the remaining bytes at the rate so far, to the nearest second. Bytes of the ramp do not count.
fn time_for_bytes(wanted: u64, bytes: u64, ran: Duration, ramp: Duration) -> Option<Duration> {
    if bytes == 0 || ran <= ramp {
        return None;
    }
    let rate = bytes as f64 / ran.as_secs_f64();
    let counted = rate * ran.saturating_sub(ramp).as_secs_f64();
    // Casts saturate: a rate near 0 gives a very long time.
    Some(Duration::from_secs(((wanted as f64 - counted).max(0.0) / rate).round() as u64))
}

/// The letter of a worker in the line.
fn letter(worker: &WorkerPlan, state: WorkerState, record: &SupervisedWorker) -> char {
    if record.has_ended() {
        return match record {
            _ if record.end.killed_by.is_some() => 'K',
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
        WorkerState::Verifying => 'V',
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

#[cfg(test)]
mod tests {
    use super::super::record::WorkerStatus;
    use super::super::worker_handle::WorkerHandle;
    use super::*;
    use ferrio_spec::{JobSpec, RunSpec, SizeSpec, SpRandomSpec};

    const MIB: u64 = 1 << 20;
    const SECOND: u64 = 1_000_000;

    fn job(set: impl FnOnce(&mut JobSpec)) -> JobSpec {
        let mut job = JobSpec::default();
        "null".clone_into(&mut job.engine.name);
        set(&mut job);
        job
    }

    fn plan(jobs: Vec<JobSpec>) -> RunPlan {
        RunPlan::new(RunSpec {
            global_options: Vec::new(),
            jobs,
            compatibility: ferrio_spec::Compatibility::Fio,
            ..RunSpec::default()
        })
        .unwrap()
    }

    /// Estimate for a job that has moved this many MiB in this many milliseconds.
    fn left(set: impl FnOnce(&mut JobSpec), n_mib: u64, ran_ms: u64) -> Option<u64> {
        let plan = plan(vec![job(set)]);
        time_left_of(&plan.workers[0], n_mib * MIB, Duration::from_millis(ran_ms)).map(|left| left.as_secs())
    }

    // Expected: arithmetic. Lines of fio 3.41 for the jobs with a runtime, a size, and loops show the same.
    #[test]
    fn time_left_of_one_job() {
        let timed = |job: &mut JobSpec| (job.limits.runtime_us, job.limits.time_based) = (4 * SECOND, true);
        assert_eq!([0, 995, 2_495, 2_995, 3_500, 4_100].map(|ms| left(timed, 9, ms)), [4, 3, 1, 1, 0, 0].map(Some));
        let ramped = |job: &mut JobSpec| {
            timed(job);
            job.limits.ramp_time_us = 2 * SECOND;
        };
        assert_eq!([0, 1_000, 5_000].map(|ms| left(ramped, 9, ms)), [6, 5, 1].map(Some));
        let sized = |job: &mut JobSpec| job.extent.size = Some(SizeSpec::Bytes(6 * MIB));
        assert_eq!(
            [(0, 0), (2, 2_000), (3, 3_010), (6, 6_000)].map(|(n, ms)| left(sized, n, ms)),
            [None, Some(4), Some(3), Some(0)]
        );
        let looped = |job: &mut JobSpec| (job.extent.size, job.limits.loops) = (Some(SizeSpec::Bytes(3 * MIB)), 2);
        assert_eq!(left(looped, 3, 3_000), Some(3));
        // The first 3 of 5 MiB are the ramp and do not count.
        let ramped_size = |job: &mut JobSpec| {
            job.extent.size = Some(SizeSpec::Bytes(4 * MIB));
            job.limits.ramp_time_us = 3 * SECOND;
        };
        assert_eq!([(2, 2_000), (5, 5_000)].map(|(n, ms)| left(ramped_size, n, ms)), [None, Some(2)]);
        let both = |job: &mut JobSpec| {
            job.extent.size = Some(SizeSpec::Bytes(6 * MIB));
            job.limits.runtime_us = 4 * SECOND;
        };
        assert_eq!([(1, 2_000), (5, 2_000)].map(|(n, ms)| left(both, n, ms)), [Some(2), Some(0)]);
        assert_eq!(left(|job| job.extent.size = Some(SizeSpec::Percent(50)), 1, 1_000), None);
        // 6 MiB, and half of that again.
        let preconditioned = |job: &mut JobSpec| {
            sized(job);
            job.pattern.sprandom = Some(SpRandomSpec { n_regions: 100, over_provisioning: 0.5, cache_bytes: 0 });
        };
        assert_eq!(left(preconditioned, 3, 3_000), Some(6));
    }

    #[test]
    fn what_waits_comes_on_top() {
        let timed = |secs: u64| job(|job| (job.limits.runtime_us, job.limits.time_based) = (secs * SECOND, true));
        let mut waiting = timed(3);
        waiting.grouping.stonewall = true;
        let plan = plan(vec![timed(4), timed(6), waiting]);
        let board = Board::new(3).unwrap();
        let start = Instant::now();
        let mut records: Vec<SupervisedWorker> = (0..3).map(|_| SupervisedWorker::default()).collect();
        let after = |secs: u64, records: &[SupervisedWorker]| {
            seconds_left(&plan, &board, records, start + Duration::from_secs(secs))
        };
        assert_eq!(after(0, &records), Some(9), "nothing has begun");
        for record in &mut records[..2] {
            record.status = WorkerStatus::Running(WorkerHandle::Thread(None, std::sync::mpsc::channel().1));
            record.let_go_at = Some(start);
        }
        assert_eq!([1, 5].map(|secs| after(secs, &records)), [Some(8), Some(4)]);
        records[0].status = WorkerStatus::Ended;
        records[1].status = WorkerStatus::Ended;
        assert_eq!(after(6, &records), Some(3));
        records[2].status = WorkerStatus::Ended;
        assert_eq!(after(9, &records), Some(0));
    }

    // Expected: the limits that fio 3.41 shows for such jobs.
    #[test]
    fn limits_are_sums_over_what_is_used() {
        let limits = |jobs: Vec<JobSpec>| rate_limits(plan(jobs).workers.iter());
        let paced = |mix: DirectionMix, iops: [u32; 3], rate: u64, min: u64| {
            job(|job| {
                job.pattern.mix = mix;
                job.pace.ios_per_sec.0 = iops;
                (job.pace.bytes_per_sec.0, job.pace.min_bytes_per_sec.0) = ([rate; 3], [min; 3]);
            })
        };
        let reader = || {
            let mut reader = paced(DirectionMix::Read, [1_000, 200, 300], 0, 0);
            reader.pace.min_ios_per_sec.0 = [1; 3];
            reader
        };
        assert_eq!(limits(vec![job(|_| ())]), None);
        let mixed = paced(DirectionMix::ReadWrite, [0; 3], MIB, 1_024);
        assert_eq!(limits(vec![mixed]), Some(EtaLimits::BytesPerSec { min: 2_048, max: 2 * MIB }));
        let writer = paced(DirectionMix::Write, [50; 3], 0, 0);
        assert_eq!(limits(vec![reader(), writer]), Some(EtaLimits::Ios { min: 1, max: 1_050 }));
        let by_bytes = paced(DirectionMix::Write, [0; 3], 5 * MIB, 0);
        assert_eq!(limits(vec![reader(), by_bytes]), Some(EtaLimits::BytesPerSec { min: 0, max: 5 * MIB }));
    }

    #[test]
    fn seconds_that_have_begun_count() {
        let seconds = [0, 1, 1_000, 1_001, 2_000, 2_500].map(|ms| whole_seconds(Duration::from_millis(ms)));
        assert_eq!(seconds, [0, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn snapshots_stand_for_the_time_at_which_they_are_due() {
        let start = Instant::now();
        let mut maker = EtaMaker::new(Some(Duration::from_millis(500)), start);
        let mut stands_for =
            |ms: u64| (maker.take_due_time(start + Duration::from_millis(ms), true) - start).as_millis();
        assert_eq!([500, 1_003, 1_650, 2_000].map(&mut stands_for), [500, 1_000, 1_500, 2_000]);
        // After a delay of more than an interval, the snapshot stands for its own time, and the next comes one interval
        // later.
        assert_eq!([3_700, 4_201].map(stands_for), [3_700, 4_200]);
        let mut stands_for =
            |ms: u64| (maker.take_due_time(start + Duration::from_millis(ms), false) - start).as_millis();
        assert_eq!([4_700, 4_951, 5_200].map(&mut stands_for), [4_700, 4_950, 5_200], "nothing counts yet");
    }
}
