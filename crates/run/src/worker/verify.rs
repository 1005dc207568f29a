//! Verification: what writes hold, and whether it is what comes back.
//!
//! Must not know: loops, headers. Start reading at [`Verifier`]; the pass of reads is [`Worker::verify_pass`].
//! Facts: reference "Verify".

use super::crash_log::CrashLog;
use super::slots::Slot;
use super::verify_async::{Checkers, Faulty};
use super::verify_backlog::Backlog;
use super::verify_known::KnownBlocks;
use super::verify_overlaps::{in_place, overlaps};
use super::verify_state::{self, LoadedState, StateKeeper};
use super::verify_trims::has_trims;
use super::verify_writes::{DurableWrites, PassesApart, Regeneration, passes_apart};
use super::{Stop, Worker};
use crate::error::{JobError, job_error};
use crate::events::Stream;
use crate::files::FileSet;
use crate::plan::WorkerPlan;
use crate::supervisor::board::WorkerState;
use crate::zones::ZonedFiles;
use ferrio_job::spec::{VerifiedWrites, VerifyForm, VerifySpec};
use ferrio_stats::VerifyStats;
use ferrio_units::random::{SeedIndex, Taus88};
use ferrio_units::{DataDirection, Direction};
use ferrio_workload::Workload;
use ferrio_workload::verify::block::{BlockRules, Expected, Write};
use ferrio_workload::verify::fault::{Damage, Fault, Requested, diagnose};
use ferrio_workload::verify::pending::{PendingWrite, PendingWrites, TooMany, WriteNumber};
use ferrio_workload::verify::trims::TrimBacklog;
use ferrio_workload::workload::StreamCopy;
use std::fmt::Write as _;
use std::path::PathBuf;

const EILSEQ: i32 = 84;

/// What a worker knows of what it wrote.
pub(super) struct Verifier {
    pub(super) spec: VerifySpec,
    rules: BlockRules,
    pub(super) seeds: Taus88,
    pub(super) n_writes: u64,
    pub(super) pending: PendingWrites,
    /// No write lies over another, and they are read back file by file in ascending order.
    pub(super) in_place: bool,
    /// By slot: the write in flight, or the one that a trim in flight takes away.
    pub(super) in_flight: Vec<Option<PendingWrite>>,
    /// Writes that are to be trimmed again.
    pub(super) trims: Option<TrimBacklog>,
    /// The write that the next trim belongs to.
    pub(super) present_trim: Option<PendingWrite>,
    pub(super) n_trims_in_flight: u32,
    /// There are trims.
    pub(super) has_trims: bool,
    /// Writes in flight may lie over each other.
    races: bool,
    /// Zones that are written in sequence.
    pub(super) zones: ZonedFiles,
    /// By slot: what its read must give; `None`: it is not checked.
    expected: Vec<Option<Expected>>,
    /// What is read back between writes.
    pub(super) backlog: Option<Backlog>,
    /// Threads that check what was read.
    pub(super) checkers: Option<Checkers>,
    /// What is known of blocks before they are written or read.
    pub(super) known: KnownBlocks,
    /// Reads of the job itself are checked, by what their headers say.
    checks_reads: bool,
    is_reading_back: bool,
    /// The engine moves no data: whatever it reads is right.
    is_blind: bool,
    /// Of the writes in order those before these are durable, by file (`verify_policy=fsynced`).
    pub(super) durable: DurableWrites,
    /// What makes the writes of the pass once more (`experimental_verify`).
    pub(super) regeneration: Option<Box<Regeneration>>,
    /// What the state file tells; `None`: the job does not write.
    pub(super) state: Option<StateKeeper>,
    /// What the passes of an earlier run left, until the last of them (`verify_only`).
    pub(super) apart: Option<Box<PassesApart>>,
    /// Up to where an earlier run came (`verify_state_load`).
    pub(super) loaded: Option<LoadedState>,
    /// What is told for who looks after a crash (`verify_crash_log`).
    pub(super) journal: Option<Box<CrashLog>>,
}

