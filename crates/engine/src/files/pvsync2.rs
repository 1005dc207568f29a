//! `ioengine=pvsync2`: `preadv2(2)` and `pwritev2(2)`, with flags per I/O.
//!
//! Options: `hipri` (flag) polls for completions, for `hipri_percentage` (0 to 100) of the I/Os;
//! `uncached` and `nowait` set `RWF_DONTCACHE` and `RWF_NOWAIT`. An I/O with a flag that the kernel does not support
//! fails, as in fio; the job does not.
//! Must not know: positions, batches. Start reading at `Pvsync2`.

use crate::contract::{EngineError, EngineSetup, IoUnit, Prepare};
use crate::files::inline::{Inline, Transfer};
use crate::files::rw_flags::JobRwFlags;
use ferrio_spec::engines::options::pvsync2;
use ferrio_sys::Errno;
use ferrio_sys::file_io::{self, RwFlags};
use ferrio_units::random::Taus88;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::BorrowedFd;

pub(crate) const PREPARE: Prepare = |options| {
    let percentage = options.get(&pvsync2::HIPRI_PERCENTAGE);
    if !(0..=100).contains(&percentage) {
        let name = pvsync2::HIPRI_PERCENTAGE.name();
        return Err(EngineError::bad_option("pvsync2", name, &percentage, "allowed: 0 to 100"));
    }
    Ok(Box::new(Inline(Pvsync2 {
        flags: JobRwFlags::new(options.get(&pvsync2::NOWAIT), options.get(&pvsync2::UNCACHED)),
        hipri_percentage: if options.get(&pvsync2::HIPRI) { percentage as u32 } else { 0 },
        hipri_draws: Taus88::new(0),
    })))
};

/// Reads and writes at a place, with flags.
struct Pvsync2 {
    flags: JobRwFlags,
    hipri_percentage: u32,
    hipri_draws: Taus88,
}

impl Pvsync2 {
    #[inline]
    fn flags_of(&mut self, unit: &IoUnit) -> RwFlags {
        let hipri = match self.hipri_percentage {
            0 => RwFlags::NONE,
            100.. => RwFlags::HIPRI,
            percentage if self.hipri_draws.percent() <= percentage => RwFlags::HIPRI,
            _ => RwFlags::NONE,
        };
        self.flags.of(unit.direction) | hipri
    }
}

impl Transfer for Pvsync2 {
    fn start(&mut self, setup: &EngineSetup) {
        self.flags = self.flags.with_atomic(setup.atomic);
        self.hipri_draws = Taus88::new(setup.seed as u32);
    }

    #[inline]
    fn read(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &mut [u8]) -> Result<usize, Errno> {
        file_io::preadv2(fd, &mut [IoSliceMut::new(buffer)], unit.offset_bytes, self.flags_of(unit))
    }

    #[inline]
    fn write(&mut self, fd: BorrowedFd<'_>, unit: &IoUnit, buffer: &[u8]) -> Result<usize, Errno> {
        file_io::pwritev2(fd, &[IoSlice::new(buffer)], unit.offset_bytes, self.flags_of(unit))
    }

    fn hint(&self, unit: &IoUnit, errno: i32) -> Option<&'static str> {
        if errno == libc::EOPNOTSUPP && self.hipri_percentage > 0 {
            return Some("hipri (RWF_HIPRI) needs direct=1 and a device with poll queues (for NVMe: nvme.poll_queues)");
        }
        self.flags.hint(unit.direction, errno)
    }
}
