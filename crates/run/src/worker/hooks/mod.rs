//! Hooks: features that look at single I/Os beside the loops, in jobs that want them.
//!
//! Must not know: when I/Os are issued. The loops check one flag in each of two places, and call the hooks only if it
//! is set.
//! Start reading at [`Hooks::issue`], then [`Hooks::done`].

pub(crate) mod blocks;
pub(crate) mod debug_trace;
pub(crate) mod depth_search;
pub(crate) mod iolog;
pub(crate) mod latency;
pub(crate) mod locks;
pub(crate) mod log;
pub(crate) mod priorities;
pub(crate) mod ramp_size;
pub(crate) mod response;
pub(crate) mod serialize;

use crate::error::{Failure, failure};
use crate::events::MessageStream;
use crate::files::FileSet;
use crate::link::trace::TraceGroup;
use crate::plan::WorkerPlan;
use crate::worker::core::{Stop, WorkerCore};
use crate::worker::verify::Verifier;
use crate::worker::verify::trims::TrimStep;
use crate::zones::debug_trace::repair_lines;
use blocks::BlockTable;
use ferrio_stats::note::IoNote;
use ferrio_sys::errno::EINVAL;
use ferrio_units::{DataDirection, Direction};
use ferrio_workload::shape::Shape;
use ferrio_workload::{CompletedIo, IoFailure, Next, ZoneRepair};
use iolog::IoLog;
use latency::LatencyLimits;
use log::WorkerLog;
use priorities::Priorities;
use ramp_size::RampSize;
use response::ResponseTimes;
use serialize::Serializer;

pub(crate) struct Hooks<'a> {
    /// [`Hooks::issue`] has to be called for every I/O.
    pub(crate) sees_issues: bool,
    /// [`Hooks::done`] has to be called for every data I/O.
    pub(crate) sees_completions: bool,
    pub(crate) iolog: Option<IoLog>,
    pub(crate) log: Option<Box<WorkerLog<'a>>>,
    /// The log needs every I/O.
    pub(crate) logs_each_io: bool,
    /// Draws the priorities of single I/Os.
    pub(crate) priorities: Option<Box<Priorities>>,
    /// Intended start times of the I/Os in flight.
    pub(crate) response: Option<Box<ResponseTimes>>,
    /// Ranges of the I/Os in flight.
    serializer: Option<Box<Serializer>>,
    /// Makes and checks the contents of blocks.
    verifier: Option<Box<Verifier>>,
    pub(crate) latency: Option<Box<LatencyLimits>>,
    /// A ramp that ends after a number of bytes, while it runs.
    pub(crate) ramp_size: Option<RampSize>,
    pub(crate) blocks: Option<BlockTable>,
    /// Files have zones that need to know of each completed I/O.
    pub(crate) has_zones: bool,
    /// Trims have several ranges, which the engine has to know.
    has_ranges: bool,
}

impl<'a> Hooks<'a> {
    pub(crate) fn new(
        plan: &WorkerPlan,
        core: &mut WorkerCore<'a>,
        set: &FileSet,
        shape: Shape,
    ) -> Result<Self, Failure> {
        let log = WorkerLog::new(plan, core.context.log, plan.ioprio()).map(Box::new);
        let mut hooks = Self {
            sees_issues: false,
            sees_completions: false,
            iolog: None,
            logs_each_io: log.as_ref().is_some_and(|log| log.needs_each_io()),
            log,
            blocks: BlockTable::new(plan, set)?,
            latency: LatencyLimits::new(plan).map(Box::new),
            response: ResponseTimes::new(plan, core.account.stats.features.rate.is_some()).map(Box::new),
            priorities: Priorities::new(plan).map(Box::new),
            verifier: Verifier::prepare(plan, core, set, shape)?,
            serializer: Serializer::new(plan).map(Box::new),
            ramp_size: RampSize::new(plan),
            has_zones: !set.zones.is_empty(),
            has_ranges: has_ranges(plan),
        };
        hooks.decide();
        if let Some(priorities) = &hooks.priorities {
            core.account.tell_priorities(plan, priorities.draws());
        }
        core.stamper.is_wanted |= hooks.response.is_some() || hooks.latency.is_some();
        Ok(hooks)
    }

    /// From now on, issued I/Os are written to a trace.
    pub(crate) fn start_iolog(&mut self, log: IoLog) {
        self.iolog = Some(log);
        self.decide();
    }

    /// Computes the flags that the loops check for each I/O.
    fn decide(&mut self) {
        self.sees_issues = self.wants_issues();
        self.sees_completions = self.wants_completions();
    }

    fn wants_issues(&self) -> bool {
        let sees_places = self.iolog.is_some() || self.verifier.is_some() || self.serializer.is_some();
        sees_places || self.has_ranges || self.priorities.is_some() || self.response.is_some()
    }

