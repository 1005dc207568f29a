//! Verification: what writes hold, and whether it is what comes back.
//!
//! Must not know: loops, headers. Start reading at [`Verifier`]; the pass of reads is [`Worker::verify_pass`].
//! Facts: reference "Verify".

use super::slots::Slot;
use super::{Stop, Worker};
use crate::error::{JobError, job_error};
use crate::events::Stream;
use crate::files::FileSet;
use crate::plan::WorkerPlan;
use crate::supervisor::board::WorkerState;
use ferrio_job::spec::{RandomDistribution, VerifySpec, ZoneSpec};
use ferrio_units::random::{SeedIndex, Taus88};
use ferrio_units::{DataDirection, Direction};
use ferrio_workload::verify::block::{BlockRules, Expected, Write};
use ferrio_workload::verify::fault::{Fault, Requested, diagnose};
use ferrio_workload::verify::pending::{PendingWrite, PendingWrites, TooMany};
use std::fmt::Write as _;
use std::path::PathBuf;

const EILSEQ: i32 = 84;
const ENOMEM: i32 = 12;

/// What a worker knows of what it wrote.
pub(super) struct Verifier {
    spec: VerifySpec,
    rules: BlockRules,
    seeds: Taus88,
    n_writes: u64,
    pending: PendingWrites,
    /// By slot, where writes may lie over others: what is in flight.
    in_flight: Vec<Option<PendingWrite>>,
    /// By slot: what its read must give; `None`: it is not checked.
    expected: Vec<Option<Expected>>,
    /// Reads of the job itself are checked, by what their headers say.
    checks_reads: bool,
    is_reading_back: bool,
    /// The engine moves no data: whatever it reads is right.
    is_blind: bool,
}

impl Verifier {
    pub(super) fn new(plan: &WorkerPlan, overlap: bool) -> Option<Self> {
        let spec = plan.spec.verify.clone()?;
        let iodepth = plan.queue().iodepth as usize;
        Some(Self {
            // Job numbers of headers have 16 bits.
            rules: BlockRules::new(spec.content.clone(), plan.thread_number as u16),
            seeds: Taus88::from_table(&plan.seeds, SeedIndex::Verify),
            n_writes: 0,
            pending: PendingWrites::new(overlap),
            in_flight: vec![None; if overlap { iodepth } else { 0 }],
            expected: vec![None; iodepth],
            checks_reads: !plan.writes(),
            is_reading_back: false,
            is_blind: plan.engine.diskless && plan.engine.name == "null",
            spec,
        })
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
        self.rules.stamp(block, &write);
        if !self.spec.reads_back {
            return Ok(());
        }
        let pending = PendingWrite {
            file_index: slot.unit.file_index,
            length_bytes: u32::try_from(slot.unit.length).unwrap_or(u32::MAX),
            offset_bytes: write.offset_bytes,
            seed: write.seed,
            sequence: write.sequence,
        };
        self.pending.push(pending).map_err(|TooMany| {
            let text = "fio: verify: too many writes to be remembered; run with a smaller io_size";
            job_error!(ENOMEM, "verify").explained(text)
        })?;
        self.note_in_flight(slot_index, pending);
        Ok(())
    }

    /// Of writes that are in flight together the kernel may do either first: where one lies over another, nobody knows what
    /// is there, and neither is read back.
    fn note_in_flight(&mut self, slot_index: u32, write: PendingWrite) {
        // Those under it were forgotten with its push.
        if self.in_flight.iter().flatten().any(|other| other.overlaps(&write)) {
            self.pending.forget(write.file_index, write.offset_bytes);
        }
        if let Some(place) = self.in_flight.get_mut(slot_index as usize) {
            *place = Some(write);
        }
    }

    /// A write has landed.
    fn landed(&mut self, slot_index: u32) {
        if let Some(place) = self.in_flight.get_mut(slot_index as usize) {
            *place = None;
        }
    }

    /// A read is about to be issued from a slot. `write`: what it reads back.
    fn expect(&mut self, slot_index: u32, slot: &Slot, write: Option<&PendingWrite>) {
        let expected = match write {
            Some(write) => Some(Expected {
                offset_bytes: write.offset_bytes,
                seed: self.spec.checks_seed.then_some(write.seed),
                sequence: self.spec.checks_sequence.then_some(write.sequence),
            }),
            None if self.checks_reads => Some(Expected { offset_bytes: slot.unit.offset, seed: None, sequence: None }),
            None => None,
        };
        self.expected[slot_index as usize] = expected;
    }
}

/// A write of a pass may lie over another of it.
pub(super) fn overlaps(plan: &WorkerPlan, set: &FileSet) -> bool {
    let pattern = &plan.spec.pattern;
    let visits_once = !pattern.random
        || (!pattern.norandommap
            && !pattern.softrandommap
            // Skewed draws repeat themselves, and what is not drawn is not marked in the map.
            && pattern.distribution == RandomDistribution::Uniform
            && pattern.percentage_random[DataDirection::Write] == 100);
    let jumps = pattern.rw_postfix != i64::from(pattern.random);
    let is_zoned = matches!(plan.spec.zones, ZoneSpec::Strided(_));
    !visits_once || jumps || is_zoned || set.io_bytes > set.size_bytes || plan.spec.limits.time_based
}

