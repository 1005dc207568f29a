//! An I/O that failed: the error is tolerated, expected, or ends the job.
//!
//! Must not know: batches. Start reading at [`fail`].

use super::Worker;
use crate::error::failure;
use crate::events::MessageStream;
use crate::worker::core::Stop;
use ferrio_engine::{Complaint, FailureDetails, TagMismatch};
use ferrio_stats::FailedStep;
use ferrio_stats::note::{DeviceStatus, IoNote};
use ferrio_sys::errno::{EDQUOT, EINVAL, EIO, ENOSPC, EREMOTEIO};
use ferrio_sys::file::FileKind;
use ferrio_units::Direction;

/// The reason why a unit failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IoFault {
    Errno(i32),
    /// The device's, which ends the job as an errno does.
    Nvme(u16),
}

/// Handles a failed unit: the error is tolerated, expected (`fill_device`), or ends the job.
pub(crate) fn fail(worker: &mut Worker<'_>, slot_index: u32, fault: IoFault) -> Result<(), Stop> {
    let (errno, device) = match fault {
        IoFault::Errno(errno) => {
            let status = details(worker).and_then(|failures| failures.take_scsi_status(slot_index));
            (errno, status.map(DeviceStatus::Scsi))
        }
        IoFault::Nvme(status) => (i32::from(status), Some(DeviceStatus::Nvme(status))),
    };
    worker.hooks.failed(&mut worker.core, slot_index, errno);
    // As in fio, the step tells whether submission or I/O failed.
    let is_refused = details(worker).is_some_and(|failures| failures.take_refusal(slot_index));
    let step = if is_refused { "io commit".into() } else { FailedStep::IoUnit };
    let unit = worker.core.slots.get(slot_index).unit;
    let complaint = worker.core.take_complaint();
    let tolerated = worker.core.tolerates(unit.direction, errno);
    if tolerated && !worker.core.rules.errors.tells_tolerated {
        return Ok(());
    }
    if let Some(Complaint { step, line, why }) = complaint {
        worker.core.context.say(MessageStream::Error, IoNote::Refused { line, why, unsynced: None });
        return if tolerated { Ok(()) } else { Err(Stop::Failed(Box::new(failure!(errno, step)))) };
    }
    let failed = IoNote::Failed {
        file: worker.core.files.plan(unit.file_index).name.clone(),
        errno,
        action: unit.direction.name().into(),
        offset: unit.offset_bytes,
        length: unit.length_bytes as u64,
        device,
        hint: match fault {
            IoFault::Errno(errno) => worker.core.engine.hint(&unit, errno),
            IoFault::Nvme(status) => details(worker).and_then(|failures| failures.status_hint(status)),
        }
        .map(Into::into),
    };
    if let Some(mismatch) = details(worker).and_then(|failures| failures.take_mismatch(slot_index)) {
        let file = worker.core.files.plan(unit.file_index).name.clone();
        worker.core.context.say(MessageStream::Error, mismatched(file, mismatch));
    }
    if let Some(advice) = advice_on_first(worker, unit.file_index, errno) {
        worker.core.context.say(MessageStream::Info, advice);
    }
    worker.core.context.say(MessageStream::Error, failed);
    if tolerated {
        return Ok(());
    }
    let is_full = matches!(errno, ENOSPC | EDQUOT) && unit.direction == Direction::Write;
    if worker.core.rules.errors.ends_when_full && is_full {
        return Err(Stop::Filled);
    }
    Err(Stop::Failed(Box::new(failure!(errno, step))))
}

fn details<'w>(worker: &'w mut Worker<'_>) -> Option<&'w mut dyn FailureDetails> {
    worker.core.engine.failures()
}

/// The line about protection information that does not fit.
fn mismatched(file: String, mismatch: TagMismatch) -> IoNote {
    let TagMismatch { field, block, expected, actual } = mismatch;
    IoNote::Protection { file, field, block, expected, actual }
}

/// A hint about options when the very first I/O fails; as in fio, only for engines whose I/Os are done within `queue`.
fn advice_on_first(worker: &Worker<'_>, file_index: u32, errno: i32) -> Option<IoNote> {
    let (rules, file) = (&worker.core.rules, worker.core.files.plan(file_index));
    if !rules.engine.is_inline() || worker.core.account.stats.n_issued() > 1 {
        return None;
    }
    match errno {
        EINVAL if rules.errors.is_direct => Some(IoNote::FirstDirectFailed),
        EIO | EREMOTEIO if file.kind == FileKind::Block && !rules.errors.has_zones => {
            Some(IoNote::FirstFailed { file: file.name.clone() })
        }
        _ => None,
    }
}