impl Verifier {
    /// What a job needs to verify, with the state and the journal that it asks for; `None`: it verifies nothing.
    pub(super) fn prepare(plan: &WorkerPlan, set: &FileSet, block_bytes: usize) -> Result<Option<Box<Self>>, JobError> {
        let loaded = verify_state::load(plan)?;
        let Some(mut verifier) = Self::new(plan, set, block_bytes, loaded)? else { return Ok(None) };
        verifier.zones = set.zones.clone();
        verifier.apart = passes_apart(plan, set);
        verifier.journal = CrashLog::create(plan, set)?;
        Ok(Some(Box::new(verifier)))
    }

    fn new(
        plan: &WorkerPlan,
        set: &FileSet,
        block_bytes: usize,
        loaded: Option<LoadedState>,
    ) -> Result<Option<Self>, JobError> {
        let Some(mut spec) = plan.spec.verify.clone() else { return Ok(None) };
        let (overlap, in_place) = (overlaps(plan, set), in_place(plan, set));
        if spec.reads == VerifiedWrites::Regenerated && overlap {
            // Of writes over each other only memory knows the newest.
            spec.reads = VerifiedWrites::Done;
        }
        let iodepth = plan.queue().iodepth as usize;
        let trims = spec.trims.map(|trims| TrimBacklog::new(trims, &plan.seeds));
        let has_trims = has_trims(plan);
        // Job numbers of headers have 16 bits.
        let rules = BlockRules::new(spec.content.clone(), plan.thread_number as u16);
        let rules = if spec.recognises_layouts { rules.recognising() } else { rules };
        let of_threads = rules.clone();
        let check = move |block: &mut [u8], expected: &Expected| of_threads.check(block, expected);
        let known = KnownBlocks::new(&spec, &rules, block_bytes, iodepth);
        Ok(Some(Self {
            checkers: Checkers::start(&spec, block_bytes, check)?,
            known,
            rules,
            seeds: Taus88::from_table(&plan.seeds, SeedIndex::Verify),
            n_writes: 0,
            pending: PendingWrites::new(overlap || in_place),
            in_place,
            in_flight: vec![None; iodepth],
            trims,
            present_trim: None,
            n_trims_in_flight: 0,
            has_trims,
            races: overlap && !plan.serializes(),
            zones: ZonedFiles::default(),
            expected: vec![None; iodepth],
            checks_reads: !plan.writes(),
            is_reading_back: false,
            backlog: spec.backlog.filter(|_| spec.reads != VerifiedWrites::OfEarlierRun).map(Backlog::new),
            is_blind: plan.engine.diskless && plan.engine.name == "null",
            durable: DurableWrites::default(),
            regeneration: None,
            apart: None,
            state: StateKeeper::new(plan, spec.content.layout),
            loaded,
            journal: None,
            spec,
        }))
    }

    /// It makes what stands in blocks: all methods do but that which checks nothing.
    pub(super) fn makes_contents(&self) -> bool {
        self.spec.content.method.def().form != VerifyForm::Nothing
    }

    /// Makes the contents of a write, and remembers it.
    ///
    /// # Errors
    /// There are more writes than can be remembered.
    pub(super) fn stamp(
        &mut self,
        slot_index: u32,
        slot: &Slot,
        block: &mut [u8],
        start_ns: u64,
    ) -> Result<(), JobError> {
        let write =
            Write { offset_bytes: slot.unit.offset, seed: self.seeds.buffer_seed(), sequence: self.n_writes, start_ns };
        self.n_writes += 1;
        if self.makes_contents() {
            self.known.stamp(&self.rules, block, &write, &self.seeds);
        }
        if let Some(state) = &mut self.state {
            state.issued(slot_index, write.sequence, slot.unit.file_index, write.offset_bytes);
        }
        if let Some(journal) = &mut self.journal {
            journal.issued(slot_index, slot.unit.file_index, block.len(), write)?;
        }
        if !self.spec.reads_back {
            return Ok(());
        }
        let pending = PendingWrite {
            file_index: slot.unit.file_index,
            length_bytes: u32::try_from(slot.unit.length).unwrap_or(u32::MAX),
            offset_bytes: write.offset_bytes,
            seed: write.seed,
            number: WriteNumber::new(write.sequence),
        };
        if self.spec.reads == VerifiedWrites::Regenerated {
            self.in_flight[slot_index as usize] = Some(pending);
            if let (Some(backlog), Some(regeneration)) = (&mut self.backlog, &self.regeneration) {
                backlog.wrote(regeneration.n_waiting(self.n_writes));
            }
            return Ok(());
        }
        self.forget_above(pending.file_index, pending.offset_bytes);
        self.remember(pending)?;
        self.note_in_flight(slot_index, pending);
        if let Some(backlog) = &mut self.backlog {
            backlog.wrote(self.pending.len() as u64);
        }
        if let Some(trims) = &mut self.trims {
            trims.wrote(pending);
        }
        Ok(())
    }

