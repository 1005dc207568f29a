//! What a worker counts per I/O, and the samples of bandwidth and I/O rate.
//!
//! Must not know: engines, files. Start reading at [`Account::data_done`], the hot path.

use crate::logs::bw_kb_per_sec;
use crate::plan::WorkerPlan;
use ferrio_job::spec::RateLatency;
use ferrio_stats::{LatencyStat, LatencyTarget, LogKind, ThreadStats};
use ferrio_sys::Clock;
use ferrio_units::{DataDirection, PerDirection};
use ferrio_workload::command_priority::CommandPriorities;

/// Stamps of one I/O.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Stamps {
    /// Preparation began.
    pub(super) start: u64,
    /// Handed to the kernel.
    pub(super) issue: u64,
}

/// Counts of one worker.
pub(super) struct Account {
    /// What was counted since the start, or since the end of the ramp. While the ramp runs it is counted here too, and
    /// forgotten at its end: so no I/O asks whether there is a ramp.
    pub(super) stats: ThreadStats,
    measures_slat: bool,
    measures_clat: bool,
    measures_lat: bool,
    samples_bw: bool,
    samples_iops: bool,
    /// A sample of bandwidth, of I/Os per second is made of each I/O: what is logged so is reported so.
    bw_each: bool,
    iops_each: bool,
    is_ramping: bool,
    /// Progress in the ramp, once that is over.
    ramp_bytes: PerDirection<u64>,
    ramp_ios: PerDirection<u64>,
    bw_window: Window,
    iops_window: Window,
    /// Priorities are told apart by the total latency, not the completion latency.
    priorities_by_lat: bool,
}

/// A sampler of one rate. Its windows end at multiples of their length from the start of I/O.
struct Window {
    length_ns: u64,
    /// The start of I/O.
    origin_ns: u64,
    /// When the window began: when the one before it was seen to have ended.
    start_ns: u64,
    end_ns: u64,
    counts: PerDirection<u64>,
}

impl Account {
    pub(super) fn new(plan: &WorkerPlan) -> Self {
        let (spec, synchronous) = (&plan.spec.reporting, plan.engine.synchronous);
        let full = !spec.gtod_reduce;
        let mut account = Self {
            stats: ThreadStats::default(),
            measures_slat: full && !spec.disable_slat && !synchronous,
            measures_clat: full && !spec.disable_clat,
            measures_lat: full && !spec.disable_lat,
            samples_bw: full && !spec.disable_bw,
            samples_iops: true,
            bw_each: false,
            iops_each: false,
            is_ramping: false,
            ramp_bytes: PerDirection::all(0),
            ramp_ios: PerDirection::all(0),
            bw_window: Window::new(spec.bw_window_ms),
            iops_window: Window::new(spec.iops_window_ms),
            priorities_by_lat: spec.lat_percentiles,
        };
        account.make_room(plan);
        account
    }

    /// Gives the statistics what they are to measure.
    fn make_room(&mut self, plan: &WorkerPlan) {
        let (spec, latency, stats) = (&plan.spec.reporting, &plan.spec.latency, &mut self.stats);
        stats.latency_depth = plan.queue().iodepth;
        stats.latency_target = LatencyTarget {
            target_ns: latency.target_us.saturating_mul(1_000),
            window_ns: latency.window_us.saturating_mul(1_000),
            percentile: latency.percentile,
        };
        // Both views are to have their percentiles.
        let has_response = plan.spec.pace.latency == RateLatency::Response;
        // A histogram takes 32 KB of address space: directions without I/O have none.
        for direction in DataDirection::ALL.into_iter().filter(|direction| plan.measured_directions()[*direction]) {
            let figures = &mut stats.directions[direction];
            figures.slat = LatencyStat::new(spec.slat_percentiles);
            figures.clat = LatencyStat::new(spec.clat_percentiles || plan.spec.logs.histogram.is_some());
            figures.lat = LatencyStat::new(spec.lat_percentiles || has_response);
            figures.response = LatencyStat::new(has_response);
        }
        stats.sync = LatencyStat::new(plan.writes());
    }

