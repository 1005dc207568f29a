//! Which writes are read back when it is not simply those that were done: those that an fsync has made durable
//! (`verify_policy`), those that the stream makes once more (`experimental_verify`), those of an earlier run (`verify_only`).
//!
//! Must not know: headers, trims. Start reading at [`Worker::remember_pass`], [`Worker::mark_pass`], [`DurableWrites`].

use super::slots::Slot;
use super::verify::Verifier;
use super::verify_overlaps::{in_parts, jumps, overlaps, overlaps_in_pass, raced, visits_once};
use super::{Stop, Worker};
use crate::error::{JobError, job_error};
use crate::files::FileSet;
use crate::plan::WorkerPlan;
use ferrio_engine::IoUnit;
use ferrio_job::spec::{DirectionMix, SizeSpec, VerifiedWrites, VerifySpec, ZoneSpec};
use ferrio_units::random::Taus88;
use ferrio_units::{DataDirection, Direction};
use ferrio_workload::verify::block::Expected;
use ferrio_workload::verify::pending::{MAX_PENDING, PendingWrite, PendingWrites, TooMany, WriteNumber};
use ferrio_workload::verify::state::Told;
use ferrio_workload::workload::StreamCopy;
use ferrio_workload::{Next, NextIo};
use std::collections::{BTreeMap, BTreeSet};

const EINVAL: i32 = 22;
const ENOMEM: i32 = 12;

/// Up to where writes are durable.
#[derive(Debug, Default)]
pub(super) struct DurableWrites {
    /// By file: the writes with smaller numbers are.
    before: BTreeMap<u32, u64>,
    /// By slot of a sync in flight: its file, and what it makes durable.
    syncing: BTreeMap<u32, (u32, u64)>,
    /// A sync has landed since somebody looked for all that is durable.
    has_news: bool,
}

impl DurableWrites {
    /// The writes with smaller numbers are durable in all of so many files.
    pub(super) fn before_all(&self, n_files: usize) -> u64 {
        let are_all_synced = self.before.len() >= n_files;
        self.before.values().copied().min().filter(|_| are_all_synced).unwrap_or(0)
    }

    /// Leaves what is to be read back.
    pub(super) fn retain(&self, spec: &VerifySpec, writes: &mut Vec<PendingWrite>) {
        if spec.reads == VerifiedWrites::Fsynced {
            writes.retain(|write| self.has(write));
        }
    }

    fn has(&self, write: &PendingWrite) -> bool {
        self.before.get(&write.file_index).is_some_and(|before| write.number.sequence() < *before)
    }
}

/// What makes the writes of a pass once more.
pub(super) struct Regeneration {
    copy: Option<StreamCopy>,
    seeds: Taus88,
    /// Number of the next write.
    sequence: u64,
    /// Writes that failed.
    failed: BTreeSet<u64>,
}

/// Whether what a job wrote, or would write, can be read back as its options say.
///
/// # Errors
/// Writes may lie over others, and nobody could tell which is there.
pub(super) fn check(plan: &WorkerPlan, set: &FileSet) -> Result<(), JobError> {
    let Some(verify) = &plan.spec.verify else { return Ok(()) };
    check_names(set)?;
    check_number(plan, set, verify)?;
    let is_only = verify.reads == VerifiedWrites::OfEarlierRun;
    let refused = |text: &str| Err(job_error!(EINVAL, "verify").explained(text));
    if is_only && verify.backlog.is_some() && set.io_bytes > set.pass_bytes && overlaps_in_pass(plan) {
        // What that run read back counted for its `io_size`, also what was written over later.
        return refused(
            "fio: verify_only: how many passes a job with verify_backlog has done, whose writes lie over others and \
                    whose io_size is beyond its size, is not known",
        );
    }
    if is_only && verify.trims.is_some() && (verify.backlog.is_some() || has_passes(plan, set)) {
        return refused(
            "fio: verify_only: what a job with trim_percentage has trimmed when is known of one pass without \
                    verify_backlog only",
        );
    }
    if is_only && raced(plan, verify) {
        return refused(
            "fio: verify_only: of writes or trims over parts of others that were in flight together nobody knows \
                    which came last: both runs need serialize_overlap=1 or iodepth=1",
        );
    }
    if is_only && has_passes(plan, set) && (verify.checks_seed || verify.checks_sequence) {
        return refused(
            "fio: verify_only: of several passes only the last is there: verify_header_seed and \
                    verify_write_sequence cannot be checked",
        );
    }
    Ok(())
}

fn has_passes(plan: &WorkerPlan, set: &FileSet) -> bool {
    // Where a sequence or a window runs past the end the pass ends, and another follows for what is left of `io_size`.
    let may_end_early = jumps(plan) || matches!(plan.spec.zones, ZoneSpec::Strided(_));
    let goes_on = matches!(plan.spec.extent.io_size, Some(SizeSpec::Bytes(_)));
    plan.spec.limits.loops > 1 || set.io_bytes > set.pass_bytes || (may_end_early && goes_on)
}

