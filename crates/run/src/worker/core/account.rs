//! The counts of a worker.
//!
//! Must not know: engines, files. Start reading at [`Account::data_done`], the hot path.

use crate::compat;
use crate::plan::WorkerPlan;
use ferrio_spec::engines::Measures;
use ferrio_stats::{LatencyStat, LatencyTarget, RateStats, ThreadStats};
use ferrio_sys::Clock;
use ferrio_units::{DataDirection, PerDirection};
use ferrio_workload::command_priority::CommandPriorities;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stamps {
    pub(crate) start: u64,
    /// Submission to the kernel.
    pub(crate) issue: u64,
}

/// The counts of one worker.
pub(crate) struct Account {
    /// Counts since the start, or since the end of the ramp. The ramp counts here too and is cleared at its end, so
    /// that no I/O has to check for a ramp.
    pub(crate) stats: ThreadStats,
    /// Latencies are those of openings; each is a sample of this direction.
    openings: Option<DataDirection>,
    measures_slat: bool,
    measures_clat: bool,
    measures_lat: bool,
    is_ramping: bool,
    /// Progress during the ramp, after it has ended.
    ramp_bytes: PerDirection<u64>,
    ramp_ios: PerDirection<u64>,
    /// Latencies by priority are total latencies, not completion latencies.
    priorities_by_lat: bool,
    unsampled: Unsampled,
}

/// Reads that are no part of the samples of rates.
#[derive(Debug, Clone, Copy, Default)]
struct Unsampled {
    bytes: u64,
    ios: u64,
    /// Bytes and number of reads before the present ones, while only such reads are done.
    before: Option<(u64, u64)>,
}

impl Account {
    /// `keeps_evidence`: figures that only findings use are counted too.
    pub(crate) fn new(plan: &WorkerPlan, keeps_evidence: bool) -> Self {
        let spec = &plan.spec.reporting;
        let has_openings = plan.engine.def.measures == Measures::Openings;
        let full = !spec.gtod_reduce && !has_openings;
        let mut account = Self {
            stats: ThreadStats::default(),
            openings: compat::opened_direction(plan).filter(|_| has_openings && !spec.gtod_reduce && !spec.disable_lat),
            measures_slat: full && !spec.disable_slat && plan.sees_submission(),
            measures_clat: full && !spec.disable_clat,
            measures_lat: full && !spec.disable_lat,
            is_ramping: false,
            ramp_bytes: PerDirection::all(0),
            ramp_ios: PerDirection::all(0),
            priorities_by_lat: spec.lat_percentiles,
            unsampled: Unsampled::default(),
        };
        account.make_room(plan, keeps_evidence);
        account
    }

    /// Sets up the statistics for what the job measures.
    fn make_room(&mut self, plan: &WorkerPlan, keeps_evidence: bool) {
        let (spec, latency, stats) = (&plan.spec.reporting, &plan.spec.latency, &mut self.stats);
        // As in fio, a job that repeats the writes of an earlier run without doing them has no depth.
        let repeats = plan.spec.is_verify_only() && plan.streams_writes();
        stats.latency_search.depth = if repeats { 0 } else { compat::searched_depths(plan) };
        stats.latency_search.target = LatencyTarget {
            target_ns: latency.target_us.saturating_mul(1_000),
            window_ns: latency.window_us.saturating_mul(1_000),
            percentile: latency.percentile,
        };
        // Both kinds of latencies need their percentiles.
        let has_response = plan.reports_response();
        let mut rate = (keeps_evidence && plan.has_response_as_evidence()).then(Box::<RateStats>::default);
        // A histogram takes 32 KB of address space, so directions without I/O have none.
        for direction in DataDirection::ALL.into_iter().filter(|direction| plan.measured_directions()[*direction]) {
            let figures = &mut stats.directions[direction];
            figures.slat = LatencyStat::new(spec.slat_percentiles);
            figures.clat = LatencyStat::new(spec.clat_percentiles || plan.spec.logs.histogram.is_some());
            figures.lat = LatencyStat::new(spec.lat_percentiles || has_response);
            figures.response = LatencyStat::new(has_response);
            if let Some(rate) = &mut rate {
                rate.response[direction] = LatencyStat::new(true);
            }
        }
        stats.features.rate = rate;
        stats.sync = LatencyStat::new(plan.writes());
    }

