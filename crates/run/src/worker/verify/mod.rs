//! Verification: the contents of writes, and the check of reads. Each duty is a type with its own state: [`stamp`]
//! makes and checks blocks, [`expect`] has the expected results of reads, [`memory`] the writes. [`trims`], [`durable`], [`backlog`] and
//! [`regenerate`] decide which are read back and when; [`state`], [`loaded`] and [`journal`] exchange data with other runs.
//! Must not know: loops, headers. Start reading at [`Verifier`]. Facts: reference "Verify".

pub(crate) mod allowed;
mod backlog;
mod checkers;
mod commands;
mod durable;
mod expect;
mod faults;
mod journal;
mod known;
mod loaded;
mod memory;
mod regenerate;
mod stamp;
mod state;
pub(crate) mod trims;

use crate::error::Failure;
use crate::files::FileSet;
use crate::link::context::WorkerContext;
use crate::plan::WorkerPlan;
use crate::worker::core::slots::Slot;
use crate::worker::core::{Stop, WorkerCore};
use allowed::reads_of;
use backlog::Backlog;
use checkers::{Checkers, Faulty};
use commands::BlockCommands;
use durable::DurableWrites;
use expect::Expectations;
use faults::FaultReports;
use ferrio_engine::WriteContent;
use ferrio_spec::VerifiedWrites;
use ferrio_stats::VerifyStats;
use ferrio_stats::note::VerifyNote;
use ferrio_units::{DataDirection, Direction};
use ferrio_workload::shape::Shape;
use ferrio_workload::verify::block::Expected;
use ferrio_workload::verify::pending::PendingWrite;
use ferrio_workload::verify::state::WriteFate;
use ferrio_workload::workload::StreamCopy;
use ferrio_workload::{Next, NextIo, Workload};
use journal::CrashLog;
use loaded::LoadedState;
pub(crate) use loaded::check_state;
use memory::{WriteMemory, pending};
use regenerate::Regeneration;
use stamp::Stamping;
use state::StateKeeper;
use trims::{TrimStep, Trims};

/// The verification of one worker.
pub(crate) struct Verifier {
    reads: VerifiedWrites,
    /// Some are; otherwise writes are remembered only for their trims.
    reads_back: bool,
    reports: FaultReports,
    stamping: Stamping,
    expectations: Expectations,
    memory: WriteMemory,
    trims: Trims,
    durable: DurableWrites,
    /// Decides which blocks are read back between writes.
    backlog: Option<Backlog>,
    /// Threads that check blocks.
    checkers: Option<Checkers>,
    /// Makes the writes of the pass again (`experimental_verify`).
    regeneration: Option<Box<Regeneration>>,
    /// Data for the state file; `None`: the job does not write.
    state: Option<StateKeeper>,
    /// Progress of an earlier run (`verify_state_load`).
    loaded: Option<LoadedState>,
    /// The journal for the check after a crash (`verify_crash_log`).
    journal: Option<Box<CrashLog>>,
    /// What the commands of the engine mean for blocks.
    pub(crate) commands: BlockCommands,
}

impl Verifier {
    /// Makes the verification of a job, with the state and the journal that it asks for; `None`: the job does not
    /// verify.
    pub(crate) fn prepare(
        plan: &WorkerPlan,
        core: &mut WorkerCore<'_>,
        set: &FileSet,
        shape: Shape,
    ) -> Result<Option<Box<Self>>, Failure> {
        let (block_bytes, kept) = (core.buffers.block_bytes, core.context.kept);
        let loaded = loaded::load(plan)?;
        let Some(mut spec) = plan.spec.verify.clone() else { return Ok(None) };
        let commands = BlockCommands::new(&mut *core.engine, &spec);
        spec.reads = reads_of(&spec, shape.overlaps() || !commands.are_plain());
        let (stamping, memory) = (Stamping::new(plan, &spec, block_bytes), WriteMemory::new(plan, &spec, set, shape));
        let of_threads = stamping.rules().clone();
        let check = move |block: &mut [u8], expected: &Expected| of_threads.check(block, expected);
        Ok(Some(Box::new(Self {
            checkers: Checkers::start(&spec, block_bytes, check)?,
            stamping,
            expectations: Expectations::new(plan, &spec),
            memory,
            trims: Trims::new(plan, &spec),
            durable: DurableWrites::default(),
            backlog: spec.backlog.filter(|_| spec.reads != VerifiedWrites::OfEarlierRun).map(Backlog::new),
            regeneration: None,
            state: StateKeeper::new(plan, &spec),
            loaded,
            journal: CrashLog::create(plan, set, kept, commands.vary_writes())?,
            commands,
            reads: spec.reads,
            reads_back: spec.reads_back,
            reports: FaultReports::new(plan, &spec),
        })))
    }