/// Where what the passes of an earlier run wrote is kept until the last: a pass may have written over parts of blocks of those
/// before it.
pub(super) fn passes_apart(plan: &WorkerPlan, set: &FileSet) -> Option<Box<PassesApart>> {
    let keeps = plan.spec.is_verify_only() && has_passes(plan, set) && (in_parts(plan) || !visits_once(plan));
    keeps.then(|| Box::new(PassesApart { left: PendingWrites::new(true), n_bytes: 0 }))
}

/// What the passes of an earlier run left.
pub(super) struct PassesApart {
    /// The newest writes of all passes so far.
    pub(super) left: PendingWrites,
    /// Bytes that the passes of that run read back.
    n_bytes: u64,
}

/// The same for a job that replays a trace: what it writes is remembered, and the newest of each place is read back.
pub(super) fn check_trace(plan: &WorkerPlan, set: &FileSet) -> Result<(), JobError> {
    if plan.spec.verify.is_some() { check_names(set) } else { Ok(()) }
}

/// A file that a job has twice is written twice, and holds what was written last.
fn check_names(set: &FileSet) -> Result<(), JobError> {
    let mut names = BTreeSet::new();
    match set.files.iter().find(|file| !names.insert(&file.path)) {
        Some(file) => {
            let text = format!("fio: verify: the job has file {} twice: it would write over its own blocks", file.name);
            Err(job_error!(EINVAL, "verify").explained(text))
        }
        None => Ok(()),
    }
}

/// There may be more writes in a pass, even of the largest blocks, than can be remembered: better said before them.
fn check_number(plan: &WorkerPlan, set: &FileSet, verify: &VerifySpec) -> Result<(), JobError> {
    let writes_only = matches!(plan.spec.pattern.mix, DirectionMix::Write | DirectionMix::TrimWrite);
    let limits = &plan.spec.limits;
    let ends_early = limits.time_based || limits.runtime_us > 0 || plan.spec.extent.number_ios > 0;
    let remembers = verify.reads_back && (verify.reads != VerifiedWrites::Regenerated || overlaps(plan, set));
    // What waits for a backlog is read back before there are more.
    let is_only = verify.reads == VerifiedWrites::OfEarlierRun;
    let is_bounded = !is_only && verify.backlog.is_some_and(|backlog| backlog.blocks <= MAX_PENDING as u64 / 2);
    if !writes_only || ends_early || !remembers || is_bounded {
        return Ok(());
    }
    // Of writes over each other only the newest is remembered.
    let pass_bytes = set.pass_bytes.min(set.io_bytes);
    let n_writes = pass_bytes / plan.spec.pattern.block_size[DataDirection::Write].max_bytes.max(1);
    if n_writes <= MAX_PENDING as u64 {
        return Ok(());
    }
    let text = format!(
        "fio: verify: a pass has {n_writes} writes to be remembered, at most {MAX_PENDING} can be ({} bytes of memory); \
         {}",
        MAX_PENDING * size_of::<PendingWrite>(),
        advice(verify, overlaps(plan, set))
    );
    Err(job_error!(ENOMEM, "verify").explained(text))
}

/// What helps against too many writes. `overlap`: one may lie over another.
fn advice(verify: &VerifySpec, overlap: bool) -> String {
    let mut ways = vec!["larger blocks", "fewer writes (size, io_size, number_ios, loops)"];
    if verify.reads == VerifiedWrites::Done && verify.trims.is_none() {
        ways.push("a small verify_backlog, which reads back between writes");
        if !overlap && verify.backlog.is_none() {
            ways.push("experimental_verify=1, which remembers none");
        }
    }
    format!("run with {}", ways.join(", or "))
}

impl Verifier {
    /// A write of a pass may lie over another of it.
    fn may_overlap(&self) -> bool {
        self.pending.is_by_place() && !self.in_place
    }

    /// The job ends: it made more writes than can be remembered.
    pub(super) fn too_many(&self) -> JobError {
        let text = format!(
            "fio: verify: too many writes to be remembered, at most {MAX_PENDING} can be; {}",
            advice(&self.spec, self.may_overlap())
        );
        job_error!(ENOMEM, "verify").explained(text)
    }

    /// A sync is about to be issued from a slot: what has landed before it will be durable.
    pub(super) fn sync_issued(&mut self, slot_index: u32, slot: &Slot) {
        self.note_sync(slot_index, slot.unit.direction, slot.unit.file_index);
        if self.spec.reads != VerifiedWrites::Fsynced || slot.unit.direction == Direction::SyncFileRange {
            return;
        }
        let file_index = slot.unit.file_index;
        let in_flight = self.in_flight.iter().flatten().filter(|write| write.file_index == file_index);
        let first_in_flight = in_flight.map(|write| write.number.sequence()).min();
        self.durable.syncing.insert(slot_index, (file_index, first_in_flight.unwrap_or(self.n_writes)));
    }

