//! The functions of libblkio that the engine calls, and their types, from its public header `blkio.h`.
//!
//! Must not know: what the engine does with them. Start reading at [`Libblkio`].

use std::ffi::{c_char, c_int, c_void};

#[repr(C)]
pub(super) struct BlkioHandle {
    _opaque: [u8; 0],
}

#[repr(C)]
pub(super) struct BlkioQueue {
    _opaque: [u8; 0],
}

/// `struct blkio_mem_region`.
#[repr(C)]
pub(super) struct BlkioMemory {
    pub(super) address: *mut c_void,
    pub(super) n_bytes: usize,
    /// Reserved, 0.
    pub(super) iova: u64,
    pub(super) file_offset: i64,
    pub(super) file: c_int,
    /// Reserved, 0.
    pub(super) flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct BlkioCompletion {
    pub(super) user_data: *mut c_void,
    pub(super) error_text: *const c_char,
    pub(super) returned: c_int,
    pub(super) reserved: [u8; 12],
}

/// `BLKIO_REQ_FUA`.
pub(super) const FUA: u32 = 1;

ferrio_sys::vendor_functions! {
    pub(super) struct Libblkio of "libblkio" ["libblkio.so.1"] in "libblkio1";
    fn blkio_get_error_msg() -> *const c_char;
    fn blkio_create(*const c_char, *mut *mut BlkioHandle) -> c_int;
    fn blkio_connect(*mut BlkioHandle) -> c_int;
    fn blkio_start(*mut BlkioHandle) -> c_int;
    fn blkio_destroy(*mut *mut BlkioHandle);
    fn blkio_get_bool(*mut BlkioHandle, *const c_char, *mut bool) -> c_int;
    fn blkio_get_uint64(*mut BlkioHandle, *const c_char, *mut u64) -> c_int;
    fn blkio_set_bool(*mut BlkioHandle, *const c_char, bool) -> c_int;
    fn blkio_set_int(*mut BlkioHandle, *const c_char, c_int) -> c_int;
    fn blkio_set_str(*mut BlkioHandle, *const c_char, *const c_char) -> c_int;
    fn blkio_map_mem_region(*mut BlkioHandle, *const BlkioMemory) -> c_int;
    fn blkio_get_queue(*mut BlkioHandle, c_int) -> *mut BlkioQueue;
    fn blkio_get_poll_queue(*mut BlkioHandle, c_int) -> *mut BlkioQueue;
    // Queue, first byte, data, bytes, the caller's pointer, flags.
    fn blkioq_read(*mut BlkioQueue, u64, *mut c_void, usize, *mut c_void, u32);
    fn blkioq_write(*mut BlkioQueue, u64, *const c_void, usize, *mut c_void, u32);
    // Queue, first byte, parts, their number, the caller's pointer, flags.
    fn blkioq_readv(*mut BlkioQueue, u64, *const libc::iovec, c_int, *mut c_void, u32);
    fn blkioq_writev(*mut BlkioQueue, u64, *mut libc::iovec, c_int, *mut c_void, u32);
    // Queue, first byte, bytes, the caller's pointer, flags.
    fn blkioq_write_zeroes(*mut BlkioQueue, u64, u64, *mut c_void, u32);
    fn blkioq_discard(*mut BlkioQueue, u64, u64, *mut c_void, u32);
    fn blkioq_flush(*mut BlkioQueue, *mut c_void, u32);
    // Queue, completions, fewest, most, time.
    fn blkioq_do_io(*mut BlkioQueue, *mut BlkioCompletion, c_int, c_int, *mut libc::timespec) -> c_int;
    fn blkioq_get_completion_fd(*mut BlkioQueue) -> c_int;
    fn blkioq_set_completion_fd_enabled(*mut BlkioQueue, bool);
}