    pub(crate) fn memory(&self) -> &WriteMemory {
        &self.memory
    }

    /// Amounts that it had to remember; `None`: nothing.
    pub(crate) fn figures(&self) -> Option<VerifyStats> {
        let pending = self.memory.pending();
        let n_most = pending.n_most();
        // Fits: the product is the size of memory in use.
        let pending_bytes = (n_most * pending.entry_bytes() + self.stamping.kept_bytes()) as u64;
        (n_most > 0).then_some(VerifyStats { n_most_pending: n_most as u64, pending_bytes })
    }

    /// Makes the contents of a write that began at `start`, and remembers it. The job fails if that is not possible.
    pub(crate) fn fill(&mut self, core: &mut WorkerCore<'_>, slot_index: u32, start: u64) {
        if !self.stamping.makes_contents() {
            core.fill(slot_index, start);
        }
        let content = self.commands.content(&mut *core.engine, slot_index);
        let start_ns = self.commands.time_ns(core, start);
        let slot = core.slots.get(slot_index);
        let block_bytes = slot.length_bytes as usize;
        let stamped = core
            .buffers
            .with(slot_index, block_bytes, |block| self.stamp((slot_index, slot), block, start_ns, content));
        if let Err(error) = stamped {
            core.control.fail_soon(error);
        }
        if self.is_backlog_due() {
            core.control.look_up();
        }
    }

    /// The same; fails if there are more writes than can be remembered, or if the journal cannot be written.
    fn stamp(
        &mut self,
        (slot_index, slot): (u32, &Slot),
        block: &mut [u8],
        start_ns: u64,
        content: WriteContent,
    ) -> Result<(), Failure> {
        let write = self.stamping.stamp(block, slot.unit.offset_bytes, start_ns);
        let file_index = slot.unit.file_index;
        if let Some(state) = &mut self.state {
            state.issued(slot_index, write.sequence, file_index, write.offset_bytes);
        }
        if let Some(journal) = &mut self.journal {
            journal.issued(slot_index, file_index, block.len(), write)?;
        }
        // Writes are remembered if they are read back, or if some are trimmed again.
        if content != WriteContent::Unchanged && (self.reads_back || self.trims.takes_writes()) {
            let write = pending(file_index, &write, slot.unit.length_bytes as u64);
            self.remember(slot_index, write)?;
            self.memory.left(&write, content);
        }
        Ok(())
    }

    fn remember(&mut self, slot_index: u32, write: PendingWrite) -> Result<(), Failure> {
        if self.reads == VerifiedWrites::Regenerated {
            self.memory.hold(slot_index, write);
            if let (Some(backlog), Some(regeneration)) = (&mut self.backlog, &self.regeneration) {
                backlog.wrote(regeneration.n_waiting(self.stamping.n_writes()));
            }
            return Ok(());
        }
        self.memory.forget_above(write.file_index, write.offset_bytes);
        self.memory.push(write)?;
        self.memory.takes_off(slot_index, write);
        if let Some(backlog) = &mut self.backlog {
            backlog.wrote(self.memory.pending().len() as u64);
        }
        self.trims.wrote(write);
        Ok(())
    }

