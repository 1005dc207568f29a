//! Functions of librdmacm and libibverbs, and their types, from their public headers `rdma/rdma_cma.h` and `infiniband/verbs.h`.
//!
//! Must not know: what they are called for. Start reading at [`Librdmacm`] and [`Libibverbs`].

use super::queue_pair::{NotifyCall, PollCall, ReceiveCall, SendCall};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::MaybeUninit;

/// `struct rdma_event_channel`.
#[repr(C)]
pub(super) struct CmChannel {
    pub(super) fd: c_int,
}

/// `struct rdma_cm_id`, its beginning.
#[repr(C)]
pub(super) struct CmId {
    pub(super) verbs: *mut VerbsContext,
    pub(super) channel: *mut CmChannel,
    pub(super) context: *mut c_void,
    pub(super) qp: *mut VerbsQueuePair,
}

/// `struct rdma_cm_event`, its beginning.
#[repr(C)]
pub(super) struct CmEvent {
    pub(super) id: *mut CmId,
    pub(super) listen_id: *mut CmId,
    pub(super) event: c_uint,
    pub(super) status: c_int,
}

/// `struct rdma_conn_param`.
#[repr(C)]
pub(super) struct CmParameters {
    pub(super) private_data: *const c_void,
    pub(super) private_data_bytes: u8,
    /// RDMA reads of the other end that this end answers at once.
    pub(super) responder_resources: u8,
    /// RDMA reads of this end in flight.
    pub(super) initiator_depth: u8,
    pub(super) flow_control: u8,
    pub(super) retry_count: u8,
    pub(super) rnr_retry_count: u8,
    pub(super) srq: u8,
    pub(super) qp_num: u32,
}

/// `struct ibv_context`, its beginning: the functions of the table that are called.
#[repr(C)]
pub(super) struct VerbsContext {
    device: *mut c_void,
    others: [*mut c_void; 11],
    pub(super) poll_cq: PollCall,
    pub(super) req_notify_cq: NotifyCall,
    more: [*mut c_void; 12],
    pub(super) post_send: SendCall,
    pub(super) post_recv: ReceiveCall,
}

/// `struct ibv_pd`.
#[repr(C)]
pub(super) struct VerbsDomain {
    _opaque: [u8; 0],
}

/// `struct ibv_comp_channel`, its beginning.
#[repr(C)]
pub(super) struct VerbsChannel {
    pub(super) context: *mut VerbsContext,
    pub(super) fd: c_int,
}

/// `struct ibv_cq`, its beginning.
#[repr(C)]
pub(super) struct VerbsQueue {
    pub(super) context: *mut VerbsContext,
}

/// `struct ibv_qp`, its beginning.
#[repr(C)]
pub(super) struct VerbsQueuePair {
    pub(super) context: *mut VerbsContext,
    pub(super) qp_context: *mut c_void,
    pub(super) pd: *mut VerbsDomain,
    pub(super) send_cq: *mut VerbsQueue,
    pub(super) recv_cq: *mut VerbsQueue,
    pub(super) srq: *mut c_void,
    pub(super) handle: u32,
    pub(super) qp_num: u32,
}

/// `struct ibv_mr`.
#[repr(C)]
pub(super) struct VerbsRegion {
    pub(super) context: *mut VerbsContext,
    pub(super) pd: *mut VerbsDomain,
    pub(super) address: *mut c_void,
    pub(super) n_bytes: usize,
    pub(super) handle: u32,
    pub(super) lkey: u32,
    pub(super) rkey: u32,
}

/// `struct ibv_qp_init_attr`.
#[repr(C)]
pub(super) struct QueuePairRequest {
    pub(super) qp_context: *mut c_void,
    pub(super) send_cq: *mut VerbsQueue,
    pub(super) recv_cq: *mut VerbsQueue,
    pub(super) srq: *mut c_void,
    pub(super) max_send_requests: u32,
    pub(super) max_receive_requests: u32,
    pub(super) max_send_parts: u32,
    pub(super) max_receive_parts: u32,
    pub(super) max_inline_bytes: u32,
    pub(super) qp_type: c_int,
    pub(super) signals_all: c_int,
}