impl Worker<'_> {
    /// Before a read goes out: what it must give.
    pub(super) fn expect_read(&mut self, slot_index: u32) {
        let Self { verifier, slots, workload, .. } = self;
        let slot = slots.get(slot_index);
        if let Some(verifier) = verifier
            && slot.unit.direction == Direction::Read
        {
            verifier.expect(slot_index, slot, workload.present_write());
        }
    }

    /// A write failed: nothing is known of its place.
    pub(super) fn forget_write(&mut self, slot_index: u32) {
        let slot = self.slots.get(slot_index);
        if let Some(verifier) = &mut self.verifier
            && slot.unit.direction == Direction::Write
        {
            verifier.pending.forget(slot.unit.file_index, slot.data_offset);
            verifier.landed(slot_index);
        }
    }

    /// Checks a read that is done.
    pub(super) fn check_read(&mut self, slot_index: u32, direction: DataDirection) {
        let Some(verifier) = &mut self.verifier else { return };
        if direction != DataDirection::Read {
            verifier.landed(slot_index);
            return;
        }
        let Some(expected) = verifier.expected[slot_index as usize].take().filter(|_| !verifier.is_blind) else {
            return;
        };
        let length_bytes = self.slots.get(slot_index).wanted_bytes as usize;
        let place = slot_index as usize * self.block_bytes;
        let (fault, received) = {
            let mut arena = self.arena.borrow_mut();
            let block = arena.slice_mut(place, length_bytes);
            match verifier.rules.check(block, &expected) {
                Ok(()) => return,
                Err(fault) => (fault, block.to_vec()),
            }
        };
        self.tell_fault(slot_index, &fault, &received, &expected);
    }

    /// Reports a fault; the job ends with it unless such errors are tolerated.
    fn tell_fault(&mut self, slot_index: u32, fault: &Fault, received: &[u8], expected: &Expected) {
        let Some(verifier) = &self.verifier else { return };
        let regenerated = verifier.rules.regenerate(received, expected);
        let file_index = self.slots.get(slot_index).unit.file_index;
        let requested = Requested {
            file: &self.files.plan(file_index).name,
            offset_bytes: expected.offset_bytes,
            length_bytes: received.len() as u64,
        };
        let mut text = fault.text(&requested);
        if verifier.spec.dumps {
            text.push_str(&dump(requested.file, expected.offset_bytes, received, regenerated.as_deref()));
        }
        if let Some(damage) = diagnose(fault, received, regenerated.as_deref()) {
            let _ = write!(text, "\n       {damage}");
        }
        let is_fatal = verifier.spec.is_fatal;
        self.say(Stream::Error, text);
        if !self.tolerates(Direction::Read, EILSEQ) || is_fatal {
            let step = if self.plan.engine.synchronous { "io_u_sync_complete" } else { "io_u_queued_complete" };
            self.fail_soon(job_error!(EILSEQ, step));
        }
    }

    /// Reads back what the pass wrote.
    pub(super) fn verify_pass(&mut self) -> Stop {
        let writes = self.verifier.as_mut().map_or_else(Vec::new, |verifier| verifier.pending.take());
        if writes.is_empty() {
            return Stop::PassEnd;
        }
        if let Err(error) = self.sync_before_reading() {
            return Stop::Failed(Box::new(error));
        }
        self.control.slot().set_state(WorkerState::Verifying);
        self.workload.read_back(writes);
        self.set_reading_back(true);
        // Reads back are no part of a flow: the others go on without it.
        self.leave_flow();
        self.pass_start_ns = self.clock.now_ns();
        let stop = self.run_pass();
        let now_ns = self.clock.now_ns();
        self.end_of_pass(now_ns);
        self.set_reading_back(false);
        self.join_flow();
        self.workload.end_read_back();
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
            self.open_if_closed(file)?;
            self.account.stats.n_syncs_issued += 1;
            self.sync_file(file)?;
            self.files.restarted(file);
        }
        Ok(())
    }
}

/// Keeps a block in two files of the working directory; lines that say so.
fn dump(file: &str, offset_bytes: u64, received: &[u8], expected: Option<&[u8]>) -> String {
    let base = file.rsplit('/').next().unwrap_or(file);
    let mut lines = String::new();
    for (kind, bytes) in [("received", Some(received)), ("expected", expected)] {
        let Some(bytes) = bytes else { continue };
        let name = PathBuf::from(format!("{base}.{offset_bytes}.{kind}"));
        let line = match std::fs::write(&name, bytes) {
            Ok(()) => format!("\n       {kind} data dumped as {}", name.display()),
            Err(error) => format!("\n       {kind} data not dumped as {}: {error}", name.display()),
        };
        lines.push_str(&line);
    }
    lines
}