    /// A sync has landed.
    pub(super) fn sync_landed(&mut self, slot_index: u32, has_failed: bool) {
        let DurableWrites { before, syncing, has_news } = &mut self.durable;
        if let Some((file_index, end)) = syncing.remove(&slot_index).filter(|_| !has_failed) {
            let before = before.entry(file_index).or_default();
            *before = end.max(*before);
            *has_news = true;
        }
    }

    /// The first `n` that are to be read back, or fewer: with `verify_policy=fsynced` of those that are durable.
    pub(super) fn take_some(&mut self, n: usize) -> Vec<PendingWrite> {
        if self.spec.reads != VerifiedWrites::Fsynced {
            return self.pending.take_some(n);
        }
        // Without it nothing is there that was not there when fewer than wanted were found.
        if !self.durable.has_news {
            return Vec::new();
        }
        let Self { pending, durable, .. } = self;
        let taken = pending.take_some_of(n, |write| durable.has(write));
        durable.has_news = taken.len() == n;
        taken
    }

    /// What the next read of a pass that is made once more must give.
    pub(super) fn regenerate_expected(&mut self, read: &IoUnit) -> Option<Expected> {
        let regeneration = self.regeneration.as_mut()?;
        let (seed, sequence) = (regeneration.seeds.buffer_seed(), regeneration.sequence);
        regeneration.sequence += 1;
        self.known.prepare_regenerated(seed, read.length, &regeneration.seeds);
        let expected = Expected {
            offset_bytes: read.offset,
            seed: self.spec.checks_seed.then_some(seed),
            sequence: self.spec.checks_sequence.then_some(sequence),
            is_trimmed: false,
        };
        (!regeneration.failed.contains(&sequence)).then_some(expected)
    }

    /// A write failed: it will not be checked.
    pub(super) fn forget_regenerated(&mut self, slot_index: u32) {
        let write = self.in_flight.get(slot_index as usize).copied().flatten();
        if let (Some(write), Some(regeneration)) = (write, &mut self.regeneration) {
            regeneration.failed.insert(write.number.sequence());
        }
    }

    fn remember_unwritten(&mut self, io: &NextIo) -> Result<(), JobError> {
        let write = PendingWrite {
            file_index: io.file_index,
            // Blocks are below 4 GiB.
            length_bytes: u32::try_from(io.length_bytes).unwrap_or(u32::MAX),
            offset_bytes: io.offset_bytes,
            seed: self.seeds.buffer_seed(),
            number: WriteNumber::new(self.n_writes),
        };
        self.n_writes += 1;
        self.forget_above(write.file_index, write.offset_bytes);
        // What is there when it was in flight, or failed, is not known.
        if self.told(&write).is_some_and(|told| told != Told::Done) && self.may_overlap() {
            self.forget_range(write.file_index, write.offset_bytes, write.length_bytes.into());
            return Ok(());
        }
        self.remember(write)?;
        if let Some(apart) = &mut self.apart {
            let pushed = apart.left.push(write);
            pushed.map_err(|TooMany| self.too_many())?;
        }
        if let Some(trims) = &mut self.trims {
            trims.wrote(write);
        }
        Ok(())
    }

    /// What the state of the earlier run says of a write; `None`: there is none.
    fn told(&self, write: &PendingWrite) -> Option<Told> {
        let state = &self.loaded.as_ref()?.state;
        Some(state.told(write.number.sequence(), write.file_index, write.offset_bytes))
    }

    /// The earlier run ended before its next write: so its state says.
    fn ended_before(&self, io: &NextIo) -> bool {
        let Some(loaded) = &self.loaded else { return false };
        loaded.state.told(self.n_writes, io.file_index, io.offset_bytes) == Told::NotIssued
    }

    /// A trim that the earlier run did.
    fn remember_trim(&mut self, io: &NextIo) {
        // A trim that the device of zones refused ended that run.
        let _ =
            self.zones.tables().get(io.file_index as usize).map(|table| table.trim(io.offset_bytes, io.length_bytes));
        self.forget_range(io.file_index, io.offset_bytes, io.length_bytes);
    }

    /// Of a range nothing is known any more.
    pub(super) fn forget_range(&mut self, file_index: u32, offset_bytes: u64, length_bytes: u64) {
        self.pending.forget_range(file_index, offset_bytes, length_bytes);
        if let Some(apart) = &mut self.apart {
            apart.left.forget_range(file_index, offset_bytes, length_bytes);
        }
    }

