//! State of zones in memory that all processes of a run share, and the device behind the zones.
//!
//! Must not know: the meaning of the words. Start reading at [`SharedZones`].

use ferrio_sys::block_device::zones::ZonedDevice;
use ferrio_sys::errno::EIO;
use ferrio_sys::futex::{FutexWait, futex_wait, futex_wake};
use ferrio_sys::{SharedLock, SharedMemory};
use ferrio_workload::{Awaited, FailedBlock, ZoneState};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Each kind of wait has two numbers: the number of releases, and the number of waiting workers.
const NUMBERS: usize = 2;

/// The words of a table.
#[derive(Debug)]
pub(super) struct SharedZones {
    lock: SharedMemory<SharedLock>,
    words: SharedMemory<AtomicU64>,
    waits: SharedMemory<AtomicU32>,
    device: Arc<DeviceBehind>,
}

/// The device behind zones; empty for emulated zones.
#[derive(Debug, Default)]
pub(super) struct DeviceBehind {
    /// The device, opened for writing when the first job comes that writes, because descriptors opened for reading
    /// cannot change zones.
    pub(super) writable: OnceLock<Box<dyn ZonedDevice>>,
}

impl SharedZones {
    pub(super) fn new(n_words: usize, device: Arc<DeviceBehind>) -> ferrio_sys::Result<Self> {
        Ok(Self {
            lock: SharedMemory::new(1)?,
            words: SharedMemory::new(n_words)?,
            waits: SharedMemory::new(2 * NUMBERS)?,
            device,
        })
    }

    fn numbers(&self, what: Awaited) -> [&AtomicU32; NUMBERS] {
        let at = match what {
            Awaited::Zone => 0,
            Awaited::Place => NUMBERS,
        };
        [&self.waits[at], &self.waits[at + 1]]
    }

    fn on_device(&self, act: impl FnOnce(&dyn ZonedDevice) -> ferrio_sys::Result<()>) -> Result<(), i32> {
        match self.device.writable.get() {
            Some(device) => act(device.as_ref()).map_err(|error| error.errno().unwrap_or(EIO)),
            None => Ok(()),
        }
    }
}

/// Writes what is missing in a zone up to `wanted_bytes` of it, and returns how many bytes it holds then.
fn refill(
    device: &dyn ZonedDevice,
    start_bytes: u64,
    wanted_bytes: u64,
    blocks: &mut dyn Iterator<Item = &FailedBlock>,
) -> ferrio_sys::Result<u64> {
    let mut written_bytes = device.written_bytes(start_bytes)?;
    let zeroes_up_to = |written_bytes: &mut u64, end_bytes: u64| {
        if *written_bytes < end_bytes {
            device.write_zeroes(start_bytes + *written_bytes, end_bytes - *written_bytes)?;
            *written_bytes = end_bytes;
        }
        Ok::<(), ferrio_sys::Error>(())
    };
    for block in blocks {
        zeroes_up_to(&mut written_bytes, block.start_bytes.min(wanted_bytes))?;
        let end_bytes = block.start_bytes + block.data.len() as u64;
        if (block.start_bytes..end_bytes).contains(&written_bytes) {
            // The device may hold the first part of the block.
            let missing = &block.data[(written_bytes - block.start_bytes) as usize..];
            device.write(start_bytes + written_bytes, missing)?;
            written_bytes = end_bytes;
        }
    }
    zeroes_up_to(&mut written_bytes, wanted_bytes)?;
    Ok(written_bytes)
}

impl ZoneState for SharedZones {
    fn with(&self, act: &mut dyn FnMut(&[AtomicU64])) {
        let _held = self.lock[0].lock();
        act(&self.words);
    }

    fn reset(&self, start_bytes: u64, length_bytes: u64) -> Result<(), i32> {
        self.on_device(|device| device.reset(start_bytes, length_bytes))
    }

    fn finish(&self, start_bytes: u64, length_bytes: u64) -> Result<(), i32> {
        self.on_device(|device| device.finish(start_bytes, length_bytes))
    }

    fn recover(
        &self,
        start_bytes: u64,
        wanted_bytes: u64,
        blocks: &mut dyn Iterator<Item = &FailedBlock>,
    ) -> Option<u64> {
        let device = self.device.writable.get()?;
        match refill(device.as_ref(), start_bytes, wanted_bytes, blocks) {
            Ok(written_bytes) => Some(written_bytes),
            Err(_) => device.written_bytes(start_bytes).ok(),
        }
    }

    fn released(&self, what: Awaited) {
        let [releases, waiting] = self.numbers(what);
        releases.fetch_add(1, Ordering::SeqCst);
        if waiting.load(Ordering::SeqCst) > 0 {
            futex_wake(releases, u32::MAX);
        }
    }

    fn ticket(&self, what: Awaited) -> u32 {
        self.numbers(what)[0].load(Ordering::SeqCst)
    }

    fn wait(&self, what: Awaited, ticket: u32, limit: Duration) -> bool {
        let [releases, waiting] = self.numbers(what);
        waiting.fetch_add(1, Ordering::SeqCst);
        let ended = futex_wait(releases, ticket, Some(limit));
        waiting.fetch_sub(1, Ordering::SeqCst);
        ended != FutexWait::TimedOut
    }
}
