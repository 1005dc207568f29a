//! The logs of a worker: a record for each I/O, or for each window.
//!
//! Must not know: files, rows. Start reading at [`WorkerLog`].
//! Facts: reference "Averaging", "Histogram log". Averages cost nothing per I/O, because they are differences of sums
//! that the statistics keep anyway.

use crate::logs::{IoRecord, LogPort, Recorder, bw_kb_per_sec, filled};
use crate::plan::WorkerPlan;
use crate::worker::core::WorkerCore;
use crate::worker::core::account::Stamps;
use crate::worker::core::slots::Slot;
use ferrio_spec::WindowValue;
use ferrio_spec::engines::Measures;
use ferrio_stats::histogram::N_BUCKETS;
use ferrio_stats::{DirectionStats, LatencyStat, LogKind, ThreadStats};
use ferrio_sys::Clock;
use ferrio_sys::ring::{Bell, RingWriter};
use ferrio_units::{DataDirection, PerDirection};
use std::time::{Duration, Instant};

const NS_PER_MS: u64 = 1_000_000;
/// Time that a worker sleeps when its ring is full.
const FULL_SLEEP: Duration = Duration::from_micros(100);
/// Time after which a direction whose window is over but empty is looked at again.
const RETRY_NS: u64 = NS_PER_MS;
/// The latencies of windows, in the order of their logs.
const LATENCIES: [LogKind; 3] = [LogKind::Slat, LogKind::Clat, LogKind::Lat];

pub(crate) struct WorkerLog<'a> {
    port: Port<'a>,
    recorder: Recorder,
    epoch_ns: u64,
    has: [bool; LogKind::ALL.len()],
    /// There is a row for each I/O.
    each: bool,
    /// Windows have maxima, so every I/O is looked at.
    maxima: bool,
    /// Openings of files are the samples, not I/Os.
    has_openings: bool,
    ioprio: u16,
    window_ns: u64,
    windows: PerDirection<LatencyWindow>,
    /// Time between two histograms; `u64::MAX`: there is one at the end.
    histogram_ns: u64,
    intervals: PerDirection<HistogramInterval>,
    shows: WindowValue,
}

#[derive(Debug, Clone, Copy, Default)]
struct LatencyWindow {
    start_ns: u64,
    /// Number of samples and sum of each latency when the window began.
    before: [(u64, u128); 3],
    maximum_ns: [u64; 3],
}

#[derive(Debug, Clone, Default)]
struct HistogramInterval {
    start_ns: u64,
    /// Counts when the interval began; empty: all are zero.
    before: Vec<u64>,
    /// Block size of the last I/O.
    block_bytes: u64,
}

/// The writing end of the ring; it waits while the ring is full.
struct Port<'a> {
    writer: RingWriter<'a>,
    bell: &'a Bell,
    /// Time that the worker waited for room.
    stalled: Duration,
}

impl Port<'_> {
    #[inline]
    fn send(&mut self, record: &[u64]) {
        if !self.writer.push(record) {
            self.wait_for_room(record);
        } else if self.writer.seems_half_full() {
            self.wake_reader();
        }
    }

    #[cold]
    fn wake_reader(&mut self) {
        if self.writer.is_half_full() {
            self.bell.ring();
        }
    }

    #[cold]
    fn wait_for_room(&mut self, record: &[u64]) {
        let began_at = Instant::now();
        loop {
            self.bell.ring();
            std::thread::sleep(FULL_SLEEP);
            if self.writer.push(record) {
                break;
            }
        }
        self.stalled += began_at.elapsed();
    }
}

impl<'a> WorkerLog<'a> {
    /// The logs of a worker; `None`: it has none, or none with rows.
    pub(crate) fn new(plan: &WorkerPlan, port: Option<&'a LogPort>, ioprio: u16) -> Option<Self> {
        let port = port?;
        let logs = &plan.spec.logs;
        let has = filled(plan);
        let each = logs.window_ms == 0 && !plan.spec.reporting.gtod_reduce;
        // A histogram has no rows for single I/Os, so no record is sent for it.
        let each = each && LogKind::ALL.into_iter().any(|kind| kind != LogKind::ClatHist && has[kind as usize]);
        Some(Self {
            port: Port { writer: port.ring.writer(), bell: &port.bell, stalled: Duration::ZERO },
            recorder: Recorder { offset: logs.offset, issue_time: logs.issue_time },
            epoch_ns: 0,
            has,
            each,
            maxima: logs.window_value != WindowValue::Average && logs.window_ms > 0,
            has_openings: plan.engine.def.measures == Measures::Openings,
            ioprio,
            window_ns: u64::from(logs.window_ms) * NS_PER_MS,
            windows: PerDirection::default(),
            histogram_ns: match u64::from(logs.histogram_ms) {
                0 => u64::MAX,
                interval_ms => interval_ms * NS_PER_MS,
            },
            intervals: PerDirection::default(),
            shows: logs.window_value,
        })
    }

    fn has(&self, kind: LogKind) -> bool {
        self.has[kind as usize]
    }

    fn has_latencies(&self) -> bool {
        LATENCIES.into_iter().any(|kind| self.has(kind))
    }

