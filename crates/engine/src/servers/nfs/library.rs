//! Functions of libnfs, from its public header `nfsc/libnfs.h` (versions 4 and 5).
//!
//! Must not know: what they are called for. Start reading at [`Libnfs`].

use super::session::NfsCallback;
use std::ffi::{c_char, c_int, c_void};

#[repr(C)]
pub(super) struct NfsContext {
    _opaque: [u8; 0],
}

/// `struct nfsfh`.
#[repr(C)]
pub(super) struct NfsFileHandle {
    _opaque: [u8; 0],
}

#[repr(C)]
pub(super) struct NfsUrl {
    pub(super) server: *mut c_char,
    pub(super) path: *mut c_char,
    pub(super) file: *mut c_char,
}

ferrio_sys::vendor_functions! {
    pub(super) struct Libnfs of "libnfs" ["libnfs.so.14", "libnfs.so.13"] in "libnfs14 or libnfs13";
    fn nfs_init_context() -> *mut NfsContext;
    fn nfs_destroy_context(*mut NfsContext);
    fn nfs_set_autoreconnect(*mut NfsContext, c_int);
    fn nfs_parse_url_dir(*mut NfsContext, *const c_char) -> *mut NfsUrl;
    fn nfs_destroy_url(*mut NfsUrl);
    fn nfs_get_error(*mut NfsContext) -> *mut c_char;
    fn nfs_get_fd(*mut NfsContext) -> c_int;
    fn nfs_which_events(*mut NfsContext) -> c_int;
    fn nfs_service(*mut NfsContext, c_int) -> c_int;
    fn nfs_mount_async(*mut NfsContext, *const c_char, *const c_char, NfsCallback, *mut c_void) -> c_int;
    fn nfs_open_async(*mut NfsContext, *const c_char, c_int, NfsCallback, *mut c_void) -> c_int;
    fn nfs_close_async(*mut NfsContext, *mut NfsFileHandle, NfsCallback, *mut c_void) -> c_int;
    fn nfs_fsync_async(*mut NfsContext, *mut NfsFileHandle, NfsCallback, *mut c_void) -> c_int;
    fn nfs_get_readmax(*mut NfsContext) -> u64;
    fn nfs_get_writemax(*mut NfsContext) -> u64;
    fn nfs_statvfs_async(*mut NfsContext, *const c_char, NfsCallback, *mut c_void) -> c_int;
    fn nfs_access2_async(*mut NfsContext, *const c_char, NfsCallback, *mut c_void) -> c_int;
    fn nfs_unlink_async(*mut NfsContext, *const c_char, NfsCallback, *mut c_void) -> c_int;
    fn nfs_pread_async(*mut NfsContext, *mut NfsFileHandle, u64, u64, NfsCallback, *mut c_void) -> c_int;
    fn nfs_pwrite_async(
        *mut NfsContext, *mut NfsFileHandle, u64, u64, *const c_void, NfsCallback, *mut c_void
    ) -> c_int;
}
