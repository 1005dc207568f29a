//! Functions of libiscsi, from its public headers `iscsi/iscsi.h` and `iscsi/scsi-lowlevel.h` (versions 1.18 to 1.20).
//!
//! Must not know: what they are called for. Start reading at [`Libiscsi`].

use super::session::IscsiCallback;
use std::ffi::{c_char, c_int, c_uchar, c_uint, c_void};

#[repr(C)]
pub(super) struct IscsiContext {
    _opaque: [u8; 0],
}

/// `MAX_STRING_SIZE` and the NUL byte.
const TEXT_BYTES: usize = 256;

#[repr(C)]
pub(super) struct IscsiUrl {
    pub(super) portal: [c_char; TEXT_BYTES],
    pub(super) target: [c_char; TEXT_BYTES],
    pub(super) user: [c_char; TEXT_BYTES],
    pub(super) password: [c_char; TEXT_BYTES],
    pub(super) target_user: [c_char; TEXT_BYTES],
    pub(super) target_password: [c_char; TEXT_BYTES],
    pub(super) lun: c_int,
}

#[repr(C)]
pub(super) struct ScsiTask {
    pub(super) status: c_int,
    pub(super) cdb_bytes: c_int,
    pub(super) direction: c_int,
    pub(super) expected_bytes: c_int,
    pub(super) cdb: [c_uchar; 16],
    pub(super) residual_status: c_uint,
    pub(super) residual: usize,
}

/// `struct scsi_readcapacity16`, its beginning.
#[repr(C)]
pub(super) struct LunCapacity {
    pub(super) last_block: u64,
    pub(super) block_bytes: u32,
    /// Kind of protection, whether it is on, its interval, exponent of the physical block.
    pub(super) others: [u8; 4],
    /// LBPME: blocks can be unmapped.
    pub(super) is_thin: u8,
}

/// `struct scsi_reportluns_list`, its beginning; as many numbers of 16 bits follow.
#[repr(C)]
pub(super) struct LunList {
    pub(super) n_luns: u32,
}

/// `struct scsi_mode_sense`, its beginning.
#[repr(C)]
pub(super) struct LunMode {
    pub(super) n_bytes: u16,
    pub(super) medium: u8,
    pub(super) device_specific: u8,
}

/// `struct iscsi_discovery_address`, its beginning.
#[repr(C)]
pub(super) struct FoundTarget {
    pub(super) next: *const FoundTarget,
    pub(super) name: *const c_char,
}

/// `struct scsi_iovec`.
#[repr(C)]
pub(super) struct ScsiVector {
    pub(super) base: *mut c_void,
    pub(super) n_bytes: usize,
}

/// `struct unmap_list`.
#[repr(C)]
pub(super) struct UnmapRange {
    pub(super) block: u64,
    pub(super) n_blocks: u32,
}

ferrio_sys::vendor_functions! {
    pub(super) struct Libiscsi of "libiscsi"
        ["libiscsi.so.7", "libiscsi.so.8", "libiscsi.so.9", "libiscsi.so.11"] in "libiscsi7";
    fn iscsi_create_context(*const c_char) -> *mut IscsiContext;
    fn iscsi_destroy_context(*mut IscsiContext) -> c_int;
    fn iscsi_parse_full_url(*mut IscsiContext, *const c_char) -> *mut IscsiUrl;
    fn iscsi_parse_portal_url(*mut IscsiContext, *const c_char) -> *mut IscsiUrl;
    fn iscsi_destroy_url(*mut IscsiUrl);
    fn iscsi_get_error(*mut IscsiContext) -> *const c_char;
    fn iscsi_set_targetname(*mut IscsiContext, *const c_char) -> c_int;
    fn iscsi_set_session_type(*mut IscsiContext, c_int) -> c_int;
    fn iscsi_set_header_digest(*mut IscsiContext, c_int) -> c_int;
    fn iscsi_set_initiator_username_pwd(*mut IscsiContext, *const c_char, *const c_char) -> c_int;
    fn iscsi_set_target_username_pwd(*mut IscsiContext, *const c_char, *const c_char) -> c_int;
    fn iscsi_set_noautoreconnect(*mut IscsiContext, c_int);
    fn iscsi_full_connect_async(*mut IscsiContext, *const c_char, c_int, IscsiCallback, *mut c_void) -> c_int;
    fn iscsi_logout_async(*mut IscsiContext, IscsiCallback, *mut c_void) -> c_int;
    fn iscsi_get_fd(*mut IscsiContext) -> c_int;
    fn iscsi_which_events(*mut IscsiContext) -> c_int;
    fn iscsi_service(*mut IscsiContext, c_int) -> c_int;
    fn iscsi_discovery_async(*mut IscsiContext, IscsiCallback, *mut c_void) -> c_int;
    // Kind of list, room, callback, pointer.
    fn iscsi_reportluns_task(*mut IscsiContext, c_int, c_int, IscsiCallback, *mut c_void) -> *mut ScsiTask;
    // LUN, DBD, kind of values, page, its part, room, callback, pointer.
    fn iscsi_modesense6_task(
        *mut IscsiContext, c_int, c_int, c_int, c_int, c_int, c_uchar, IscsiCallback, *mut c_void
    ) -> *mut ScsiTask;
    fn iscsi_readcapacity16_task(*mut IscsiContext, c_int, IscsiCallback, *mut c_void) -> *mut ScsiTask;
    // LUN, block, bytes, block size, protection, DPO, FUA, FUA_NV, group, callback, pointer, vectors, their number.
    fn iscsi_read16_iov_task(
        *mut IscsiContext, c_int, u64, u32, c_int, c_int, c_int, c_int, c_int, c_int, IscsiCallback, *mut c_void,
        *mut ScsiVector, c_int
    ) -> *mut ScsiTask;
    // LUN, block, data, bytes, block size, protection, DPO, FUA, FUA_NV, group, callback, pointer, vectors, their number.
    fn iscsi_write16_iov_task(
        *mut IscsiContext, c_int, u64, *mut c_uchar, u32, c_int, c_int, c_int, c_int, c_int, c_int, IscsiCallback,
        *mut c_void, *mut ScsiVector, c_int
    ) -> *mut ScsiTask;
    // LUN, block, blocks, SYNC_NV, IMMED, callback, pointer.
    fn iscsi_synchronizecache16_task(
        *mut IscsiContext, c_int, u64, u32, c_int, c_int, IscsiCallback, *mut c_void
    ) -> *mut ScsiTask;
    // LUN, ANCHOR, group, ranges, their number, callback, pointer.
    fn iscsi_unmap_task(
        *mut IscsiContext, c_int, c_int, c_int, *mut UnmapRange, c_int, IscsiCallback, *mut c_void
    ) -> *mut ScsiTask;
    fn scsi_datain_unmarshall(*mut ScsiTask) -> *mut c_void;
    fn scsi_free_scsi_task(*mut ScsiTask);
}