    /// Makes room for the latencies of all priorities that an I/O may have.
    pub(crate) fn tell_priorities(&mut self, plan: &WorkerPlan, priorities: &CommandPriorities) {
        let spec = &plan.spec.reporting;
        let has_histogram = spec.lat_percentiles || spec.clat_percentiles;
        for direction in DataDirection::ALL.into_iter().filter(|direction| plan.measured_directions()[*direction]) {
            for ioprio in std::iter::once(plan.ioprio()).chain(priorities.of_direction(direction)) {
                self.stats.directions[direction].priorities.entry(ioprio, has_histogram);
            }
        }
    }

    /// Counts a data I/O with a priority.
    pub(crate) fn priority_done(
        &mut self,
        direction: DataDirection,
        ioprio: u16,
        clock: &Clock,
        stamps: Stamps,
        done: u64,
    ) {
        let (is_measured, from) =
            if self.priorities_by_lat { (self.measures_lat, stamps.start) } else { (self.measures_clat, stamps.issue) };
        if is_measured {
            let latency = self.stats.directions[direction].priorities.entry(ioprio, false);
            latency.record(clock.between_ns(from, done));
        }
    }

    /// Counts a data I/O with its response time.
    pub(crate) fn response_done(&mut self, direction: DataDirection, response_ns: u64) {
        self.stats.directions[direction].response.record(response_ns);
    }

    /// Counts an I/O that started this long after the time at which the rate wanted it to start.
    pub(crate) fn started_late(&mut self, late_ns: u64) {
        if let Some(rate) = &mut self.stats.features.rate {
            rate.most_late_ns = rate.most_late_ns.max(late_ns);
        }
    }

    /// Counts the response time of a data I/O under a rate, beside the report.
    pub(crate) fn rated_done(&mut self, direction: DataDirection, response_ns: u64) {
        if let Some(rate) = &mut self.stats.features.rate {
            rate.response[direction].record(response_ns);
        }
    }

    /// True if openings of files are the samples.
    pub(crate) fn has_openings(&self) -> bool {
        self.openings.is_some()
    }

    /// Counts the opening of a file, which took `took_ns`; returns the direction for which it is a sample.
    pub(crate) fn opened(&mut self, took_ns: u64) -> Option<DataDirection> {
        let direction = self.openings?;
        self.stats.directions[direction].clat.record(took_ns);
        Some(direction)
    }

    /// True if at least one latency is wanted, so that every I/O needs stamps.
    pub(crate) fn needs_stamps(&self) -> bool {
        self.measures_slat || self.measures_clat || self.measures_lat
    }

    /// The job starts at this time of the clock that it asks for, milliseconds.
    pub(crate) fn job_starts_at(&mut self, start_ms: u64) {
        self.stats.job_start_ms = start_ms;
    }

    /// A search for a depth tries this one now.
    pub(crate) fn searches_at(&mut self, depth: u32) {
        self.stats.latency_search.depth = depth;
    }

    /// Counts a data I/O that begins.
    #[inline]
    pub(crate) fn data_begins(&mut self, direction: DataDirection) {
        self.stats.directions[direction].n_issued += 1;
    }

    /// A data I/O that has begun does not count. It may have begun in the ramp, whose I/Os are not in the counts any more.
    pub(crate) fn data_is_withdrawn(&mut self, direction: DataDirection) {
        let n_issued = &mut self.stats.directions[direction].n_issued;
        *n_issued = n_issued.saturating_sub(1);
    }

    /// Counts a data I/O with a short transfer.
    pub(crate) fn data_was_short(&mut self, direction: DataDirection) {
        self.stats.directions[direction].n_short += 1;
    }

    /// Counts a read that moved no byte.
    pub(crate) fn read_nothing(&mut self) {
        self.stats.features.n_empty_reads += 1;
    }

    pub(crate) fn sync_begins(&mut self) {
        self.stats.n_syncs_issued += 1;
    }

    /// Counts the number of I/Os in flight, once for each of `n_new` I/Os.
    #[inline]
    pub(crate) fn were_in_flight(&mut self, n_in_flight: u32, n_new: u64) {
        self.stats.depth.record(n_in_flight, n_new);
    }

    #[inline]
    pub(crate) fn submitted(&mut self, n_units: u32) {
        self.stats.submit.record(n_units);
    }

    /// Counts a call that took the results of these units.
    #[inline]
    pub(crate) fn reaped(&mut self, n_units: u32) {
        self.stats.complete.record(n_units);
    }

    /// Counts a data I/O that was handed to the kernel.
    #[inline]
    pub(crate) fn data_issued(&mut self, direction: DataDirection, clock: &Clock, stamps: Stamps) {
        if self.measures_slat {
            self.stats.directions[direction].slat.record(clock.between_ns(stamps.start, stamps.issue));
        }
    }

