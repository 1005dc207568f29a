//! State of zones in memory that all processes of a run share, and the device behind them.
//!
//! Must not know: what the words mean. Start reading at [`SharedZones`].

use ferrio_sys::block_device::zones::ZonedDevice;
use ferrio_sys::{SharedLock, SharedMemory};
use ferrio_workload::ZoneState;
use std::sync::atomic::AtomicU64;

const EIO: i32 = 5;

/// The words of a table.
#[derive(Debug)]
pub(super) struct SharedZones {
    lock: SharedMemory<SharedLock>,
    words: SharedMemory<AtomicU64>,
    /// `None`: the zones are emulated.
    device: Option<Box<dyn ZonedDevice>>,
}

impl SharedZones {
    pub(super) fn new(n_words: usize, device: Option<Box<dyn ZonedDevice>>) -> ferrio_sys::Result<Self> {
        Ok(Self { lock: SharedMemory::new(1)?, words: SharedMemory::new(n_words)?, device })
    }
}

impl ZoneState for SharedZones {
    fn with(&self, act: &mut dyn FnMut(&[AtomicU64])) {
        let _held = self.lock[0].lock();
        act(&self.words);
    }

    fn reset(&self, start_bytes: u64, length_bytes: u64) -> Result<(), i32> {
        match &self.device {
            Some(device) => device.reset(start_bytes, length_bytes).map_err(|error| error.errno().unwrap_or(EIO)),
            None => Ok(()),
        }
    }
}
