//! The state file of a verified job: written at its end and at a trigger, read before a job that stops where it says.
//!
//! At a trigger it tells what was in flight then: what the command of the trigger does may be the end of the machine.
//! Must not know: the bytes of the file, headers. Start reading at [`StateKeeper`] and [`load`].
//! Facts: reference "Verify state file"; as seen on fio 3.33, a job without writes leaves the file alone, one that fails
//! writes it, and of a pass that is read back the first write that is not known to be there is its end.

use super::verify::Verifier;
use super::{Stop, Worker};
use crate::error::{JobError, job_error};
use crate::events::Stream;
use crate::plan::WorkerPlan;
use crate::supervisor::board::attention;
use ferrio_job::spec::{HeaderLayout, VerifiedWrites};
use ferrio_units::{Direction, errno_text};
use ferrio_workload::verify::pending::PendingWrite;
use ferrio_workload::verify::state::{LastWrites, MAX_STATE_BYTES, Told, VerifyState, empty_slots, short_name};
use std::collections::{BTreeMap, VecDeque};
use std::fs::OpenOptions;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;

const EIO: i32 = 5;
const EINVAL: i32 = 22;

/// Failed writes that a state lists; what was issued after the first beyond them is not told.
const MAX_FAILED: usize = 4096;

/// A write in flight.
#[derive(Debug, Clone, Copy)]
struct Flying {
    number: u64,
    file_index: u32,
    offset_bytes: u64,
}

/// Which of the last writes of a job are there.
pub(super) struct StateKeeper {
    in_flight: Vec<Option<Flying>>,
    failed: Vec<u64>,
    /// The first failed write that is not listed.
    unlisted: u64,
    /// By file: offsets of the writes that were completed last, the newest first; `None`: the form does not tell of them.
    completed: Option<BTreeMap<u32, VecDeque<u64>>>,
    depth: usize,
}

impl StateKeeper {
    /// For a job that writes.
    pub(super) fn new(plan: &WorkerPlan, layout: HeaderLayout) -> Option<Self> {
        plan.writes().then(|| Self {
            in_flight: vec![None; plan.queue().iodepth as usize],
            failed: Vec::new(),
            unlisted: u64::MAX,
            completed: (layout == HeaderLayout::V2).then(BTreeMap::new),
            depth: plan.spec.queue.iodepth as usize,
        })
    }

    pub(super) fn issued(&mut self, slot_index: u32, number: u64, file_index: u32, offset_bytes: u64) {
        self.in_flight[slot_index as usize] = Some(Flying { number, file_index, offset_bytes });
    }

    pub(super) fn landed(&mut self, slot_index: u32) {
        let (Some(write), depth) = (self.in_flight[slot_index as usize].take(), self.depth) else { return };
        if let Some(completed) = &mut self.completed {
            let offsets = completed.entry(write.file_index).or_default();
            offsets.truncate(depth.saturating_sub(1));
            offsets.push_front(write.offset_bytes);
        }
    }

    pub(super) fn failed(&mut self, slot_index: u32) {
        let Some(write) = self.in_flight[slot_index as usize].take() else { return };
        if self.failed.len() < MAX_FAILED {
            self.failed.push(write.number);
        } else {
            self.unlisted = self.unlisted.min(write.number);
        }
    }

    /// `None`: there is more to tell than a file holds.
    fn last(&self, n_files: usize) -> Option<LastWrites> {
        let n_rows = self.depth.checked_mul(if self.completed.is_some() { n_files.saturating_mul(2) } else { 1 })?;
        if n_rows.saturating_add(self.failed.len()).saturating_mul(8) > MAX_STATE_BYTES / 2 {
            return None;
        }
        let Some(completed) = &self.completed else {
            let mut in_flight = empty_slots(self.depth);
            let numbers = self.in_flight.iter().flatten().map(|write| write.number);
            in_flight.iter_mut().zip(numbers).for_each(|(slot, number)| *slot = number);
            return Some(LastWrites::AllBut { in_flight, failed: self.failed.clone() });
        };
        let of_file = |(file, offsets): (&u32, &VecDeque<u64>)| {
            let file = u64::from(*file);
            offsets.iter().map(|offset| (file, *offset)).collect::<Vec<_>>()
        };
        let places = completed.iter().flat_map(of_file).collect();
        Some(LastWrites::Only { depth: self.depth as u32, n_files: n_files as u32, places })
    }
}

/// A state that was read, and how far the job has come in it.
pub(super) struct LoadedState {
    pub(super) state: VerifyState,
    /// It was said where the reads end.
    has_said: bool,
    /// Reads of the job so far.
    n_reads: u64,
    /// The slot of a read that is not checked.
    left_out: Option<u32>,
}

impl LoadedState {
    /// The read that is about to be issued from this slot is of a write that failed.
    pub(super) fn leaves_out(&mut self, slot_index: u32) -> bool {
        self.left_out.take_if(|left_out| *left_out == slot_index).is_some()
    }
}

fn path(plan: &WorkerPlan, directory: Option<&String>) -> PathBuf {
    let name = short_name(&plan.spec.name).replace('/', ".");
    let name = format!("local-{name}-{}-verify.state", plan.thread_number.saturating_sub(1));
    directory.map_or_else(|| PathBuf::from(&name), |directory| PathBuf::from(directory).join(&name))
}