    /// A pass of the earlier run is over, which read back these: now they are not, where the passes after it may have written
    /// over parts of them. Gives back what is to be read now.
    pub(super) fn keep_pass(&mut self, writes: Vec<PendingWrite>) -> Vec<PendingWrite> {
        let Some(apart) = &mut self.apart else { return writes };
        apart.n_bytes += writes.iter().map(|write| u64::from(write.length_bytes)).sum::<u64>();
        Vec::new()
    }

    /// Bytes that the passes of the earlier run read back, where they are not read back now.
    pub(super) fn unread_bytes(&self) -> u64 {
        self.apart.as_ref().map_or(0, |apart| apart.n_bytes)
    }

    /// What the earlier run trimmed again by now.
    fn remember_trims_between(&mut self) {
        let Self { trims: Some(trims), pending, apart, .. } = self else { return };
        while let Some(write) = trims.next(pending) {
            pending.trim(&write, trims.checks_zeroes());
            if let Some(apart) = apart {
                apart.left.trim(&write, trims.checks_zeroes());
            }
        }
    }
}

impl Regeneration {
    /// Writes of the pass that were not made once more; `n_writes`: all of the job.
    pub(super) fn n_waiting(&self, n_writes: u64) -> u64 {
        n_writes.saturating_sub(self.sequence)
    }
}

impl Worker<'_> {
    /// The pass of an earlier run: its writes are remembered as if they were done now.
    pub(super) fn remember_pass(&mut self) -> Stop {
        loop {
            if self.control.is_terminated() {
                return Stop::Ended;
            }
            match (self.workload.next(), &mut self.verifier) {
                (Next::Io(io), Some(verifier)) if io.direction == Direction::Write => {
                    if verifier.ended_before(&io) {
                        let number = verifier.n_writes;
                        self.say_stop(number, Told::NotIssued);
                        return Stop::PassEnd;
                    }
                    if let Err(error) = verifier.remember_unwritten(&io) {
                        return Stop::Failed(Box::new(error));
                    }
                }
                (Next::Io(io), Some(verifier)) if io.direction == Direction::Trim => verifier.remember_trim(&io),
                // Its reads and syncs are not repeated; files are opened to be read back.
                (Next::Io(_) | Next::Close(_) | Next::Restart(_) | Next::Open(_), _) => {}
                (Next::PassEnd, _) => return Stop::PassEnd,
                // Times of a trace do not count.
                (Next::Wait, verifier) => {
                    if let Some(verifier) = verifier {
                        verifier.remember_trims_between();
                    }
                    let _ = self.workload.turn(u64::MAX);
                }
                (Next::Failed, _) => return self.stream_failed(),
            }
        }
    }

    /// After the last pass: what all of them left is read back.
    pub(super) fn verify_passes(&mut self) -> Stop {
        let apart = self.verifier.as_mut().and_then(|verifier| verifier.apart.take());
        let Some(mut apart) = apart else { return Stop::PassEnd };
        let writes = self.up_to_state(apart.left.take());
        self.verify_writes(writes, None)
    }

    /// A pass begins: what is to make its writes once more stands where the pass stands.
    pub(super) fn mark_pass(&mut self) {
        let Self { verifier, workload, .. } = self;
        if let Some(verifier) = verifier.as_mut().filter(|verifier| verifier.spec.reads == VerifiedWrites::Regenerated)
        {
            verifier.regeneration = Some(Box::new(Regeneration {
                copy: workload.copy(),
                seeds: verifier.seeds.clone(),
                sequence: verifier.n_writes,
                failed: BTreeSet::new(),
            }));
        }
    }

    /// What makes the writes of the pass once more, and how many of them are left; `None`: nothing is to be.
    pub(super) fn take_copy(&mut self) -> Option<(StreamCopy, u64)> {
        let verifier = self.verifier.as_mut()?;
        let n_writes = verifier.n_writes;
        let regeneration = verifier.regeneration.as_mut()?;
        let n_left = regeneration.n_waiting(n_writes);
        regeneration.copy.take().filter(|_| n_left > 0).map(|copy| (copy, n_left))
    }

    /// The stream of the job goes on; what makes its writes once more stands where reading back has come to.
    pub(super) fn keep_copy(&mut self) {
        let copy = self.workload.end_read_back();
        if let Some(regeneration) = self.verifier.as_mut().and_then(|verifier| verifier.regeneration.as_mut()) {
            regeneration.copy = copy;
        }
    }

    /// A sync is done.
    #[inline(never)]
    pub(super) fn sync_done(&mut self, slot_index: u32, done: u64) {
        self.account.sync_done(&self.clock, self.slots.get(slot_index).stamps, done);
        if let Some(verifier) = &mut self.verifier {
            verifier.sync_landed(slot_index, false);
            self.tell_journal(slot_index, Direction::Sync, false);
        }
    }
}