    /// True if every I/O has to be passed to [`WorkerLog::io_done`].
    pub(crate) fn needs_each_io(&self) -> bool {
        if self.has_openings {
            return false;
        }
        let rows = self.each && (self.has_latencies() || self.has(LogKind::Bw) || self.has(LogKind::Iops));
        rows || (self.maxima && self.has_latencies()) || self.has(LogKind::ClatHist)
    }

    /// Starts the logs; counted I/O begins now. Rows show times from `base_ms` on (0: from here).
    pub(crate) fn start(&mut self, now_ns: u64, base_ms: u64) {
        self.epoch_ns = now_ns;
        Recorder::epoch(base_ms, &mut |record| self.port.send(record));
        for direction in DataDirection::ALL {
            self.windows[direction] = LatencyWindow::default();
            self.intervals[direction] = HistogramInterval::default();
        }
    }

    /// Time that the worker has waited because the rows could not be written as fast as it made them.
    pub(crate) fn stalled(&self) -> Duration {
        self.port.stalled
    }

    /// True if there is a bandwidth row for each I/O.
    fn bw_each(&self) -> bool {
        self.each && self.has(LogKind::Bw) && !self.has_openings
    }

    /// True if there is an IOPS row for each I/O.
    fn iops_each(&self) -> bool {
        self.each && self.has(LogKind::Iops) && !self.has_openings
    }

    /// Called after a counted data I/O was handed to the kernel.
    pub(crate) fn issued(&mut self, core: &WorkerCore<'_>, slot_index: u32, direction: DataDirection) {
        if !core.account.is_ramping() {
            self.io_issued(core.slots.get(slot_index), direction, &core.clock);
        }
    }

    /// Called after a data I/O is done.
    #[cold]
    #[inline(never)]
    pub(crate) fn done(&mut self, core: &mut WorkerCore<'_>, slot_index: u32, direction: DataDirection, done: u64) {
        let WorkerCore { account, slots, clock, control, .. } = core;
        if account.is_ramping() {
            return;
        }
        let slot = slots.get(slot_index);
        let figures = &mut account.stats.directions[direction];
        if self.bw_each() {
            figures.bw.record(bw_kb_per_sec(slot.length_bytes as u32, clock.between_ns(slot.stamps.issue, done)));
        }
        if self.iops_each() {
            figures.iops.record(1);
        }
        let stalled = self.stalled();
        self.io_done(slot, direction, clock, done);
        if self.stalled() != stalled {
            // The wait must not count for the next I/O, so the loop takes a new stamp.
            control.look_up();
        }
    }

    /// Records a data I/O that was handed to the kernel.
    pub(crate) fn io_issued(&mut self, slot: &Slot, direction: DataDirection, clock: &Clock) {
        let slat_ns = clock.between_ns(slot.stamps.start, slot.stamps.issue);
        if self.each && self.has(LogKind::Slat) {
            let record = self.record(slot, direction, clock, slot.stamps.issue);
            let record = IoRecord { clat_ns: slat_ns, ..record };
            self.recorder.slat(&record, &mut |record| self.port.send(record));
        } else if self.maxima {
            let maximum_ns = &mut self.windows[direction].maximum_ns[0];
            *maximum_ns = slat_ns.max(*maximum_ns);
        }
    }

    fn io_done(&mut self, slot: &Slot, direction: DataDirection, clock: &Clock, done: u64) {
        let Stamps { start, issue } = slot.stamps;
        let (clat_ns, lat_ns) = (clock.between_ns(issue, done), clock.between_ns(start, done));
        self.intervals[direction].block_bytes = slot.length_bytes;
        if self.each {
            let record = IoRecord { clat_ns, lat_ns, ..self.record(slot, direction, clock, done) };
            self.recorder.io(&record, &mut |record| self.port.send(record));
        } else if self.maxima {
            let [_, clat, lat] = &mut self.windows[direction].maximum_ns;
            (*clat, *lat) = (clat_ns.max(*clat), lat_ns.max(*lat));
        }
    }

    /// Records the opening of a file, which took `took_ns`.
    pub(crate) fn opened(&mut self, direction: DataDirection, now_ns: u64, took_ns: u64) {
        if self.each && self.has(LogKind::Clat) {
            self.window(LogKind::Clat, direction, now_ns, took_ns, took_ns);
        }
        let maximum_ns = &mut self.windows[direction].maximum_ns[1];
        *maximum_ns = took_ns.max(*maximum_ns);
    }

    #[inline]
    fn record(&self, slot: &Slot, direction: DataDirection, clock: &Clock, stamp: u64) -> IoRecord {
        IoRecord {
            direction,
            time_ms: clock.at_ns(stamp).saturating_sub(self.epoch_ns) / NS_PER_MS,
            block_bytes: slot.length_bytes as u32,
            ioprio: if slot.unit.ioprio == 0 { self.ioprio } else { slot.unit.ioprio },
            clat_ns: 0,
            lat_ns: 0,
            offset_bytes: slot.data_offset,
            issue_ns: clock.at_ns(slot.stamps.issue).saturating_sub(self.epoch_ns),
        }
    }