    /// Called before an I/O is issued: records its expected result and its effect on remembered writes.
    ///
    /// # Errors
    /// The pass ends, because the state of an earlier run ends before this I/O.
    pub(crate) fn issue(&mut self, core: &mut WorkerCore<'_>, slot_index: u32) -> Result<(), Stop> {
        let checks_own_reads = self.expectations.checks_own_reads() && !core.control.is_reading_back();
        if let Some(loaded) = self.loaded.as_mut().filter(|_| checks_own_reads) {
            loaded.look(core, slot_index)?;
        }
        let slot = core.slots.get(slot_index);
        match slot.unit.direction {
            Direction::Read => {
                self.trims.note(false);
                let is_compared = self.commands.put_expected(core, slot_index, &self.stamping);
                let expected = if is_compared { None } else { self.expected(core, slot_index, slot) };
                self.expectations.issue(slot_index, expected);
            }
            Direction::Trim => self.trims.issue(slot_index, slot, &mut self.memory),
            Direction::Write => {}
            direction => self.sync_issued(slot_index, direction, slot.unit.file_index),
        }
        Ok(())
    }

    /// True if the contents of the read in flight in this slot will be checked.
    pub(crate) fn checks(&self, slot_index: u32) -> bool {
        self.expectations.checks(slot_index)
    }

    /// The expected result of a read; `None`: anything.
    fn expected(&mut self, core: &WorkerCore<'_>, slot_index: u32, slot: &Slot) -> Option<Expected> {
        let writes = core.workload.present_writes();
        if let Some(write) = writes.first() {
            self.stamping.prepare_reads(slot_index, writes);
            return Some(self.expectations.of_write(write));
        }
        match &mut self.regeneration {
            Some(regeneration) if core.control.is_reading_back() => {
                regeneration.next(&slot.unit, &mut self.stamping, &self.expectations)
            }
            _ if self.loaded.as_mut().is_some_and(|loaded| loaded.leaves_out(slot_index)) => None,
            _ => self.expectations.of_own_read(slot.unit.offset_bytes),
        }
    }

    fn sync_issued(&mut self, slot_index: u32, direction: Direction, file_index: u32) {
        if let Some(journal) = &mut self.journal {
            journal.sync_issued(slot_index, direction, file_index);
        }
        if self.reads == VerifiedWrites::Fsynced && direction != Direction::SyncFileRange {
            self.durable.sync_issued(slot_index, file_index, self.stamping.n_writes(), &self.memory);
        }
    }

    /// Called after an I/O has failed; after a write or trim, the contents of its range are unknown.
    pub(crate) fn failed(&mut self, core: &mut WorkerCore<'_>, slot_index: u32) {
        let direction = core.slots.get(slot_index).unit.direction;
        self.tell_journal(core, slot_index, direction, true);
        match direction {
            Direction::Write => self.write_failed(slot_index),
            Direction::Trim => self.trims.lands(slot_index, true, &mut self.memory),
            Direction::Read => {}
            _ => self.durable.sync_landed(slot_index, true),
        }
    }

    fn write_failed(&mut self, slot_index: u32) {
        if let Some(state) = &mut self.state {
            state.failed(slot_index);
        }
        let Some(write) = self.memory.lands(slot_index) else { return };
        if let Some(regeneration) = &mut self.regeneration {
            regeneration.forget(write.number.sequence());
        }
        self.memory.pending_mut().forget(&write);
    }

    /// Called after a data I/O is done: a read is checked.
    pub(crate) fn done(&mut self, core: &mut WorkerCore<'_>, slot_index: u32, direction: DataDirection) {
        self.tell_journal(core, slot_index, direction.into(), false);
        match direction {
            DataDirection::Read => self.check(core, slot_index),
            DataDirection::Write => {
                self.memory.lands(slot_index);
                if let Some(state) = &mut self.state {
                    state.landed(slot_index);
                }
            }
            DataDirection::Trim => self.trims.lands(slot_index, false, &mut self.memory),
        }
    }

    fn check(&mut self, core: &mut WorkerCore<'_>, slot_index: u32) {
        let Some(expected) = self.expectations.done(slot_index) else { return };
        let slot = core.slots.get(slot_index);
        let (length_bytes, file_index) = (slot.length_bytes as usize, slot.unit.file_index);
        let faulty = core.buffers.with(slot_index, length_bytes, |block| match &mut self.checkers {
            Some(checkers) => checkers.check(block, file_index, expected),
            None => Ok(self.stamping.check(slot_index, file_index, block, expected)),
        });
        self.tell_outcome(core, faulty);
    }

