//! The samples of bandwidth and I/O rate: at the end of each window, and at the end of the job.
//!
//! Must not know: loops. Start reading at [`Rates::at`].

use crate::plan::WorkerPlan;
use crate::worker::core::account::Account;
use crate::worker::hooks::log::WorkerLog;
use ferrio_spec::engines::Measures;
use ferrio_stats::LogKind;
use ferrio_units::{DataDirection, PerDirection};

/// Time that the last window of a job may lack. The last I/O of a job that lasts a whole number of windows ends a
/// little early; as seen on fio 3.41, windows that lack 2 ms have a sample, and those that lack 10 ms have none.
const LAST_WINDOW_SLACK_NS: u64 = 5_000_000;

/// Samples both rates.
pub(crate) struct Rates {
    bw: RateWindow,
    iops: RateWindow,
    /// There are samples of windows; otherwise a log has rows of each I/O instead.
    samples_bw: bool,
    samples_iops: bool,
}

/// A sampler of one rate. Its windows end at multiples of their length from the start of I/O.
struct RateWindow {
    length_ns: u64,
    /// Start of I/O.
    origin_ns: u64,
    /// Start of the window: the time at which the end of the one before was noticed.
    start_ns: u64,
    end_ns: u64,
    counts: PerDirection<u64>,
}

impl Rates {
    pub(crate) fn new(plan: &WorkerPlan) -> Self {
        let (spec, logs) = (&plan.spec.reporting, &plan.spec.logs);
        let has_openings = plan.engine.def.measures == Measures::Openings;
        let shows_each = |has_log: bool| has_openings || (logs.window_ms == 0 && has_log);
        Self {
            bw: RateWindow::new(spec.bw_window_ms),
            iops: RateWindow::new(spec.iops_window_ms),
            samples_bw: !shows_each(logs.bw.is_some()),
            samples_iops: !shows_each(logs.iops.is_some()),
        }
    }

    /// Starts the windows now, at the start of I/O.
    pub(crate) fn start(&mut self, now_ns: u64, account: &Account) {
        let (bytes, ios) = account.sampled();
        self.bw.restart(now_ns, bytes);
        self.iops.restart(now_ns, ios);
    }

    /// Time of the next sample; `u64::MAX`: there is none.
    pub(crate) fn next_ns(&self) -> u64 {
        let bw = if self.samples_bw { self.bw.end_ns() } else { u64::MAX };
        let iops = if self.samples_iops { self.iops.end_ns() } else { u64::MAX };
        bw.min(iops)
    }

    /// Takes the samples that are due, and passes each to the log.
    pub(crate) fn at(&mut self, now_ns: u64, account: &mut Account, log: Option<&mut WorkerLog<'_>>) {
        if account.is_ramping() {
            self.start(now_ns, account);
            return;
        }
        let bw = self.samples_bw && now_ns >= self.bw.end_ns();
        let iops = self.samples_iops && now_ns >= self.iops.end_ns();
        self.close_windows(account, [bw, iops].map(|is_due| is_due.then_some(now_ns)), log);
    }

    /// The job ends: takes the samples of windows that end with it, and passes each to the log with the end of its
    /// window. A later window that is incomplete has no sample.
    pub(crate) fn finish(&mut self, now_ns: u64, account: &mut Account, log: Option<&mut WorkerLog<'_>>) {
        if account.is_ramping() {
            return;
        }
        let bw_ns = self.bw.ends_with(now_ns).filter(|_| self.samples_bw);
        let iops_ns = self.iops.ends_with(now_ns).filter(|_| self.samples_iops);
        self.close_windows(account, [bw_ns, iops_ns], log);
    }

    /// Ends the windows of bandwidth and of I/Os per second at these times.
    fn close_windows(
        &mut self,
        account: &mut Account,
        [bw_ns, iops_ns]: [Option<u64>; 2],
        mut log: Option<&mut WorkerLog<'_>>,
    ) {
        let (bytes, ios) = account.sampled();
        let directions = &mut account.stats.directions;
        let mut tell = |kind, direction, end_ns, value| {
            if let Some(log) = &mut log {
                log.rate(kind, direction, end_ns, value);
            }
        };
        if let Some(end_ns) = bw_ns {
            self.bw.close(end_ns, bytes, |direction, count, elapsed_ns| {
                let kib_per_sec = per_second(count, elapsed_ns, 1_024);
                directions[direction].bw.record(kib_per_sec);
                tell(LogKind::Bw, direction, end_ns, kib_per_sec);
            });
        }
        if let Some(end_ns) = iops_ns {
            self.iops.close(end_ns, ios, |direction, count, elapsed_ns| {
                let ios_per_sec = per_second(count, elapsed_ns, 1);
                directions[direction].iops.record(ios_per_sec);
                tell(LogKind::Iops, direction, end_ns, ios_per_sec);
            });
        }
    }
}

/// So many units a second, rounded to the nearest number of them.
fn per_second(count: u64, elapsed_ns: u64, unit: u128) -> u64 {
    let divisor = u128::from(elapsed_ns) * unit;
    let rate = (u128::from(count) * 1_000_000_000 + divisor / 2) / divisor;
    u64::try_from(rate).unwrap_or(u64::MAX)
}

impl RateWindow {
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

    /// A late end does not move the later ones, or the rows of several logs of a run would drift apart. A window has
    /// between half and one and a half times its length.
    fn begin(&mut self, now_ns: u64, counts: PerDirection<u64>) {
        let elapsed_ns = now_ns.saturating_sub(self.origin_ns);
        let n_ended = elapsed_ns.saturating_add((self.length_ns - 1) / 2) / self.length_ns;
        let end_ns = n_ended.saturating_add(1).saturating_mul(self.length_ns).saturating_add(self.origin_ns);
        debug_assert!(end_ns > now_ns || end_ns == u64::MAX, "a window ends after its start");
        (self.start_ns, self.end_ns, self.counts) = (now_ns, end_ns, counts);
    }

    /// The end of the window of a job that ends now, if that end is past or nearly reached.
    fn ends_with(&self, now_ns: u64) -> Option<u64> {
        let missing_ns = LAST_WINDOW_SLACK_NS.min(self.length_ns / 2);
        Some(self.end_ns).filter(|end_ns| now_ns.saturating_add(missing_ns) >= *end_ns)
    }

    /// Ends the window; directions without I/O give no sample.
    fn close(&mut self, now_ns: u64, counts: PerDirection<u64>, mut record: impl FnMut(DataDirection, u64, u64)) {
        // Not in whole milliseconds: a window of 2 ms that ends after 2.9 ms would have a rate that is half as high again.
        debug_assert!(now_ns >= self.start_ns, "a window ends after its start");
        let elapsed_ns = now_ns - self.start_ns;
        for direction in DataDirection::ALL {
            let count = counts[direction] - self.counts[direction];
            if count > 0 && elapsed_ns > 0 {
                record(direction, count, elapsed_ns);
            }
        }
        self.begin(now_ns, counts);
    }
}