    fn wants_completions(&self) -> bool {
        let sees_latencies = self.response.is_some() || self.latency.is_some();
        let sees_data = self.priorities.is_some() || self.blocks.is_some() || self.verifier.is_some();
        let sees_data = sees_data || self.serializer.is_some() || self.has_zones;
        self.logs_each_io || sees_latencies || sees_data || self.ramp_size.is_some()
    }

    /// Makes the contents of a write that began at `start`.
    pub(crate) fn fill(&mut self, core: &mut WorkerCore<'_>, slot_index: u32, start: u64) {
        match &mut self.verifier {
            Some(verifier) => verifier.fill(core, slot_index, start),
            None => core.fill(slot_index, start),
        }
    }

    /// True if the I/O in this slot has to wait, because one in flight touches its bytes.
    pub(crate) fn is_blocked(&self, core: &WorkerCore<'_>, slot_index: u32) -> bool {
        self.serializer.as_ref().is_some_and(|serializer| serializer.is_blocked(core.slots.get(slot_index)))
    }

    /// Called before an I/O is handed to the engine; if I/Os are serialised, none in flight touches its bytes.
    ///
    /// # Errors
    /// The pass ends before this I/O, which is never issued.
    pub(crate) fn issue(&mut self, core: &mut WorkerCore<'_>, slot_index: u32) -> Result<(), Stop> {
        if let Some(verifier) = &mut self.verifier {
            verifier.issue(core, slot_index)?;
        }
        if let Some(serializer) = &mut self.serializer {
            serializer.takes_off(slot_index, core.slots.get(slot_index));
        }
        if let Some(priorities) = &mut self.priorities {
            priorities.issue(core, slot_index);
        }
        if let Some(response) = &mut self.response {
            response.issue(core, slot_index);
        }
        if self.has_ranges {
            put_ranges(core, slot_index)?;
        }
        match &mut self.iolog {
            Some(log) => Ok(log.issue(core, slot_index)?),
            None => Ok(()),
        }
    }

    /// Called after the job has ended while this I/O waited for others.
    pub(crate) fn never_issued(&mut self, core: &mut WorkerCore<'_>, slot_index: u32) {
        if let Some(verifier) = &mut self.verifier {
            verifier.failed(core, slot_index);
        }
    }

    /// Called after a data I/O was handed to the kernel, if the log needs every I/O.
    #[inline(never)]
    pub(crate) fn submitted(&mut self, core: &WorkerCore<'_>, slot_index: u32, direction: DataDirection) {
        if let Some(log) = &mut self.log {
            log.issued(core, slot_index, direction);
        }
    }

    /// Called after a data I/O is done.
    #[cold]
    #[inline(never)]
    pub(crate) fn done(&mut self, core: &mut WorkerCore<'_>, slot_index: u32, direction: DataDirection, done: u64) {
        if let Some(priorities) = &self.priorities {
            priorities.done(core, slot_index, direction, done);
        }
        if let Some(response) = &self.response {
            response.done(core, slot_index, direction, done);
        }
        if let Some(latency) = &mut self.latency {
            latency.done(core, slot_index, direction, done);
        }
        self.look_at_ramp_size(core);
        self.settle(core, slot_index, None);
        if let Some(verifier) = &mut self.verifier {
            verifier.done(core, slot_index, direction);
        }
        if self.logs_each_io
            && let Some(log) = &mut self.log
        {
            log.done(core, slot_index, direction, done);
        }
    }

    /// Called after an I/O has failed, or if it was never submitted.
    pub(crate) fn failed(&mut self, core: &mut WorkerCore<'_>, slot_index: u32, errno: i32) {
        if let Some(verifier) = &mut self.verifier {
            verifier.failed(core, slot_index);
        }
        self.settle(core, slot_index, Some(errno));
    }

    /// Called after a sync is done.
    #[inline(never)]
    pub(crate) fn sync_done(&mut self, core: &mut WorkerCore<'_>, slot_index: u32, done: u64) {
        core.account.sync_done(&core.clock, core.slots.get(slot_index).stamps, done);
        if let Some(verifier) = &mut self.verifier {
            verifier.sync_done(core, slot_index);
        }
    }

    /// Called at the end of a pass: waits for blocks that helper threads still check.
    pub(crate) fn pass_is_over(&mut self, core: &mut WorkerCore<'_>) {
        if let Some(verifier) = &mut self.verifier {
            verifier.finish_checks(core);
        }
    }

    /// Called after a file was synced by the system call while none of its writes was in flight.
    pub(crate) fn synced(&mut self, file_index: u32) -> Result<(), Failure> {
        self.verifier.as_mut().map_or(Ok(()), |verifier| verifier.synced_now(file_index))
    }

    /// Called after a file was added, opened or closed.
    pub(crate) fn file(&mut self, core: &WorkerCore<'_>, file_index: u32, action: &str) {
        if let Some(log) = &mut self.iolog {
            log.file(core, file_index, action);
        }
    }

