//! Schedulers of devices that workers set (`ioscheduler`), and that the run sets back at its end.
//!
//! Must not know: how a worker sets one. Start reading at [`Schedulers`].

use crate::plan::WorkerPlan;
use crate::worker::device_of;
use crate::{compat, replay};
use ferrio_sys::block_device::BlockDevice;

/// The devices whose schedulers are set back, each with its scheduler from before the run.
pub(super) struct Schedulers(Vec<(BlockDevice, String)>);

impl Schedulers {
    /// Looks for the devices, before any worker starts.
    pub(super) fn before(workers: &[WorkerPlan]) -> Self {
        let mut devices: Vec<(BlockDevice, String)> = Vec::new();
        for path in workers.iter().filter(|worker| is_changed_for_the_run(worker)).flat_map(replay::expected_paths) {
            // A device that cannot be found is reported by the worker.
            let Ok(Some(device)) = device_of(&path) else { continue };
            if let Some(scheduler) = device.scheduler()
                && devices.iter().all(|(known, _)| known.number != device.number)
            {
                devices.push((device, scheduler));
            }
        }
        Self(devices)
    }

    /// Sets them back, after all workers have ended.
    pub(super) fn restore(&self) {
        for (device, scheduler) in &self.0 {
            // Fails for a device that is gone or that only root may change, which is fine.
            let _ = device.set_scheduler(scheduler);
        }
    }
}

fn is_changed_for_the_run(worker: &WorkerPlan) -> bool {
    let is_changed = worker.spec.surroundings.ioscheduler.is_some() && worker.engine.def.targets.are_files();
    is_changed && !compat::leaves_scheduler(worker)
}
