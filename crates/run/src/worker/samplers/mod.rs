//! Samplers: what a worker does at deadlines while its loop runs. Each sampler says when it is due, and is called then.
//!
//! Must not know: loops. Start reading at [`Samplers::at`], then [`rates`].

pub(crate) mod intervals;
pub(crate) mod minima;
pub(crate) mod rates;
pub(crate) mod steady;

use crate::error::Failure;
use crate::link::message::WorkerMessage;
use crate::plan::WorkerPlan;
use crate::worker::core::WorkerCore;
use crate::worker::hooks::Hooks;
use intervals::Intervals;
use minima::Minima;
use rates::Rates;
use steady::SteadySampler;

/// The samplers of a worker. Windows of logs belong to the log, those of a search for a depth to the limits of
/// latencies.
pub(crate) struct Samplers {
    pub(crate) rates: Rates,
    steady: SteadySampler,
    pub(crate) intervals: Intervals,
    minima: Minima,
}

impl Samplers {
    pub(crate) fn new(plan: &WorkerPlan) -> Self {
        Self {
            rates: Rates::new(plan),
            steady: SteadySampler::new(plan),
            intervals: Intervals::new(),
            minima: Minima::new(plan),
        }
    }

    /// Counted I/O begins now.
    pub(crate) fn start_counting(&mut self, now_ns: u64, core: &WorkerCore<'_>) {
        self.steady.start(now_ns, &core.account);
        self.minima.start(now_ns);
    }

    /// Takes the samples of rates that are due, and ends the windows of the logs.
    pub(crate) fn sample_rates(&mut self, now_ns: u64, core: &mut WorkerCore<'_>, hooks: &mut Hooks<'_>) {
        let account = &mut core.account;
        if now_ns >= self.rates.next_ns() {
            self.rates.at(now_ns, account, hooks.log.as_deref_mut());
        }
        if let Some(log) = &mut hooks.log
            && !account.is_ramping()
        {
            log.tick(now_ns, &account.stats);
        }
    }

    /// Ends rates and logs together with the job, or with its counted part.
    pub(crate) fn finish_rates(&mut self, now_ns: u64, core: &mut WorkerCore<'_>, hooks: &mut Hooks<'_>) {
        let account = &mut core.account;
        self.rates.finish(now_ns, account, hooks.log.as_deref_mut());
        if let Some(log) = hooks.log.as_mut().filter(|_| !account.is_ramping()) {
            log.finish(now_ns, &account.stats);
        }
    }

    /// Calls the other samplers that are due.
    ///
    /// # Errors
    /// The job is slower than its minimum rate.
    pub(crate) fn at(&mut self, now_ns: u64, core: &WorkerCore<'_>) -> Result<(), Failure> {
        if now_ns >= self.steady.next_ns() {
            let send = core.context.send;
            self.steady.at(now_ns, &core.account, |sample| send(&WorkerMessage::Steady(sample)));
        }
        if now_ns >= self.minima.next_ns() { self.minima.at(now_ns, &core.account) } else { Ok(()) }
    }

    /// Time at which the next sampler is due.
    pub(crate) fn next_ns(&self, now_ns: u64, hooks: &Hooks<'_>) -> u64 {
        let log_ns = hooks.log.as_ref().map_or(u64::MAX, |log| log.next_ns(now_ns));
        let samples_ns = self.rates.next_ns().min(log_ns).min(self.steady.next_ns());
        samples_ns.min(self.intervals.next_ns()).min(self.minima.next_ns())
    }
}