/// `struct ibv_qp_attr`.
#[repr(C)]
pub(super) struct QueuePairState {
    pub(super) state: c_uint,
    others: MaybeUninit<[u32; 31]>,
    pub(super) min_rnr_timer: u8,
    some: MaybeUninit<[u8; 3]>,
    pub(super) rnr_retry: u8,
    more: MaybeUninit<[u8; 11]>,
}

impl QueuePairState {
    pub(super) fn new(state: c_uint) -> Self {
        Self {
            state,
            others: MaybeUninit::zeroed(),
            min_rnr_timer: 0,
            some: MaybeUninit::zeroed(),
            rnr_retry: 0,
            more: MaybeUninit::zeroed(),
        }
    }
}

/// `struct ibv_sge`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RequestPart {
    pub(super) address: u64,
    pub(super) n_bytes: u32,
    pub(super) lkey: u32,
}

/// `struct ibv_send_wr`.
#[repr(C)]
pub(super) struct SendRequest {
    pub(super) id: u64,
    pub(super) next: *mut SendRequest,
    pub(super) parts: *mut RequestPart,
    pub(super) n_parts: c_int,
    pub(super) opcode: c_uint,
    pub(super) flags: c_uint,
    pub(super) immediate: u32,
    pub(super) remote_address: u64,
    pub(super) rkey: u32,
    others: [u64; 9],
}

impl SendRequest {
    pub(super) fn new(id: u64, opcode: c_uint, parts: *mut RequestPart) -> Self {
        Self {
            id,
            next: std::ptr::null_mut(),
            parts,
            n_parts: 1,
            opcode,
            flags: SIGNALED,
            immediate: 0,
            remote_address: 0,
            rkey: 0,
            others: [0; 9],
        }
    }
}

/// `struct ibv_recv_wr`.
#[repr(C)]
pub(super) struct ReceiveRequest {
    pub(super) id: u64,
    pub(super) next: *mut ReceiveRequest,
    pub(super) parts: *mut RequestPart,
    pub(super) n_parts: c_int,
}

/// `struct ibv_wc`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct WorkCompletion {
    pub(super) id: u64,
    pub(super) status: c_uint,
    pub(super) opcode: c_uint,
    pub(super) vendor_error: u32,
    pub(super) n_bytes: u32,
    others: [u32; 6],
}

impl WorkCompletion {
    /// A request for data that has failed.
    pub(super) fn failed(slot: u32, status: c_uint, vendor_error: u32) -> Self {
        Self { id: slot.into(), status, vendor_error, ..Self::default() }
    }
}

/// `IBV_SEND_SIGNALED`.
const SIGNALED: c_uint = 2;

/// `IBV_QPT_RC`.
pub(super) const RELIABLE: c_int = 2;

/// `RDMA_PS_TCP`.
pub(super) const PORTS_OF_TCP: c_int = 0x0106;

/// `enum ibv_wr_opcode`: RDMA write, send, RDMA read.
pub(super) const WRITE: c_uint = 0;
pub(super) const SEND: c_uint = 2;
pub(super) const READ: c_uint = 4;

/// `enum ibv_access_flags`.
pub(super) const LOCAL_WRITE: c_int = 1;
pub(super) const REMOTE_WRITE: c_int = 2;
pub(super) const REMOTE_READ: c_int = 4;

/// `enum ibv_qp_state`: initialised, ready to receive, ready to send.
pub(super) const QP_INIT: c_uint = 1;
pub(super) const QP_RECEIVES: c_uint = 2;
pub(super) const QP_SENDS: c_uint = 3;

/// `enum ibv_qp_attr_mask`: `IBV_QP_RNR_RETRY`, `IBV_QP_MIN_RNR_TIMER`.
pub(super) const HAS_RNR_RETRY: c_int = 1 << 11;
pub(super) const HAS_RNR_TIMER: c_int = 1 << 15;