    /// Keeps a write to be read back.
    pub(super) fn remember(&mut self, write: PendingWrite) -> Result<(), JobError> {
        self.pending.push(write).map_err(|TooMany| self.too_many())
    }

    /// What it had to remember; `None`: nothing.
    pub(super) fn figures(&self) -> Option<VerifyStats> {
        let n_most = self.pending.n_most();
        // Fits: it is memory.
        let pending_bytes = (n_most * self.pending.entry_bytes() + self.known.kept_bytes()) as u64;
        (n_most > 0).then_some(VerifyStats { n_most_pending: n_most as u64, pending_bytes })
    }

    /// Of writes that are in flight together the kernel may do either first: where one lies over another, nobody knows what
    /// is there, and neither is read back.
    fn note_in_flight(&mut self, slot_index: u32, write: PendingWrite) {
        // Those under it were forgotten with its push.
        if self.races && self.in_flight.iter().flatten().any(|other| other.overlaps(&write)) {
            self.pending.forget(&write);
        }
        self.in_flight[slot_index as usize] = Some(write);
    }

    /// Takes what a pass wrote, to be read back.
    fn take_pass(&mut self) -> Vec<PendingWrite> {
        if let Some(trims) = &mut self.trims {
            trims.end_pass();
        }
        let mut writes = self.pending.take();
        self.durable.retain(&self.spec, &mut writes);
        writes
    }

    /// A write has landed.
    fn landed(&mut self, slot_index: u32) {
        self.in_flight[slot_index as usize] = None;
        if let Some(state) = &mut self.state {
            state.landed(slot_index);
        }
    }

    /// Reads of the job itself are checked, and this is no pass that reads back.
    pub(super) fn checks_own_reads(&self) -> bool {
        self.checks_reads && !self.is_reading_back
    }

    /// A read is about to be issued from a slot. `writes`: what it reads back, and what is read back after it.
    fn expect(&mut self, slot_index: u32, slot: &Slot, writes: &[PendingWrite]) {
        let expected = match writes.first() {
            None if self.is_reading_back && self.regeneration.is_some() => self.regenerate_expected(&slot.unit),
            Some(write) => {
                self.known.prepare_reads(slot_index, writes);
                Some(Expected {
                    offset_bytes: write.offset_bytes,
                    seed: self.spec.checks_seed.then_some(write.seed),
                    sequence: self.spec.checks_sequence.then_some(write.number.sequence()),
                    is_trimmed: write.number.is_trimmed(),
                })
            }
            None if self.checks_reads && self.loaded.as_mut().is_some_and(|loaded| loaded.leaves_out(slot_index)) => {
                None
            }
            None if self.checks_reads => {
                let offset_bytes = slot.unit.offset;
                Some(Expected { offset_bytes, seed: None, sequence: None, is_trimmed: false })
            }
            None => None,
        };
        self.expected[slot_index as usize] = expected;
    }
}

