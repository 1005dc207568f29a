//! The state of an earlier run (`verify_state_load`): a job that reads what that run wrote stops where the state does.
//!
//! As seen on fio 3.41, a pass that is read back ends at the first write that is not known to be on the device.
//! Must not know: the encoding of the file, headers. Start reading at [`load`], then [`LoadedState::look`].

use super::state::path;
use crate::error::{Failure, failure};
use crate::events::MessageStream;
use crate::link::context::WorkerContext;
use crate::plan::WorkerPlan;
use crate::worker::core::{Stop, WorkerCore};
use ferrio_stats::FailedStep;
use ferrio_stats::note::VerifyNote;
use ferrio_sys::errno::{EINVAL, EIO};
use ferrio_sys::file::open_regular;
use ferrio_units::{DataDirection, Direction};
use ferrio_workload::NextIo;
use ferrio_workload::verify::pending::PendingWrite;
use ferrio_workload::verify::state::{MAX_STATE_BYTES, StateError, VerifyState, WriteFate};
use std::io::{self, Read as _};

/// A loaded state, and the progress of the job in it.
pub(crate) struct LoadedState {
    state: VerifyState,
    /// The end of the reads was reported already.
    has_said: bool,
    /// Number of the job's reads so far.
    n_reads: u64,
    /// Slot of a read that is not checked.
    left_out: Option<u32>,
}

impl LoadedState {
    /// True if the read about to be issued from this slot belongs to a write that failed.
    pub(crate) fn leaves_out(&mut self, slot_index: u32) -> bool {
        self.left_out.take_if(|left_out| *left_out == slot_index).is_some()
    }

    pub(crate) fn told(&self, write: &PendingWrite) -> WriteFate {
        self.state.told(write.number.sequence(), write.file_index, write.offset_bytes)
    }

    /// True if, according to the state, the earlier run ended before its write with this number.
    pub(crate) fn ended_before(&self, number: u64, io: &NextIo) -> bool {
        self.state.told(number, io.file_index, io.offset_bytes) == WriteFate::NotIssued
    }

    /// Called for an I/O of the job itself: a read of a block that was not written ends the pass.
    pub(crate) fn look(&mut self, core: &mut WorkerCore<'_>, slot_index: u32) -> Result<(), Stop> {
        let unit = &core.slots.get(slot_index).unit;
        if unit.direction != Direction::Read {
            return Ok(());
        }
        let number = self.n_reads;
        self.n_reads += 1;
        let told = self.state.told(number, unit.file_index, unit.offset_bytes);
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
            self.say_stop(core.context, number, told);
        }
        core.account.data_is_withdrawn(DataDirection::Read);
        Err(Stop::PassEnd)
    }

    /// Reports the end only once, because reads between writes end there too.
    pub(crate) fn say_stop(&mut self, context: &WorkerContext<'_>, number: u64, told: WriteFate) {
        if std::mem::replace(&mut self.has_said, true) {
            return;
        }
        let n_writes = (told == WriteFate::NotIssued).then_some(self.state.n_writes);
        context.say(MessageStream::Info, VerifyNote::EndOfState { number, n_writes });
    }

    /// Keeps only the writes of a pass that the state covers. `by_place`: the list is ordered by place.
    pub(crate) fn retain(&mut self, context: &WorkerContext<'_>, writes: &mut Vec<PendingWrite>, by_place: bool) {
        let is_end = |write: &PendingWrite| matches!(self.told(write), WriteFate::NotIssued | WriteFate::InFlight);
        let end = writes.iter().position(is_end);
        let first = end.map(|end| (writes[end].number.sequence(), self.told(&writes[end])));
        // In a list ordered by place, writes before the end may come after it.
        if let Some(end) = end.filter(|_| !by_place) {
            writes.truncate(end);
        }
        writes.retain(|write| self.told(write) == WriteFate::Done);
        if let Some((number, told)) = first {
            self.say_stop(context, number, told);
        }
    }
}

/// Fails if the job needs the state of an earlier run, and there is none that it can use.
pub(crate) fn check_state(plan: &WorkerPlan) -> Result<(), Failure> {
    load(plan).map(|_| ())
}

/// The state of an earlier run, if the job is to stop where that run ended.
///
/// # Errors
/// The file does not exist or is no state.
pub(crate) fn load(plan: &WorkerPlan) -> Result<Option<LoadedState>, Failure> {
    let Some(verify) = plan.spec.verify.as_ref().filter(|verify| verify.loads_state) else { return Ok(None) };
    let path = path(plan, verify.dump_directory.as_ref());
    let failed = |error: &io::Error| {
        let errno = error.raw_os_error().unwrap_or(EIO);
        let path = path.display().to_string();
        failure!(errno, FailedStep::Explained("open state file".into()))
            .explained(VerifyNote::StateUnreadable { path, errno })
    };
    let mut bytes = Vec::new();
    let file = open_regular(&path).map_err(|error| failed(&error))?;
    file.take(MAX_STATE_BYTES as u64 + 64).read_to_end(&mut bytes).map_err(|error| failed(&error))?;
    match VerifyState::decode(&bytes, plan.spec.queue.iodepth as usize) {
        Ok(state) => Ok(Some(LoadedState { state, has_said: false, n_reads: 0, left_out: None })),
        Err(StateError(fault)) => {
            let path = path.display().to_string();
            Err(failure!(EINVAL, "read verify state").explained(VerifyNote::StateBroken { path, fault }))
        }
    }
}