    /// Records the end of a bandwidth or IOPS window.
    pub(crate) fn rate(&mut self, kind: LogKind, direction: DataDirection, now_ns: u64, value: u64) {
        if !self.each && self.has(kind) {
            self.window(kind, direction, now_ns, value, value);
        }
    }

    fn window(&mut self, kind: LogKind, direction: DataDirection, now_ns: u64, average: u64, maximum: u64) {
        let time_ms = now_ns.saturating_sub(self.epoch_ns) / NS_PER_MS;
        let (value, maximum) = match self.shows {
            WindowValue::Average => (average, 0),
            WindowValue::Maximum => (maximum, 0),
            WindowValue::Both => (average, maximum),
        };
        Recorder::window(kind, direction, [time_ms, value, maximum], &mut |record| self.port.send(record));
    }

    pub(crate) fn next_ns(&self, now_ns: u64) -> u64 {
        let mut next_ns = u64::MAX;
        for direction in DataDirection::ALL {
            if self.window_ns > 0 && self.has_latencies() {
                next_ns = next_ns.min(self.epoch_ns + self.windows[direction].start_ns + self.window_ns);
            }
            if self.has(LogKind::ClatHist) {
                next_ns =
                    next_ns.min((self.epoch_ns + self.intervals[direction].start_ns).saturating_add(self.histogram_ns));
            }
        }
        next_ns.max(now_ns + RETRY_NS)
    }

    /// Ends the windows and intervals that are due.
    pub(crate) fn tick(&mut self, now_ns: u64, stats: &ThreadStats) {
        let elapsed_ns = now_ns.saturating_sub(self.epoch_ns);
        for direction in DataDirection::ALL {
            let figures = &stats.directions[direction];
            if self.window_ns > 0
                && self.has_latencies()
                && elapsed_ns - self.windows[direction].start_ns.min(elapsed_ns) >= self.window_ns
            {
                self.end_window(direction, now_ns, figures);
            }
            if self.has(LogKind::ClatHist)
                && elapsed_ns - self.intervals[direction].start_ns.min(elapsed_ns) >= self.histogram_ns
            {
                self.end_interval(direction, elapsed_ns, figures);
            }
        }
    }

    /// Ends all windows and intervals that have begun, because the job ends: no I/O is without a row.
    pub(crate) fn finish(&mut self, now_ns: u64, stats: &ThreadStats) {
        if self.window_ns > 0 && self.has_latencies() {
            for direction in DataDirection::ALL {
                self.end_window(direction, now_ns, &stats.directions[direction]);
            }
        }
        if self.has(LogKind::ClatHist) {
            for direction in DataDirection::ALL {
                self.end_interval(direction, now_ns.saturating_sub(self.epoch_ns), &stats.directions[direction]);
            }
        }
    }

    /// A row for each latency, if the direction had I/O; otherwise the window stays open until it has.
    fn end_window(&mut self, direction: DataDirection, now_ns: u64, figures: &DirectionStats) {
        let mut window = self.windows[direction];
        let stats: [&LatencyStat; 3] = [&figures.slat, &figures.clat, &figures.lat];
        let mut had_io = false;
        for (index, kind) in LATENCIES.into_iter().enumerate() {
            let (n_before, sum_before) = window.before[index];
            let n_samples = stats[index].n_samples - n_before;
            if n_samples == 0 {
                continue;
            }
            had_io = true;
            let sum_ns = stats[index].sum_ns - sum_before;
            // Rounded to the nearest; the mean of u64 values fits into u64.
            let average_ns = ((sum_ns + u128::from(n_samples) / 2) / u128::from(n_samples)) as u64;
            window.before[index] = (stats[index].n_samples, stats[index].sum_ns);
            if self.has(kind) {
                self.window(kind, direction, now_ns, average_ns, window.maximum_ns[index]);
            }
        }
        if had_io {
            let elapsed_ns = now_ns.saturating_sub(self.epoch_ns);
            window.start_ns = elapsed_ns - elapsed_ns % self.window_ns;
            window.maximum_ns = [0; 3];
        }
        self.windows[direction] = window;
    }

    fn end_interval(&mut self, direction: DataDirection, elapsed_ns: u64, figures: &DirectionStats) {
        let Some(histogram) = &figures.clat.histogram else { return };
        let interval = &mut self.intervals[direction];
        if interval.before.is_empty() {
            interval.before = vec![0; N_BUCKETS];
        }
        let counts = histogram.folded_counts();
        let pairs = counts.clone().zip(&interval.before).map(|(now, before)| now - before).enumerate();
        let (time_ms, block_bytes) = (elapsed_ns / NS_PER_MS, interval.block_bytes);
        if pairs.clone().any(|(_, count)| count > 0) {
            let filled = pairs.filter(|(_, count)| *count > 0);
            Recorder::histogram(direction, time_ms, block_bytes, filled, &mut |record| self.port.send(record));
            interval.before.iter_mut().zip(counts).for_each(|(before, count)| *before = count);
            interval.start_ns = elapsed_ns - elapsed_ns % self.histogram_ns;
        }
    }
}