    /// Makes room for the latencies of all priorities that I/Os may have.
    pub(super) fn tell_priorities(&mut self, plan: &WorkerPlan, priorities: Option<&CommandPriorities>) {
        let Some(priorities) = priorities else { return };
        let spec = &plan.spec.reporting;
        let has_histogram = spec.lat_percentiles || spec.clat_percentiles;
        for direction in DataDirection::ALL.into_iter().filter(|direction| plan.measured_directions()[*direction]) {
            for ioprio in std::iter::once(plan.ioprio()).chain(priorities.of_direction(direction)) {
                self.stats.directions[direction].priorities.entry(ioprio, has_histogram);
            }
        }
    }

    /// A data I/O of a priority is done.
    pub(super) fn priority_done(
        &mut self,
        direction: DataDirection,
        ioprio: u16,
        clock: &Clock,
        stamps: Stamps,
        done_stamp: u64,
    ) {
        let (is_measured, from) =
            if self.priorities_by_lat { (self.measures_lat, stamps.start) } else { (self.measures_clat, stamps.issue) };
        if is_measured {
            let latency = self.stats.directions[direction].priorities.entry(ioprio, false);
            latency.record(clock.between_ns(from, done_stamp));
        }
    }

    /// A data I/O is done, so long after it was meant to start.
    pub(super) fn response_done(&mut self, direction: DataDirection, response_ns: u64) {
        self.stats.directions[direction].response.record(response_ns);
    }

    /// Samples of bandwidth, of I/Os per second are made of each I/O, not of windows.
    pub(super) fn sample_each(&mut self, bw: bool, iops: bool) {
        (self.bw_each, self.iops_each) = (bw, iops);
        self.samples_bw &= !bw;
        self.samples_iops = !iops;
    }

    /// The samples of one I/O, where they are made so.
    pub(super) fn sample_io(&mut self, direction: DataDirection, bytes: u64, clat_ns: u64) {
        let figures = &mut self.stats.directions[direction];
        if self.bw_each {
            figures.bw.record(bw_kb_per_sec(bytes as u32, clat_ns));
        }
        if self.iops_each {
            figures.iops.record(1);
        }
    }

    /// True when at least one latency is wanted, so that every I/O needs its stamps.
    pub(super) fn needs_stamps(&self) -> bool {
        self.measures_slat || self.measures_clat || self.measures_lat
    }

    /// A data I/O was handed to the kernel.
    #[inline]
    pub(super) fn data_issued(&mut self, direction: DataDirection, clock: &Clock, stamps: Stamps) {
        if self.measures_slat {
            self.stats.directions[direction].slat.record(clock.between_ns(stamps.start, stamps.issue));
        }
    }

    /// A data I/O is done.
    #[inline]
    pub(super) fn data_done(
        &mut self,
        direction: DataDirection,
        bytes: u64,
        clock: &Clock,
        stamps: Stamps,
        done_stamp: u64,
    ) {
        let figures = &mut self.stats.directions[direction];
        figures.n_completed += 1;
        figures.bytes += bytes;
        if self.measures_clat {
            let clat_ns = clock.between_ns(stamps.issue, done_stamp);
            figures.clat.record(clat_ns);
            self.stats.latency_buckets.record(clat_ns);
        }
        if self.measures_lat {
            figures.lat.record(clock.between_ns(stamps.start, done_stamp));
        }
    }

    /// A sync is done.
    pub(super) fn sync_done(&mut self, clock: &Clock, stamps: Stamps, done_stamp: u64) {
        if self.measures_clat {
            self.stats.sync.record(clock.between_ns(stamps.issue, done_stamp));
        }
    }

    /// Bytes moved, ramp included: what the board shows.
    pub(super) fn bytes(&self) -> PerDirection<u64> {
        PerDirection(
            DataDirection::ALL.map(|direction| self.ramp_bytes[direction] + self.stats.directions[direction].bytes),
        )
    }

    /// I/Os completed, ramp included.
    pub(super) fn ios(&self) -> PerDirection<u64> {
        let completed = |direction| self.ramp_ios[direction] + self.stats.directions[direction].n_completed;
        PerDirection(DataDirection::ALL.map(completed))
    }

    /// The ramp runs: what is counted now is not reported.
    pub(super) fn is_ramping(&self) -> bool {
        self.is_ramping
    }

    /// The ramp begins.
    pub(super) fn start_ramp(&mut self) {
        self.is_ramping = true;
    }