    /// Counts a data I/O that is done.
    #[inline]
    pub(crate) fn data_done(&mut self, direction: DataDirection, bytes: u64, clock: &Clock, stamps: Stamps, done: u64) {
        let figures = &mut self.stats.directions[direction];
        figures.n_completed += 1;
        figures.bytes += bytes;
        if self.measures_clat {
            let clat_ns = clock.between_ns(stamps.issue, done);
            figures.clat.record(clat_ns);
            self.stats.latency_buckets.record(clat_ns);
        }
        if self.measures_lat {
            figures.lat.record(clock.between_ns(stamps.start, done));
        }
    }

    pub(crate) fn sync_done(&mut self, clock: &Clock, stamps: Stamps, done: u64) {
        if self.measures_clat {
            self.stats.sync.record(clock.between_ns(stamps.issue, done));
        }
    }

    /// Bytes moved, including the ramp, for the board.
    pub(crate) fn bytes(&self) -> PerDirection<u64> {
        PerDirection(
            DataDirection::ALL.map(|direction| self.ramp_bytes[direction] + self.stats.directions[direction].bytes),
        )
    }

    /// Number of completed I/Os, including the ramp.
    pub(crate) fn ios(&self) -> PerDirection<u64> {
        let completed = |direction| self.ramp_ios[direction] + self.stats.directions[direction].n_completed;
        PerDirection(DataDirection::ALL.map(completed))
    }

    /// The reads from now on are no part of the samples of rates, or they are again.
    pub(crate) fn leave_out_reads(&mut self, is_left_out: bool) {
        let (bytes, ios) = (self.bytes()[DataDirection::Read], self.ios()[DataDirection::Read]);
        let unsampled = &mut self.unsampled;
        if let Some((bytes_before, ios_before)) = unsampled.before.take() {
            debug_assert!(bytes >= bytes_before && ios >= ios_before, "counts never go down");
            unsampled.bytes += bytes - bytes_before;
            unsampled.ios += ios - ios_before;
        }
        unsampled.before = is_left_out.then_some((bytes, ios));
    }

    /// Bytes and number of completed I/Os for the samples of rates, including the ramp.
    pub(crate) fn sampled(&self) -> (PerDirection<u64>, PerDirection<u64>) {
        let (mut bytes, mut ios) = (self.bytes(), self.ios());
        let (read_bytes, n_reads) = (&mut bytes[DataDirection::Read], &mut ios[DataDirection::Read]);
        (*read_bytes, *n_reads) = self.unsampled.before.unwrap_or((*read_bytes, *n_reads));
        debug_assert!(
            *read_bytes >= self.unsampled.bytes && *n_reads >= self.unsampled.ios,
            "a part exceeds the whole"
        );
        *read_bytes -= self.unsampled.bytes;
        *n_reads -= self.unsampled.ios;
        (bytes, ios)
    }

    /// True during the ramp, whose counts are not reported.
    pub(crate) fn is_ramping(&self) -> bool {
        self.is_ramping
    }

    pub(crate) fn start_ramp(&mut self) {
        self.is_ramping = true;
    }

    /// Ends the ramp: clears everything except for the progress.
    pub(crate) fn end_ramp(&mut self) {
        self.is_ramping = false;
        let before = (self.bytes(), self.ios());
        (self.ramp_bytes, self.ramp_ios) = before;
        self.stats.clear_counts();
        debug_assert_eq!((self.bytes(), self.ios()), before, "the progress goes on where it was");
    }

    /// A copy of the statistics to report now.
    pub(crate) fn reported(&self) -> ThreadStats {
        self.without_ramp(self.stats.clone())
    }

    pub(crate) fn take_reported(&mut self) -> ThreadStats {
        let stats = std::mem::take(&mut self.stats);
        self.without_ramp(stats)
    }

    fn without_ramp(&self, mut stats: ThreadStats) -> ThreadStats {
        if self.is_ramping {
            stats.clear_counts();
        }
        stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::RunPlan;
    use ferrio_spec::{JobSpec, RunSpec};

    /// A server that falls silent in the ramp is given up behind it.
    #[test]
    fn an_io_of_the_ramp_that_is_given_up_behind_it_is_in_no_count() {
        let plan = RunPlan::new(RunSpec { jobs: vec![JobSpec::default()], ..RunSpec::default() }).expect("a plan");
        let mut account = Account::new(&plan.workers[0], false);
        account.start_ramp();
        account.data_begins(DataDirection::Read);
        account.end_ramp();
        account.data_is_withdrawn(DataDirection::Read);
        assert_eq!(account.reported().n_issued(), 0);
    }
}
