//! The state of an earlier run (`verify_state_load`): a job that reads what that run wrote stops where its state does.
//!
//! As seen on fio 3.41, of a pass that is read back the first write that is not known to be there is its end.
//! Must not know: the bytes of the file, headers. Start reading at [`load`], then [`LoadedState::look`].

use super::state::path;
use crate::error::{Failure, failure};
use crate::events::MessageStream;
use crate::link::context::WorkerContext;
use crate::plan::WorkerPlan;
use crate::work::lane::{Lane, Stop};
use ferrio_stats::note::VerifyNote;
use ferrio_sys::errno::{EINVAL, EIO};
use ferrio_units::{DataDirection, Direction};
use ferrio_workload::NextIo;
use ferrio_workload::verify::pending::PendingWrite;
use ferrio_workload::verify::state::{MAX_STATE_BYTES, StateError, VerifyState, WriteFate};
use std::fs::OpenOptions;
use std::io::{self, Read as _};

/// A state that was read, and how far the job has come in it.
pub(crate) struct LoadedState {
    state: VerifyState,
    /// It was said where the reads end.
    has_said: bool,
    /// Reads of the job so far.
    n_reads: u64,
    /// The slot of a read that is not checked.
    left_out: Option<u32>,
}

impl LoadedState {
    /// The read that is about to be issued from this slot is of a write that failed.
    pub(crate) fn leaves_out(&mut self, slot_index: u32) -> bool {
        self.left_out.take_if(|left_out| *left_out == slot_index).is_some()
    }

    /// What the state says of a write.
    pub(crate) fn told(&self, write: &PendingWrite) -> WriteFate {
        self.state.told(write.number.sequence(), write.file_index, write.offset_bytes)
    }

    /// The earlier run ended before its write of this number: so its state says.
    pub(crate) fn ended_before(&self, number: u64, io: &NextIo) -> bool {
        self.state.told(number, io.file_index, io.offset_bytes) == WriteFate::NotIssued
    }

    /// An I/O of the job itself: a read of what was not written ends the pass.
    ///
    /// # Errors
    /// The pass ends.
    pub(crate) fn look(&mut self, lane: &mut Lane<'_>, slot_index: u32) -> Result<(), Stop> {
        let unit = &lane.slots.get(slot_index).unit;
        if unit.direction != Direction::Read {
            return Ok(());
        }
        let number = self.n_reads;
        self.n_reads += 1;
        let told = self.state.told(number, unit.file_index, unit.offset);
        match told {
            WriteFate::Done => return Ok(()),
            WriteFate::Failed => {
                self.left_out = Some(slot_index);
                return Ok(());
            }
            WriteFate::NotIssued | WriteFate::InFlight => {}
        }
        // The next pass, if there is one, ends at once.
        self.n_reads = u64::MAX - 1;
        if number < u64::MAX - 1 {
            self.say_stop(lane.context, number, told);
        }
        lane.account.stats.directions[DataDirection::Read].n_issued -= 1;
        Err(Stop::PassEnd)
    }

    /// Once: what is read back between writes ends there too.
    pub(crate) fn say_stop(&mut self, context: &WorkerContext<'_>, number: u64, told: WriteFate) {
        if std::mem::replace(&mut self.has_said, true) {
            return;
        }
        let n_writes = (told == WriteFate::NotIssued).then_some(self.state.n_writes);
        context.say(MessageStream::Info, VerifyNote::EndOfState { number, n_writes });
    }

    /// Of the writes of a pass those that the state tells of. `by_place`: they stand in the order of their places.
    pub(crate) fn retain(&mut self, context: &WorkerContext<'_>, writes: &mut Vec<PendingWrite>, by_place: bool) {
        let is_end = |write: &PendingWrite| matches!(self.told(write), WriteFate::NotIssued | WriteFate::InFlight);
        let end = writes.iter().position(is_end);
        let first = end.map(|end| (writes[end].number.sequence(), self.told(&writes[end])));
        // By their places the writes before the end may come after it.
        if let Some(end) = end.filter(|_| !by_place) {
            writes.truncate(end);
        }
        writes.retain(|write| self.told(write) == WriteFate::Done);
        if let Some((number, told)) = first {
            self.say_stop(context, number, told);
        }
    }
}

/// The state of an earlier run, if the job is to stop where it says.
///
/// # Errors
/// There is none, or what is there is none.
pub(crate) fn load(plan: &WorkerPlan) -> Result<Option<LoadedState>, Failure> {
    let Some(verify) = plan.spec.verify.as_ref().filter(|verify| verify.loads_state) else { return Ok(None) };
    let path = path(plan, verify.dump_directory.as_ref());
    let failed = |error: &io::Error| {
        let errno = error.raw_os_error().unwrap_or(EIO);
        let path = path.display().to_string();
        failure!(errno, "open state file").explained(VerifyNote::StateUnreadable { path, errno })
    };
    let mut bytes = Vec::new();
    let file = OpenOptions::new().read(true).open(&path).map_err(|error| failed(&error))?;
    file.take(MAX_STATE_BYTES as u64 + 64).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    match VerifyState::decode(&bytes, plan.spec.queue.iodepth as usize) {
        Ok(state) => Ok(Some(LoadedState { state, has_said: false, n_reads: 0, left_out: None })),
        Err(StateError(fault)) => {
            let path = path.display().to_string();
            Err(failure!(EINVAL, "read verify state").explained(VerifyNote::StateBroken { path, fault }))
        }
    }
}