    /// The ramp is over: forgets everything but progress.
    pub(super) fn end_ramp(&mut self) {
        self.is_ramping = false;
        (self.ramp_bytes, self.ramp_ios) = (self.bytes(), self.ios());
        self.stats.clear_counts();
    }

    /// A copy of what is to be reported now.
    pub(super) fn reported(&self) -> ThreadStats {
        self.without_ramp(self.stats.clone())
    }

    /// What is to be reported at the end.
    pub(super) fn take_reported(&mut self) -> ThreadStats {
        let stats = std::mem::take(&mut self.stats);
        self.without_ramp(stats)
    }

    fn without_ramp(&self, mut stats: ThreadStats) -> ThreadStats {
        if self.is_ramping {
            stats.clear_counts();
        }
        stats
    }

    /// Starts the sampling windows at the start of I/O.
    pub(super) fn start_windows(&mut self, now_ns: u64) {
        self.bw_window.restart(now_ns, self.bytes());
        self.iops_window.restart(now_ns, self.ios());
    }

    /// When the next sample is due; `u64::MAX` when none is taken.
    pub(super) fn next_sample_ns(&self) -> u64 {
        let bw = if self.samples_bw { self.bw_window.end_ns() } else { u64::MAX };
        let iops = if self.samples_iops { self.iops_window.end_ns() } else { u64::MAX };
        bw.min(iops)
    }

    /// Takes the samples that are due, and tells each.
    pub(super) fn sample(&mut self, now_ns: u64, mut tell: impl FnMut(LogKind, DataDirection, u64)) {
        if self.is_ramping {
            self.start_windows(now_ns);
            return;
        }
        let (bytes, ios) = (self.bytes(), self.ios());
        let directions = &mut self.stats.directions;
        if self.samples_bw {
            // KiB a second: bytes * 1000 / ms / 1024.
            self.bw_window.close(now_ns, bytes, |direction, count, elapsed_ms| {
                let kib_per_sec = count.saturating_mul(1_000) / elapsed_ms / 1_024;
                directions[direction].bw.record(kib_per_sec);
                tell(LogKind::Bw, direction, kib_per_sec);
            });
        }
        if self.samples_iops {
            self.iops_window.close(now_ns, ios, |direction, count, elapsed_ms| {
                let ios_per_sec = count.saturating_mul(1_000) / elapsed_ms;
                directions[direction].iops.record(ios_per_sec);
                tell(LogKind::Iops, direction, ios_per_sec);
            });
        }
    }
}

impl Window {
    fn new(milliseconds: u64) -> Self {
        let length_ns = milliseconds.max(1).saturating_mul(1_000_000);
        Self { length_ns, origin_ns: 0, start_ns: 0, end_ns: length_ns, counts: PerDirection::all(0) }
    }

    fn end_ns(&self) -> u64 {
        self.end_ns
    }

    fn restart(&mut self, now_ns: u64, counts: PerDirection<u64>) {
        self.origin_ns = now_ns;
        self.begin(now_ns, counts);
    }

    /// A late end does not move those after it: else rows of several logs of a run, or of a log of latencies and one
    /// of rates, would drift apart. A window is between half and one and a half times its length.
    fn begin(&mut self, now_ns: u64, counts: PerDirection<u64>) {
        let elapsed_ns = now_ns.saturating_sub(self.origin_ns);
        let n_ended = elapsed_ns.saturating_add((self.length_ns - 1) / 2) / self.length_ns;
        let end_ns = n_ended.saturating_add(1).saturating_mul(self.length_ns).saturating_add(self.origin_ns);
        (self.start_ns, self.end_ns, self.counts) = (now_ns, end_ns, counts);
    }

    /// Ends the window if it is due; directions without I/O give no sample.
    fn close(&mut self, now_ns: u64, counts: PerDirection<u64>, mut record: impl FnMut(DataDirection, u64, u64)) {
        if now_ns < self.end_ns() {
            return;
        }
        let elapsed_ms = (now_ns - self.start_ns) / 1_000_000;
        for direction in DataDirection::ALL {
            let count = counts[direction] - self.counts[direction];
            if count > 0 && elapsed_ms > 0 {
                record(direction, count, elapsed_ms);
            }
        }
        self.begin(now_ns, counts);
    }
}