    /// True if the job verifies.
    #[inline]
    pub(crate) fn verifies(&self) -> bool {
        self.verifier.is_some()
    }

    /// The verification, for the steps around a pass.
    pub(crate) fn verifier(&self) -> Option<&Verifier> {
        self.verifier.as_deref()
    }

    /// The same, to change it.
    pub(crate) fn verifier_mut(&mut self) -> Option<&mut Verifier> {
        self.verifier.as_deref_mut()
    }

    /// True if the contents of the read in flight in this slot will be checked.
    pub(crate) fn checks(&self, slot_index: u32) -> bool {
        self.verifier().is_some_and(|verifier| verifier.checks(slot_index))
    }

    /// True if writes in flight have to land before a file starts over.
    pub(crate) fn drains_between_rounds(&self) -> bool {
        self.verifier().is_some_and(|verifier| verifier.memory().goes_round())
    }

    /// The step of a job with trims before its next I/O.
    pub(crate) fn next_trim(&mut self) -> TrimStep {
        self.verifier_mut().map_or(TrimStep::NoTrim, Verifier::next_trim)
    }

    /// Number of trims that were inserted so far.
    pub(crate) fn n_inserted(&self) -> u64 {
        self.verifier().map_or(0, Verifier::n_inserted)
    }

    /// True if written blocks wait for their trims.
    pub(crate) fn has_waiting_trims(&mut self) -> bool {
        self.verifier_mut().is_some_and(Verifier::has_waiting_trims)
    }

    /// Remembers the next step of an earlier run as if it was done now. False: that run ended before it.
    pub(crate) fn remember_step(&mut self, core: &mut WorkerCore<'_>, next: &Next) -> Result<bool, Failure> {
        self.verifier_mut().map_or(Ok(true), |verifier| verifier.remember_step(core, next))
    }

    /// Called after an I/O no longer occupies its range.
    fn settle(&mut self, core: &mut WorkerCore<'_>, slot_index: u32, errno: Option<i32>) {
        if let Some(blocks) = &mut self.blocks {
            blocks.done(core.slots.get(slot_index), errno.is_some());
        }
        if let Some(serializer) = &mut self.serializer {
            serializer.lands(slot_index);
        }
        if self.has_zones {
            tell_zone(core, slot_index, errno);
        }
    }

    /// Ends a ramp that ends after a number of bytes, if it is over.
    fn look_at_ramp_size(&mut self, core: &mut WorkerCore<'_>) {
        if self.ramp_size.as_ref().is_some_and(|ramp| ramp.is_over(core)) {
            self.ramp_size = None;
            self.decide();
            core.control.end_ramp();
        }
    }
}

/// The trims of a job have several ranges. Those of a trace have one.
fn has_ranges(plan: &WorkerPlan) -> bool {
    plan.engine.def.forms.has_trim_ranges && plan.spec.extent.ranges_per_trim > 1 && !plan.spec.replay.is_set()
}

/// Hands the ranges of a trim to the engine.
fn put_ranges(core: &mut WorkerCore<'_>, slot_index: u32) -> Result<(), Stop> {
    let unit = core.slots.get(slot_index).unit;
    if unit.direction != Direction::Trim {
        return Ok(());
    }
    // An engine that knew only one range would trim what the job does not ask for.
    let device = core.engine.device().ok_or_else(|| failure!(EINVAL, "num_range"))?;
    device.put_ranges(slot_index, &unit, core.workload.ranges());
    Ok(())
}

/// Tells the zones about an I/O that is done or has failed.
fn tell_zone(core: &mut WorkerCore<'_>, slot_index: u32, errno: Option<i32>) {
    let slot = core.slots.get(slot_index);
    let Some(direction) = slot.unit.direction.data() else { return };
    let arena = core.buffers.arena.borrow();
    let data = arena.slice(core.buffers.place(slot_index), slot.length_bytes as usize);
    let failure = errno.map(|errno| IoFailure { errno, data });
    let io = CompletedIo { file_index: slot.unit.file_index, direction, offset_bytes: slot.data_offset, failure };
    if let Some(repair) = core.workload.zones_mut().and_then(|zones| zones.completed(&io)) {
        drop(arena);
        tell_repair(core, repair);
    }
}

#[cold]
fn tell_repair(core: &WorkerCore<'_>, repair: ZoneRepair) {
    let (name, context) = (&core.files.plan(repair.file_index).name, core.context);
    if context.tracer.has(TraceGroup::Zbd) {
        for line in repair_lines(name, repair) {
            context.tracer.keep(TraceGroup::Zbd, &line);
        }
    }
    if !repair.has_succeeded {
        context.say(MessageStream::Info, IoNote::NotRecovered { file: name.clone() });
    }
}
