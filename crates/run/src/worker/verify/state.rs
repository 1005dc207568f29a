//! The state file of a verified job. It is written at the end of the job and at a trigger; `loaded` reads it before a
//! job that stops where the state does.
//!
//! At a trigger it lists the writes in flight, because the trigger's command may switch off the machine.
//! Must not know: the encoding of the file, headers. Start reading at [`StateKeeper::save`].
//! Facts: reference "Verify state file". As seen on fio 3.41, a job without writes leaves the file alone, a job that
//! fails writes it, and a pass that is read back ends at the first write that is not known to be on the device.

use crate::plan::WorkerPlan;
use crate::worker::core::WorkerCore;
use ferrio_spec::{HeaderLayout, VerifySpec};
use ferrio_stats::note::{SystemError, VerifyNote};
use ferrio_sys::output::{self, OutputStart};
use ferrio_workload::OffsetState;
use ferrio_workload::verify::state::{LastWrites, MAX_STATE_BYTES, VerifyState, empty_slots, short_name};
use std::collections::{BTreeMap, VecDeque};
use std::io::Write as _;
use std::path::PathBuf;

/// Most failed writes that a state lists; the state ends before the first one beyond them.
const MAX_FAILED: usize = 4096;

/// A write in flight.
#[derive(Debug, Clone, Copy)]
struct Flying {
    number: u64,
    file_index: u32,
    offset_bytes: u64,
}

/// Keeps track of the last writes of a job.
pub(crate) struct StateKeeper {
    in_flight: Vec<Option<Flying>>,
    failed: Vec<u64>,
    /// Number of the first failed write that is not listed.
    unlisted: u64,
    /// By file: offsets of the writes that were completed last, newest first; `None`: the form does not list them.
    completed: Option<BTreeMap<u32, VecDeque<u64>>>,
    depth: usize,
    file: StateFile,
}

/// What the file says beside the writes, and its place.
struct StateFile {
    path: PathBuf,
    job_name: String,
    job_index: u64,
    /// The file has the state of the generator of offsets. The form of fio 3.33 has none for a sequential job, which does not use it.
    tells_offsets: bool,
}

impl StateKeeper {
    /// For a job that writes.
    pub(crate) fn new(plan: &WorkerPlan, spec: &VerifySpec) -> Option<Self> {
        let layout = spec.content.layout;
        plan.writes().then(|| Self {
            in_flight: vec![None; plan.queue().iodepth as usize],
            failed: Vec::new(),
            unlisted: u64::MAX,
            completed: (layout == HeaderLayout::V2).then(BTreeMap::new),
            depth: plan.spec.queue.iodepth as usize,
            file: StateFile {
                path: path(plan, spec.dump_directory.as_ref()),
                job_name: plan.spec.name.clone(),
                job_index: u64::from(plan.thread_number).saturating_sub(1),
                tells_offsets: layout == HeaderLayout::V3 || plan.spec.pattern.random,
            },
        })
    }

    pub(crate) fn issued(&mut self, slot_index: u32, number: u64, file_index: u32, offset_bytes: u64) {
        self.in_flight[slot_index as usize] = Some(Flying { number, file_index, offset_bytes });
    }

    pub(crate) fn landed(&mut self, slot_index: u32) {
        let (Some(write), depth) = (self.in_flight[slot_index as usize].take(), self.depth) else { return };
        if let Some(completed) = &mut self.completed {
            let offsets = completed.entry(write.file_index).or_default();
            offsets.truncate(depth.saturating_sub(1));
            offsets.push_front(write.offset_bytes);
        }
    }

    pub(crate) fn failed(&mut self, slot_index: u32) {
        let Some(write) = self.in_flight[slot_index as usize].take() else { return };
        if self.failed.len() < MAX_FAILED {
            self.failed.push(write.number);
        } else {
            self.unlisted = self.unlisted.min(write.number);
        }
    }

    /// `None`: there are more writes than a file can list.
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

    /// Writes the file. `n_writes`: it covers writes with smaller numbers.
    pub(crate) fn save(&self, core: &WorkerCore<'_>, n_writes: u64) -> Result<(), VerifyNote> {
        let StateFile { path, job_name, job_index, tells_offsets } = &self.file;
        let failed =
            |error: Option<SystemError>| VerifyNote::StateNotWritten { path: path.display().to_string(), error };
        let n_files = core.files.n_files() as usize;
        let Some(last) = self.last(n_files) else {
            return Err(failed(None));
        };
        let state = VerifyState {
            n_writes: n_writes.min(self.unlisted),
            job_index: *job_index,
            offsets: if *tells_offsets { core.workload.offset_state() } else { OffsetState::None },
            job_name: job_name.clone(),
            last,
        };
        let file = output::open(path, OutputStart::Empty, core.context.kept);
        let written = file.and_then(|mut file| {
            file.write_all(&state.encode())?;
            file.sync_data()
        });
        written.map_err(|error| failed(Some((&error).into())))
    }
}

pub(crate) fn path(plan: &WorkerPlan, directory: Option<&String>) -> PathBuf {
    let name = short_name(&plan.spec.name).replace('/', ".");
    let name = format!("local-{name}-{}-verify.state", plan.thread_number.saturating_sub(1));
    directory.map_or_else(|| PathBuf::from(&name), |directory| PathBuf::from(directory).join(&name))
}