impl Worker<'_> {
    /// Before a read or a trim goes out: what it must give, and what it makes of what was written.
    pub(super) fn expect_outcome(&mut self, slot_index: u32) {
        let Self { verifier, slots, workload, .. } = self;
        let slot = slots.get(slot_index);
        let Some(verifier) = verifier else { return };
        match slot.unit.direction {
            Direction::Read => verifier.expect(slot_index, slot, workload.present_writes()),
            Direction::Trim => verifier.trim_issued(slot_index, slot),
            Direction::Write => {}
            _ => verifier.sync_issued(slot_index, slot),
        }
    }

    /// A write or a trim failed: nothing is known of its place.
    pub(super) fn forget_write(&mut self, slot_index: u32) {
        self.tell_journal(slot_index, self.slots.get(slot_index).unit.direction, true);
        let slot = self.slots.get(slot_index);
        let Some(verifier) = &mut self.verifier else { return };
        match slot.unit.direction {
            Direction::Write => {
                verifier.forget_regenerated(slot_index);
                if let Some(state) = &mut verifier.state {
                    state.failed(slot_index);
                }
                if let Some(write) = verifier.in_flight[slot_index as usize].take() {
                    verifier.pending.forget(&write);
                }
            }
            Direction::Trim => verifier.trim_landed(slot_index, true),
            Direction::Read => {}
            _ => verifier.sync_landed(slot_index, true),
        }
    }

    /// Checks a read that is done.
    pub(super) fn check_read(&mut self, slot_index: u32, direction: DataDirection) {
        self.tell_journal(slot_index, direction.into(), false);
        let Some(verifier) = &mut self.verifier else { return };
        match direction {
            DataDirection::Read => {}
            DataDirection::Write => return verifier.landed(slot_index),
            DataDirection::Trim => return verifier.trim_landed(slot_index, false),
        }
        let Some(expected) = verifier.expected[slot_index as usize].take().filter(|_| !verifier.is_blind) else {
            return;
        };
        let slot = self.slots.get(slot_index);
        let (length_bytes, file_index) = (slot.wanted_bytes as usize, slot.unit.file_index);
        let place = slot_index as usize * self.block_bytes;
        let faulty = {
            let mut arena = self.arena.borrow_mut();
            let block = arena.slice_mut(place, length_bytes);
            if let Some(checkers) = &mut verifier.checkers {
                checkers.check(block, file_index, expected)
            } else {
                let known = verifier.known.of_read(slot_index, &expected, block.len());
                let fault = verifier.rules.check_from(block, &expected, known).err();
                Ok(fault.map(|fault| Faulty { file_index, expected, fault, received: block.to_vec() }))
            }
        };
        self.tell_outcome(faulty);
    }

    fn tell_outcome(&mut self, faulty: Result<Option<Faulty>, JobError>) {
        match faulty {
            Ok(None) => {}
            Ok(Some(faulty)) => self.tell_fault(&faulty),
            Err(error) => self.fail_soon(error),
        }
    }

    /// Waits for what helper threads still check.
    pub(super) fn finish_checks(&mut self) {
        let finish = |this: &mut Self| {
            let checkers = this.verifier.as_mut().and_then(|verifier| verifier.checkers.as_mut());
            checkers.and_then(|checkers| checkers.finish().transpose())
        };
        while let Some(faulty) = finish(self) {
            self.tell_outcome(faulty.map(Some));
        }
    }

    /// Reports a fault; the job ends with it unless such errors are tolerated.
    fn tell_fault(&mut self, faulty: &Faulty) {
        let Faulty { file_index, expected, fault, received } = faulty;
        let Some(verifier) = &self.verifier else { return };
        let regenerated = verifier.rules.regenerate(received, expected);
        let requested = Requested {
            file: &self.files.plan(*file_index).name,
            offset_bytes: expected.offset_bytes,
            length_bytes: received.len() as u64,
        };
        let mut text = fault.text(&requested);
        if verifier.spec.dumps {
            // Both are blocks of the same length.
            let start = usize::try_from(fault.offset_bytes - expected.offset_bytes).unwrap_or(0);
            let interval = start..start + fault.length_bytes as usize;
            let whole = regenerated.as_deref().and_then(|whole| whole.get(interval.clone()));
            let damaged = received.get(interval).unwrap_or(received);
            text.push_str(&dump(&verifier.spec, requested.file, fault, damaged, whole));
        }
        let own = verifier.rules.regenerate_own(received, expected.offset_bytes);
        let foreign = verifier.rules.foreign_layout(received, expected.offset_bytes).map(Damage::OtherLayout);
        if let Some(damage) = foreign.or_else(|| diagnose(fault, received, regenerated.as_deref(), own.as_deref())) {
            let _ = write!(text, "\n       {damage}");
        }
        let is_fatal = verifier.spec.is_fatal;
        self.say(Stream::Error, text);
        if !self.tolerates(Direction::Read, EILSEQ) || is_fatal {
            self.fail_soon(job_error!(EILSEQ, self.checking_step()));
        }
    }

    /// Where the report says that a fault was found.
    fn checking_step(&self) -> &'static str {
        match &self.plan.spec.verify {
            Some(verify) if verify.n_threads > 0 => "async_verify",
            _ if self.plan.engine.synchronous => "io_u_sync_complete",
            _ => "io_u_queued_complete",
        }
    }

    /// Reads back what the pass wrote.
    pub(super) fn verify_pass(&mut self) -> Stop {
        let writes = self.verifier.as_mut().map_or_else(Vec::new, |verifier| verifier.take_pass());
        let writes = self.up_to_state(writes);
        let writes = self.verifier.as_mut().map_or_else(Vec::new, |verifier| verifier.keep_pass(writes));
        let copy = self.take_copy();
        self.verify_writes(writes, copy)
    }

    /// Reads writes back, or those that `copy` makes once more.
    pub(super) fn verify_writes(&mut self, writes: Vec<PendingWrite>, copy: Option<(StreamCopy, u64)>) -> Stop {
        if writes.is_empty() && copy.is_none() {
            return Stop::PassEnd;
        }
        if let Err(error) = self.sync_before_reading() {
            return Stop::Failed(Box::new(error));
        }
        let stop = match copy {
            Some((copy, n_writes)) => self.read_back(|workload| workload.regenerate(copy, n_writes)),
            None => self.read_back(|workload| workload.read_back(writes)),
        };
        if let Some(verifier) = &mut self.verifier {
            verifier.regeneration = None;
        }
        stop
    }

    /// Reads writes back, which `begin` makes the workload. Nothing is in flight before and after it.
    pub(super) fn read_back(&mut self, begin: impl FnOnce(&mut Workload)) -> Stop {
        self.control.slot().set_state(WorkerState::Verifying);
        begin(&mut self.workload);
        self.set_reading_back(true);
        // Reads back are no part of a flow: the others go on without it.
        self.leave_flow();
        self.pass_start_ns = self.clock.now_ns();
        let stop = self.run_pass();
        let now_ns = self.clock.now_ns();
        self.end_of_pass(now_ns);
        self.set_reading_back(false);
        self.join_flow();
        self.keep_copy();
        self.control.slot().set_state(WorkerState::Running);
        stop
    }

    fn set_reading_back(&mut self, is_reading_back: bool) {
        if let Some(verifier) = &mut self.verifier {
            verifier.is_reading_back = is_reading_back;
        }
    }

    /// True while what was written is read back: only reads take time then.
    pub(super) fn is_reading_back(&self) -> bool {
        self.verifier.as_ref().is_some_and(|verifier| verifier.is_reading_back)
    }

    /// What is read back comes from the device: files are synced, which counts as a sync each, and their cache is dropped.
    fn sync_before_reading(&mut self) -> Result<(), JobError> {
        for file in 0..self.files.n_files() {
            // As with fio 3.33, what was never opened is not made (`create_on_open`).
            if self.plan.spec.layout.create_on_open && !self.files.plan(file).path.exists() {
                continue;
            }
            self.open_if_closed(file)?;
            if self.plan.writes() {
                self.account.stats.n_syncs_issued += 1;
                // As seen on fio 3.33: it is no I/O of the job.
                self.sync_untraced(file)?;
            }
            self.files.restarted(file);
        }
        Ok(())
    }
}

/// Keeps an interval in two files, or in one where its header is at fault; lines that say so.
fn dump(spec: &VerifySpec, file: &str, fault: &Fault, received: &[u8], expected: Option<&[u8]>) -> String {
    let base = file.rsplit('/').next().unwrap_or(file);
    let base = spec.dump_directory.as_ref().map_or_else(|| base.to_owned(), |directory| format!("{directory}/{base}"));
    let mut lines = String::new();
    let kept = if fault.is_of_header() {
        [("hdr_fail", Some(received)), ("", None)]
    } else {
        [("received", Some(received)), ("expected", expected)]
    };
    for (kind, bytes) in kept {
        let Some(bytes) = bytes else { continue };
        let name = PathBuf::from(format!("{base}.{}.{kind}", fault.offset_bytes));
        let line = match std::fs::write(&name, bytes) {
            Ok(()) => format!("\n       {kind} data dumped as {}", name.display()),
            Err(error) => format!("\n       {kind} data not dumped as {}: {error}", name.display()),
        };
        lines.push_str(&line);
    }
    lines
}
