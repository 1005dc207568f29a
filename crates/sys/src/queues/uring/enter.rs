//! Entering the kernel: by the descriptor of the ring, or by its place in the thread's table of rings (Linux 5.18), which saves the
//! look-up of the descriptor on every call.
//!
//! Must not know: requests. Start reading at [`RingEntry::new`].

use rustix::io::Errno;
use std::os::fd::AsRawFd;

/// `IORING_REGISTER_RING_FDS` and `IORING_UNREGISTER_RING_FDS`.
const REGISTER_RING_FDS: libc::c_uint = 20;
const UNREGISTER_RING_FDS: libc::c_uint = 21;
/// `IORING_ENTER_REGISTERED_RING`.
const ENTER_REGISTERED_RING: u32 = 1 << 4;
/// The kernel chooses a free place.
const ANY_PLACE: u32 = u32::MAX;

/// `struct io_uring_rsrc_update`.
#[repr(C)]
struct RingUpdate {
    place: u32,
    reserved: u32,
    descriptor: u64,
}

/// How a ring is entered by the thread that made it.
#[derive(Debug, Clone, Copy)]
pub(super) struct RingEntry {
    /// The place in the table, or the descriptor.
    number: i32,
    /// [`ENTER_REGISTERED_RING`], or none.
    flags: u32,
}

impl RingEntry {
    /// Puts the ring into the table of this thread. Where the kernel cannot, the ring is entered by its descriptor.
    pub(super) fn new(ring: &impl AsRawFd) -> Self {
        let descriptor = ring.as_raw_fd();
        let mut update = RingUpdate { place: ANY_PLACE, reserved: 0, descriptor: descriptor as u64 };
        match register(ring, REGISTER_RING_FDS, &mut update) {
            1 => Self { number: update.place as i32, flags: ENTER_REGISTERED_RING },
            _ => Self { number: descriptor, flags: 0 },
        }
    }

    /// True if the ring has a place in the table.
    #[cfg(test)]
    pub(super) fn is_in_table(self) -> bool {
        self.flags != 0
    }

    /// Takes the ring out of the table, which otherwise keeps it until the thread ends.
    pub(super) fn release(self, ring: &impl AsRawFd) {
        if self.flags != 0 {
            register(
                ring,
                UNREGISTER_RING_FDS,
                &mut RingUpdate { place: self.number as u32, reserved: 0, descriptor: 0 },
            );
        }
    }

    /// Submits requests and waits until at least `min` completions are there.
    #[inline]
    pub(super) fn enter(self, n_submitted: u32, min: u32, flags: u32) -> std::result::Result<u32, Errno> {
        let no_mask = std::ptr::null::<libc::sigset_t>();
        // SAFETY: the numbers are all that the kernel reads: there is no mask of signals.
        let returned = unsafe {
            libc::syscall(libc::SYS_io_uring_enter, self.number, n_submitted, min, flags | self.flags, no_mask, 0_usize)
        };
        if returned < 0 {
            return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
        }
        Ok(returned as u32)
    }
}

/// What the kernel returns: the number of rings, or -1.
fn register(ring: &impl AsRawFd, operation: libc::c_uint, update: &mut RingUpdate) -> libc::c_long {
    // SAFETY: the kernel reads and writes one `RingUpdate`, during the call.
    unsafe { libc::syscall(libc::SYS_io_uring_register, ring.as_raw_fd(), operation, std::ptr::from_mut(update), 1) }
}
