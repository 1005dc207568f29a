//! From the number of a descriptor to something that can be called on.
//!
//! Must not know: what is done with it. Start reading at [`of`].
#![expect(unsafe_code, reason = "a unit carries its descriptor as a number, because slots outlive files")]

use crate::contract::IoUnit;
use ferrio_sys::Errno;
use std::os::fd::BorrowedFd;

/// The descriptor of a unit; EBADF for the -1 of diskless jobs.
#[inline]
pub(crate) fn of(unit: &IoUnit) -> Result<BorrowedFd<'_>, Errno> {
    if unit.fd < 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: not negative, checked above; by the contract of engines the loop closes a file only after
    // `close_file`, when no unit of it is left, so the descriptor is open while the unit is borrowed.
    Ok(unsafe { BorrowedFd::borrow_raw(unit.fd) })
}