    /// Called after a sync is done.
    pub(crate) fn sync_done(&mut self, core: &mut WorkerCore<'_>, slot_index: u32) {
        self.durable.sync_landed(slot_index, false);
        self.tell_journal(core, slot_index, Direction::Sync, false);
    }

    /// Called after a file was synced by the system call while none of its writes was in flight.
    pub(crate) fn synced_now(&mut self, file_index: u32) -> Result<(), Failure> {
        self.journal.as_mut().map_or(Ok(()), |journal| journal.synced_now(file_index))
    }

    /// Lets the job fail if the journal cannot be written.
    fn tell_journal(&mut self, core: &mut WorkerCore<'_>, slot_index: u32, direction: Direction, has_failed: bool) {
        let Some(journal) = &mut self.journal else { return };
        if let Err(error) = journal.over(slot_index, direction, has_failed) {
            core.control.fail_soon(error);
        }
    }

    /// Called at the end of the job: writes the rest of the journal to disk.
    pub(crate) fn finish_journal(&mut self) -> Result<(), Failure> {
        self.journal.as_mut().map_or(Ok(()), |journal| journal.flush())
    }

    fn tell_outcome(&self, core: &mut WorkerCore<'_>, faulty: Result<Option<Faulty>, Failure>) {
        match faulty {
            Ok(None) => {}
            Ok(Some(faulty)) => self.reports.tell(self.stamping.rules(), core, &faulty),
            Err(error) => core.control.fail_soon(error),
        }
    }

    /// Waits for blocks that helper threads still check.
    pub(crate) fn finish_checks(&mut self, core: &mut WorkerCore<'_>) {
        let finish = |this: &mut Self| this.checkers.as_mut().and_then(|checkers| checkers.finish().transpose());
        while let Some(faulty) = finish(self) {
            self.tell_outcome(core, faulty.map(Some));
        }
    }

    /// The step of a job with trims before its next I/O.
    pub(crate) fn next_trim(&mut self) -> TrimStep {
        self.trims.next(&self.memory)
    }

    /// Number of trims that were inserted so far.
    pub(crate) fn n_inserted(&self) -> u64 {
        self.trims.n_between()
    }

    /// True if writes wait for their trims.
    pub(crate) fn has_waiting_trims(&mut self) -> bool {
        self.trims.has_waiting(&self.memory)
    }

    /// Called when a pass begins: the stream that will make its writes again is copied now.
    pub(crate) fn mark_pass(&mut self, workload: &Workload) {
        if self.reads == VerifiedWrites::Regenerated {
            self.regeneration = Some(Box::new(Regeneration::new(workload, &self.stamping)));
        }
    }

    /// Takes the writes of a pass that are to be read back.
    pub(crate) fn take_pass(&mut self, context: &WorkerContext<'_>) -> Vec<PendingWrite> {
        self.trims.end_pass();
        let mut writes = self.memory.pending_mut().take();
        if !self.reads_back {
            // They were kept only for their trims.
            writes.clear();
        }
        if self.reads == VerifiedWrites::Fsynced {
            self.durable.retain(&mut writes);
        }
        let writes = self.up_to_state(context, writes);
        self.memory.keep_pass(writes)
    }

    /// Takes the remaining writes of all passes of an earlier run; `None`: each pass was read back by itself.
    pub(crate) fn take_apart(&mut self, context: &WorkerContext<'_>) -> Option<Vec<PendingWrite>> {
        let writes = self.memory.take_apart()?;
        Some(self.up_to_state(context, writes))
    }

    /// Keeps only the writes of a pass that the state of an earlier run covers.
    fn up_to_state(&mut self, context: &WorkerContext<'_>, mut writes: Vec<PendingWrite>) -> Vec<PendingWrite> {
        let by_place = self.memory.is_by_place();
        if let Some(loaded) = &mut self.loaded {
            loaded.retain(context, &mut writes, by_place);
        }
        writes
    }

    /// True if blocks are to be read back before the next I/O.
    pub(crate) fn is_backlog_due(&self) -> bool {
        self.backlog.as_ref().is_some_and(Backlog::is_due)
    }

