//! CPU time that jobs lacked.
//!
//! Must not know: the work of devices. Start reading at [`waiting_share`].

use crate::audit_input::{AuditInput, AuditedJob};
use ferrio_stats::LatencyStat;
use ferrio_stats::histogram::bucket_latency_ns;
use ferrio_units::DataDirection;

/// Share of a run in which its control group was held back, from which it matters.
const LEAST_THROTTLED: f64 = 0.01;
/// Share of a job's time in which it waited for a CPU, from which it matters.
const LEAST_WAITING: f64 = 0.1;
/// A thread that is woken while a CPU is idle waits this long at most; in a virtual machine about 1 us was measured.
const WAKE_NS: u64 = 5_000;
/// The same with room, where a few slow I/Os decide.
const LONG_WAKE_NS: u64 = 10_000;
/// In a shorter time a single slice of another program is a large share.
const LEAST_NS: u64 = 1_000_000_000;
/// An I/O is slow from so many medians on.
const SLOW_MEDIANS: u64 = 3;
/// A shorter latency is no slow one, nanoseconds.
const LEAST_SLOW_NS: u64 = 500_000;
/// Share of the time of the slow I/Os that waits for a CPU explain.
const TAIL_SHARE: f64 = 0.5;
const TAIL_PERCENTS: [f64; 2] = [99.9, 99.0];

/// Time in which the control group was held back, as a share of the run, if that matters. It is a sum over CPUs, and may exceed 1.
pub(crate) fn throttled_share(case: &AuditInput<'_>) -> Option<f64> {
    let throttling = case.host_cpu()?.throttling.value()?;
    let share = throttling.throttled_us as f64 * 1e3 / case.record.elapsed_ns as f64;
    (throttling.n_throttled > 0 && share.is_finite() && share >= LEAST_THROTTLED).then_some(share)
}

/// Share of a job's time in which it was ready to run and others had the CPU, if that matters. Where the control group was held back, the
/// kernel counts that time among the waits, so nothing is known about others.
pub(crate) fn waiting_share(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<f64> {
    let total = job.total.as_ref()?;
    let turns = total.usage.cpu_turns?;
    let n_workers = job.workers.len() as u64;
    let is_long = total.total_runtime_ns >= LEAST_NS.saturating_mul(n_workers);
    // Turns of work have no latency. A virtual clock has no waits.
    let is_measured = !job.engine.moves_nothing() && case.provenance.clock.source != "virtual";
    if !is_long || !is_measured || throttled_share(case).is_some() {
        return None;
    }
    let waited_ns = turns.waited_ns.saturating_sub(turns.n_sleeps.saturating_mul(WAKE_NS));
    let share = waited_ns as f64 / total.total_runtime_ns as f64;
    (share >= LEAST_WAITING).then(|| turns.waited_ns as f64 / total.total_runtime_ns as f64)
}

/// Slow I/Os of a job that were slow because it had no CPU, although its waits are a small part of its time.
pub(crate) struct WaitingTail {
    /// The highest percentile with enough samples that is slow.
    pub(crate) percent: f64,
    pub(crate) tail_ns: u64,
    /// Time of the slow I/Os.
    pub(crate) slow_ns: f64,
    /// Waits of the job for a CPU.
    pub(crate) waited_ns: u64,
}

impl WaitingTail {
    pub(crate) fn of(case: &AuditInput<'_>, job: &AuditedJob<'_>) -> Option<Self> {
        let turns = job.total.as_ref()?.usage.cpu_turns?;
        let is_large = throttled_share(case).is_some() || waiting_share(case, job).is_some();
        if is_large || job.engine.moves_nothing() || case.provenance.clock.source == "virtual" {
            return None;
        }
        let latencies: Vec<&LatencyStat> =
            DataDirection::ALL.iter().filter_map(|one| Some(&job.figures(*one)?.clat)).collect();
        let most = latencies.iter().max_by_key(|latency| latency.n_samples)?;
        let (percent, least_ns, tail_ns) = slow_percentile(most)?;
        // I/Os side by side wait together.
        let n_at_once = if job.engine.is_inline() { 1 } else { job.spec.queue.iodepth.max(1) };
        let slow_ns = latencies.iter().map(|latency| time_from(latency, least_ns)).sum::<f64>() / f64::from(n_at_once);
        let waited = turns.waited_ns.saturating_sub(turns.n_sleeps.saturating_mul(LONG_WAKE_NS)) as f64;
        let is_of_cpu = slow_ns > 0.0 && waited >= slow_ns * TAIL_SHARE;
        is_of_cpu.then_some(Self { percent, tail_ns, slow_ns, waited_ns: turns.waited_ns })
    }
}

/// The highest percentile with enough samples that is slow: the percentile, the latency from which an I/O is slow, and its latency.
fn slow_percentile(latency: &LatencyStat) -> Option<(f64, u64, u64)> {
    let least_ns = latency.percentile(50.0)?.latency_ns.saturating_mul(SLOW_MEDIANS).max(LEAST_SLOW_NS);
    let mut sure = TAIL_PERCENTS.into_iter().filter_map(|percent| latency.percentile(percent));
    let found = sure.find(|found| !found.is_doubtful && found.latency_ns >= least_ns)?;
    Some((found.percent, least_ns, found.latency_ns))
}

/// Sum of the latencies from a length on, nanoseconds.
fn time_from(latency: &LatencyStat, least_ns: u64) -> f64 {
    let buckets = latency.histogram.iter().flat_map(ferrio_stats::Histogram::folded);
    let slow =
        buckets.map(|(index, count)| (bucket_latency_ns(index), count)).filter(|(length, _)| *length >= least_ns);
    slow.map(|(length, count)| length as f64 * count as f64).sum()
}
