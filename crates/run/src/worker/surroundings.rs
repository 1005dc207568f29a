//! Where the kernel puts the I/O of a job: the scheduler of its devices.
//!
//! Must not know: loops. Start reading at [`set_scheduler`].
//! Facts: reference "Environment options".

use super::{WorkerContext, WorkerMessage};
use crate::error::{JobError, errno_of, job_error};
use crate::events::Stream;
use crate::files::FileSet;
use crate::plan::WorkerPlan;
use ferrio_sys::block_device::BlockDevice;

/// `ioscheduler`: for the devices of the job's files. It stays when the job has ended, as in the reference.
pub(super) fn set_scheduler(plan: &WorkerPlan, set: &FileSet, context: &WorkerContext<'_>) -> Result<(), JobError> {
    let Some(scheduler) = &plan.spec.surroundings.ioscheduler else { return Ok(()) };
    if plan.engine.diskless {
        return Ok(());
    }
    let mut seen: Vec<String> = Vec::new();
    for file in &set.files {
        // A file that is not there yet will be where its directory is.
        let mut places = file.path.ancestors().filter(|place| !place.as_os_str().is_empty());
        let place = places.find(|place| place.exists()).unwrap_or(".".as_ref());
        let failed = |error: ferrio_sys::Error| {
            let text = format!("fio: unable to set io scheduler to {scheduler}: {error}");
            job_error!(errno_of(&error), "iosched_switch").explained(text)
        };
        let Some(device) = BlockDevice::behind_path(place).map_err(failed)? else { continue };
        if seen.contains(&device.name) {
            continue;
        }
        if !device.set_scheduler(scheduler).map_err(failed)? {
            let text = format!("fio: {} has no io schedulers", device.name);
            (context.send)(&WorkerMessage::Text(Stream::Info, text));
        }
        seen.push(device.name);
    }
    Ok(())
}