/// The state of an earlier run, if the job is to stop where it says.
///
/// # Errors
/// There is none, or what is there is none.
pub(super) fn load(plan: &WorkerPlan) -> Result<Option<LoadedState>, JobError> {
    let Some(verify) = plan.spec.verify.as_ref().filter(|verify| verify.loads_state) else { return Ok(None) };
    let path = path(plan, verify.dump_directory.as_ref());
    let failed = |error: &io::Error| {
        let errno = error.raw_os_error().unwrap_or(EIO);
        let text = errno_text(errno);
        let text = format!("fio: open state file: {text}\nfio: state file: {} (for_write=0)", path.display());
        job_error!(errno, "open state file").explained(text)
    };
    let mut bytes = Vec::new();
    let file = OpenOptions::new().read(true).open(&path).map_err(|error| failed(&error))?;
    file.take(MAX_STATE_BYTES as u64 + 64).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    match VerifyState::decode(&bytes, plan.spec.queue.iodepth as usize) {
        Ok(state) => Ok(Some(LoadedState { state, has_said: false, n_reads: 0, left_out: None })),
        Err(error) => {
            let text = format!("{error}\nfio: state file: {} (for_write=0)", path.display());
            Err(job_error!(EINVAL, "read verify state").explained(text))
        }
    }
}

impl Verifier {
    /// Writes before this one are told of.
    fn told_before(&self, n_files: usize) -> u64 {
        match self.spec.reads {
            VerifiedWrites::Fsynced => self.durable.before_all(n_files),
            _ => self.n_writes,
        }
    }
}

impl Worker<'_> {
    /// The job is at its end, or a trigger wants it there.
    pub(super) fn save_state_at_end(&mut self) {
        let is_wanted = self.plan.spec.verify.as_ref().is_some_and(|verify| verify.saves_state);
        self.save_state_if(is_wanted || self.control.slot().wants_state());
    }

    /// Writes the file, and tells who asked for it. What cannot be written is said, and ends nothing.
    pub(super) fn save_state_if(&mut self, is_wanted: bool) {
        if !is_wanted {
            return;
        }
        if let Some(Err(text)) = self.verifier.as_ref().and_then(|verifier| self.try_to_save(verifier)) {
            self.say(Stream::Error, text);
        }
        self.control.slot().has_answered(attention::SAVE_STATE);
    }

    fn try_to_save(&self, verifier: &Verifier) -> Option<Result<(), String>> {
        let keeper = verifier.state.as_ref().filter(|_| !self.context.readonly)?;
        let path = path(self.plan, verifier.spec.dump_directory.as_ref());
        let failed = |why: &dyn std::fmt::Display| format!("fio: write state file {}: {why}", path.display());
        let n_files = self.files.n_files() as usize;
        let Some(last) = keeper.last(n_files) else {
            return Some(Err(failed(&"it would be larger than any that is read")));
        };
        let state = VerifyState {
            n_writes: verifier.told_before(n_files).min(keeper.unlisted),
            job_index: u64::from(self.plan.thread_number).saturating_sub(1),
            offsets: self.workload.offset_state(),
            job_name: self.plan.spec.name.clone(),
            last,
        };
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(&path);
        let written = file.and_then(|mut file| {
            file.write_all(&state.encode())?;
            file.sync_data()
        });
        Some(written.map_err(|error| failed(&error)))
    }

    /// A read of a job that reads what an earlier run wrote: the pass ends where the state of that run does.
    pub(super) fn stop_where_state_ends(&mut self, slot_index: u32) -> Result<(), Stop> {
        let Some(verifier) = self.verifier.as_mut().filter(|verifier| verifier.checks_own_reads()) else {
            return Ok(());
        };
        let Some(loaded) = &mut verifier.loaded else { return Ok(()) };
        let unit = &self.slots.get(slot_index).unit;
        if unit.direction != Direction::Read {
            return Ok(());
        }
        let number = loaded.n_reads;
        loaded.n_reads += 1;
        let told = loaded.state.told(number, unit.file_index, unit.offset);
        match told {
            Told::Done => return Ok(()),
            Told::Failed => {
                loaded.left_out = Some(slot_index);
                return Ok(());
            }
            Told::NotIssued | Told::InFlight => {}
        }
        // The next pass, if there is one, ends at once.
        loaded.n_reads = u64::MAX - 1;
        if number < u64::MAX - 1 {
            self.say_stop(number, told);
        }
        self.account.stats.directions[ferrio_units::DataDirection::Read].n_issued -= 1;
        Err(Stop::PassEnd)
    }

    /// Once: what is read back between writes ends there too.
    pub(super) fn say_stop(&mut self, number: u64, told: Told) {
        let Some(loaded) = self.verifier.as_mut().and_then(|verifier| verifier.loaded.as_mut()) else { return };
        if std::mem::replace(&mut loaded.has_said, true) {
            return;
        }
        let text = match told {
            Told::NotIssued => format!("Stop verify because seq {number} >= {}", loaded.state.n_writes),
            _ => format!("Stop verify because seq {number} was an inflight write"),
        };
        self.say(Stream::Info, text);
    }

    /// Of the writes of a pass those that the state of an earlier run tells of.
    pub(super) fn up_to_state(&mut self, mut writes: Vec<PendingWrite>) -> Vec<PendingWrite> {
        let Some(verifier) = &self.verifier else { return writes };
        let Some(loaded) = &verifier.loaded else { return writes };
        let told =
            |write: &PendingWrite| loaded.state.told(write.number.sequence(), write.file_index, write.offset_bytes);
        let is_end = |write: &PendingWrite| matches!(told(write), Told::NotIssued | Told::InFlight);
        let end = writes.iter().position(is_end);
        let first = end.map(|end| (writes[end].number.sequence(), told(&writes[end])));
        // By their places the writes before the end may come after it.
        if let Some(end) = end.filter(|_| !verifier.pending.is_by_place()) {
            writes.truncate(end);
        }
        writes.retain(|write| told(write) == Told::Done);
        if let Some((number, told)) = first {
            self.say_stop(number, told);
        }
        writes
    }
}