ferrio_sys::vendor_functions! {
    pub(super) struct Librdmacm of "librdmacm" ["librdmacm.so.1"]
        in "librdmacm1t64 (before Debian 13: librdmacm1), with ibverbs-providers";
    fn rdma_create_event_channel() -> *mut CmChannel;
    fn rdma_destroy_event_channel(*mut CmChannel);
    fn rdma_create_id(*mut CmChannel, *mut *mut CmId, *mut c_void, c_int) -> c_int;
    fn rdma_destroy_id(*mut CmId) -> c_int;
    fn rdma_bind_addr(*mut CmId, *mut libc::sockaddr) -> c_int;
    // Own address, address of the other end, limit in milliseconds.
    fn rdma_resolve_addr(*mut CmId, *mut libc::sockaddr, *mut libc::sockaddr, c_int) -> c_int;
    fn rdma_resolve_route(*mut CmId, c_int) -> c_int;
    fn rdma_listen(*mut CmId, c_int) -> c_int;
    fn rdma_create_qp(*mut CmId, *mut VerbsDomain, *mut QueuePairRequest) -> c_int;
    fn rdma_destroy_qp(*mut CmId);
    fn rdma_init_qp_attr(*mut CmId, *mut QueuePairState, *mut c_int) -> c_int;
    fn rdma_connect(*mut CmId, *mut CmParameters) -> c_int;
    fn rdma_establish(*mut CmId) -> c_int;
    fn rdma_accept(*mut CmId, *mut CmParameters) -> c_int;
    fn rdma_disconnect(*mut CmId) -> c_int;
    fn rdma_get_cm_event(*mut CmChannel, *mut *mut CmEvent) -> c_int;
    fn rdma_ack_cm_event(*mut CmEvent) -> c_int;
}

ferrio_sys::vendor_functions! {
    pub(super) struct Libibverbs of "libibverbs" ["libibverbs.so.1"] in "libibverbs1, with ibverbs-providers";
    fn ibv_alloc_pd(*mut VerbsContext) -> *mut VerbsDomain;
    fn ibv_dealloc_pd(*mut VerbsDomain) -> c_int;
    fn ibv_create_comp_channel(*mut VerbsContext) -> *mut VerbsChannel;
    fn ibv_destroy_comp_channel(*mut VerbsChannel) -> c_int;
    // Room, pointer of the caller, channel, vector.
    fn ibv_create_cq(*mut VerbsContext, c_int, *mut c_void, *mut VerbsChannel, c_int) -> *mut VerbsQueue;
    fn ibv_destroy_cq(*mut VerbsQueue) -> c_int;
    fn ibv_get_cq_event(*mut VerbsChannel, *mut *mut VerbsQueue, *mut *mut c_void) -> c_int;
    fn ibv_ack_cq_events(*mut VerbsQueue, c_uint);
    fn ibv_create_qp(*mut VerbsDomain, *mut QueuePairRequest) -> *mut VerbsQueuePair;
    fn ibv_modify_qp(*mut VerbsQueuePair, *mut QueuePairState, c_int) -> c_int;
    fn ibv_destroy_qp(*mut VerbsQueuePair) -> c_int;
    fn ibv_reg_mr(*mut VerbsDomain, *mut c_void, usize, c_int) -> *mut VerbsRegion;
    fn ibv_dereg_mr(*mut VerbsRegion) -> c_int;
    fn ibv_wc_status_str(c_uint) -> *const c_char;
}

// The layout is that of the headers on machines with pointers of 64 bits.
const _: () = {
    assert!(size_of::<QueuePairState>() == 144 && std::mem::offset_of!(QueuePairState, rnr_retry) == 132);
    assert!(std::mem::offset_of!(QueuePairState, min_rnr_timer) == 128);
    assert!(std::mem::offset_of!(VerbsContext, poll_cq) == 96 && std::mem::offset_of!(VerbsContext, post_send) == 208);
    assert!(size_of::<SendRequest>() == 128 && std::mem::offset_of!(SendRequest, rkey) == 48);
    assert!(size_of::<ReceiveRequest>() == 32 && size_of::<WorkCompletion>() == 48);
    assert!(size_of::<QueuePairRequest>() == 64 && size_of::<CmParameters>() == 24);
    assert!(std::mem::offset_of!(VerbsQueuePair, qp_num) == 52 && std::mem::offset_of!(VerbsRegion, lkey) == 36);
    assert!(std::mem::offset_of!(CmId, qp) == 24 && std::mem::offset_of!(CmEvent, status) == 20);
};