    /// Takes the remembered writes that are to be read back now.
    pub(crate) fn take_backlog(&mut self) -> Vec<PendingWrite> {
        let n_wanted = self.backlog.as_ref().map_or(0, Backlog::n_wanted);
        let writes = match self.reads {
            VerifiedWrites::Fsynced => self.durable.take_some(n_wanted, &mut self.memory),
            _ => self.memory.pending_mut().take_some(n_wanted),
        };
        if let Some(backlog) = &mut self.backlog {
            backlog.took(writes.len() as u64);
        }
        writes
    }

    /// If nothing is remembered: the stream that makes the writes again, and how many of them are due.
    pub(crate) fn take_due_copy(&mut self) -> Option<(StreamCopy, u64)> {
        let (copy, n_waiting) = self.take_copy()?;
        let backlog = self.backlog.as_mut()?;
        let n_due = n_waiting.min(backlog.n_left());
        backlog.took(n_due);
        Some((copy, n_due))
    }

    /// The stream that makes the writes of the pass again, and how many of them are left; `None`: none.
    pub(crate) fn take_copy(&mut self) -> Option<(StreamCopy, u64)> {
        self.regeneration.as_mut()?.take_copy(self.stamping.n_writes())
    }

    /// Called when the job continues: keeps the stream that makes its writes again.
    pub(crate) fn keep_copy(&mut self, copy: Option<StreamCopy>) {
        if let Some(regeneration) = &mut self.regeneration {
            regeneration.keep_copy(copy);
        }
    }

    /// Called after the pass was read back.
    pub(crate) fn end_read_back(&mut self) {
        self.regeneration = None;
    }

    /// Remembers the next step of an earlier run as if it was done now. False: that run ended before it.
    ///
    /// # Errors
    /// There are more writes than can be remembered.
    pub(crate) fn remember_step(&mut self, core: &mut WorkerCore<'_>, next: &Next) -> Result<bool, Failure> {
        match next {
            Next::Io(io) => match io.direction {
                Direction::Write => return self.remember_unwritten(core, io),
                Direction::Trim => {
                    self.trims.note(true);
                    self.memory.trim_unwritten(io.file_index, io.offset_bytes, io.length_bytes);
                }
                Direction::Read => {
                    self.trims.note(false);
                    self.memory.note_unread_mix(io.length_bytes);
                }
                // Syncs are not repeated.
                _ => {}
            },
            Next::Wait => self.trims.remember_due(&mut self.memory),
            _ => {}
        }
        Ok(true)
    }

    fn remember_unwritten(&mut self, core: &mut WorkerCore<'_>, io: &NextIo) -> Result<bool, Failure> {
        let number = self.stamping.n_writes();
        if let Some(loaded) = self.loaded.as_mut().filter(|loaded| loaded.ended_before(number, io)) {
            loaded.say_stop(core.context, number, WriteFate::NotIssued);
            return Ok(false);
        }
        let write = self.stamping.next(io.offset_bytes, 0);
        let write = pending(io.file_index, &write, io.length_bytes);
        let content = self.commands.content(&mut *core.engine, 0);
        if content == WriteContent::Unchanged {
            return Ok(true);
        }
        self.memory.forget_above(write.file_index, write.offset_bytes);
        // If the write was in flight or failed, the contents of its place are unknown.
        let is_known = self.loaded.as_ref().is_none_or(|loaded| loaded.told(&write) == WriteFate::Done);
        if !is_known && self.memory.is_by_place() {
            self.memory.forget_range(write.file_index, write.offset_bytes, write.length_bytes.into());
            return Ok(true);
        }
        self.memory.push_unwritten(write)?;
        self.memory.left_by_earlier_run(&write, content);
        self.trims.wrote(write);
        Ok(true)
    }

    /// Writes the state file; `None`: there is nothing to write.
    pub(crate) fn save_state(&self, core: &WorkerCore<'_>) -> Option<Result<(), VerifyNote>> {
        let keeper = self.state.as_ref().filter(|_| !core.context.readonly)?;
        let n_writes = match self.reads {
            VerifiedWrites::Fsynced => self.durable.before_all(core.files.n_files() as usize),
            _ => self.stamping.n_writes(),
        };
        Some(keeper.save(core, n_writes))
    }
}
