//! A queue pair of libibverbs with a safe interface: registered memory, requests, completions.
//!
//! Must not know: units, the order of messages. Start reading at [`QueuePair::new`], then [`QueuePair::post`].
#![expect(unsafe_code, reason = "functions of a C library, and memory that a device writes")]

use super::library::{
    CmId, HAS_RNR_RETRY, HAS_RNR_TIMER, LOCAL_WRITE, QP_INIT, QP_RECEIVES, QP_SENDS, QueuePairRequest, QueuePairState,
    READ, RELIABLE, REMOTE_READ, REMOTE_WRITE, ReceiveRequest, RequestPart, SEND, SendRequest, VerbsChannel,
    VerbsContext, VerbsDomain, VerbsQueue, VerbsQueuePair, VerbsRegion, WRITE, WorkCompletion,
};
use super::manager::{ConnectionManager, ENDLESS_RETRIES, RdmaError, RdmaLibraries};
use super::message::{MESSAGE_BYTES, MOST_REGIONS, RdmaMessage, RdmaVerb, RemoteRegion};
use ferrio_sys::Errno;
use ferrio_sys::arena::{Arena, Region};
use std::cell::{RefCell, UnsafeCell};
use std::collections::VecDeque;
use std::ffi::{CStr, c_int};
use std::os::fd::BorrowedFd;
use std::ptr;
use std::rc::Rc;

/// `poll_cq` of a device: queue, room, completions.
pub(super) type PollCall = unsafe extern "C" fn(*mut VerbsQueue, c_int, *mut WorkCompletion) -> c_int;

/// `req_notify_cq`: queue, whether only marked completions count.
pub(super) type NotifyCall = unsafe extern "C" fn(*mut VerbsQueue, c_int) -> c_int;

/// `post_send`: queue pair, requests, the first that is refused.
pub(super) type SendCall = unsafe extern "C" fn(*mut VerbsQueuePair, *mut SendRequest, *mut *mut SendRequest) -> c_int;

/// `post_recv`.
pub(super) type ReceiveCall =
    unsafe extern "C" fn(*mut VerbsQueuePair, *mut ReceiveRequest, *mut *mut ReceiveRequest) -> c_int;

/// Identity of the request that sends a message; those of data are below.
pub(super) const MESSAGE_SENT: u64 = MOST_REGIONS as u64;

/// Identity of the request that receives one.
pub(super) const MESSAGE_RECEIVED: u64 = MESSAGE_SENT + 1;

#[derive(Debug, Clone, Copy)]
pub(super) struct DataRequest {
    pub(super) slot: u32,
    pub(super) kind: RdmaWork,
    pub(super) region: Region,
}

/// What a request for data does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RdmaWork {
    Write(RemoteRegion),
    Read(RemoteRegion),
    Send,
    Receive,
}

/// What the other end may do with the buffers of this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemoteRight {
    Nothing,
    Of(RdmaVerb),
}

/// Memory for a message, which the device reads or writes.
struct MessageBuffer {
    bytes: Box<UnsafeCell<[u8; MESSAGE_BYTES]>>,
    region: *mut VerbsRegion,
}

/// Both queues of an end of a connection, and the memory that it uses.
pub(super) struct QueuePair {
    libraries: RdmaLibraries,
    domain: *mut VerbsDomain,
    channel: *mut VerbsChannel,
    queue: *mut VerbsQueue,
    pair: *mut VerbsQueuePair,
    /// The connection of a server, which owns the queue pair; null: nobody else does. It outlives the queue pair.
    owner: *mut CmId,
    context: *mut VerbsContext,
    /// Messages from the other end, and to it.
    messages: Vec<MessageBuffer>,
    arena: Rc<RefCell<Arena>>,
    data: *mut VerbsRegion,
    parts: Vec<RequestPart>,
    sends: Vec<SendRequest>,
    n_unacknowledged: u32,
}

impl QueuePair {
    /// A queue pair for a connection with room for this many requests for data in flight. That of a server belongs to the connection,
    /// which changes its states; the caller changes those of another one by [`QueuePair::be_ready`].
    pub(super) fn new(
        libraries: RdmaLibraries,
        manager: &ConnectionManager,
        (depth, is_server): (usize, bool),
        arena: &Rc<RefCell<Arena>>,
    ) -> Result<Self, RdmaError> {
        let id = manager.id();
        if id.is_null() {
            return Err(RdmaError { call: "rdma_create_qp", errno: Errno::NOTCONN });
        }
        // SAFETY: the connection is valid, and the library has bound it to a device.
        let context = unsafe { (*id).verbs };
        if context.is_null() {
            return Err(RdmaError { call: "rdma_create_qp", errno: Errno::NODEV });
        }
        let mut pair = Self {
            libraries,
            domain: ptr::null_mut(),
            channel: ptr::null_mut(),
            queue: ptr::null_mut(),
            pair: ptr::null_mut(),
            owner: ptr::null_mut(),
            context,
            messages: Vec::new(),
            arena: Rc::clone(arena),
            data: ptr::null_mut(),
            parts: Vec::with_capacity(depth),
            sends: Vec::with_capacity(depth),
            n_unacknowledged: 0,
        };
        pair.make_queue(depth)?;
        pair.make_pair(id, depth, is_server)?;
        for _ in 0..2 {
            let bytes = Box::new(UnsafeCell::new([0; MESSAGE_BYTES]));
            let region = pair.register(bytes.get().cast(), MESSAGE_BYTES, LOCAL_WRITE)?;
            pair.messages.push(MessageBuffer { bytes, region });
        }
        Ok(pair)
    }

    fn make_queue(&mut self, depth: usize) -> Result<(), RdmaError> {
        let verbs = self.libraries.verbs;
        // SAFETY: the device of a connection stays open as long as the library does.
        self.domain = unsafe { (verbs.ibv_alloc_pd)(self.context) };
        if self.domain.is_null() {
            return Err(RdmaError::last("ibv_alloc_pd"));
        }
        // SAFETY: as above.
        self.channel = unsafe { (verbs.ibv_create_comp_channel)(self.context) };
        if self.channel.is_null() {
            return Err(RdmaError::last("ibv_create_comp_channel"));
        }
        // SAFETY: the descriptor is that of the channel.
        if unsafe { libc::fcntl((*self.channel).fd, libc::F_SETFL, libc::O_NONBLOCK) } < 0 {
            return Err(RdmaError::last("fcntl"));
        }
        // Each request has one completion.
        let room = 2 * (depth + 1);
        // SAFETY: device and channel are valid.
        self.queue = unsafe { (verbs.ibv_create_cq)(self.context, room as c_int, ptr::null_mut(), self.channel, 0) };
        if self.queue.is_null() { Err(RdmaError::last("ibv_create_cq")) } else { Ok(()) }
    }

    fn make_pair(&mut self, id: *mut CmId, depth: usize, is_server: bool) -> Result<(), RdmaError> {
        let n_requests = depth as u32 + 1;
        let mut request = QueuePairRequest {
            qp_context: ptr::null_mut(),
            send_cq: self.queue,
            recv_cq: self.queue,
            srq: ptr::null_mut(),
            max_send_requests: n_requests,
            max_receive_requests: n_requests,
            max_send_parts: 1,
            max_receive_parts: 1,
            max_inline_bytes: 0,
            qp_type: RELIABLE,
            signals_all: 0,
        };
        if is_server {
            // SAFETY: connection and domain are valid, the request lives during the call.
            let made = unsafe { (self.libraries.cm.rdma_create_qp)(id, self.domain, &raw mut request) };
            RdmaError::check("rdma_create_qp", made)?;
            // SAFETY: the connection is valid, and the call has put the queue pair there.
            self.pair = unsafe { (*id).qp };
            self.owner = id;
            return Ok(());
        }
        // SAFETY: the domain is valid, the request lives during the call.
        self.pair = unsafe { (self.libraries.verbs.ibv_create_qp)(self.domain, &raw mut request) };
        if self.pair.is_null() {
            return Err(RdmaError::last("ibv_create_qp"));
        }
        self.change(id, QP_INIT)
    }

    /// Brings the queue pair into a state, with the values that the connection has for it.
    fn change(&mut self, id: *mut CmId, state: u32) -> Result<(), RdmaError> {
        let (mut wish, mut mask) = (QueuePairState::new(state), 0);
        // SAFETY: the connection is valid, the results have places.
        let found = unsafe { (self.libraries.cm.rdma_init_qp_attr)(id, &raw mut wish, &raw mut mask) };
        RdmaError::check("rdma_init_qp_attr", found)?;
        if mask & HAS_RNR_RETRY != 0 {
            // Servers of fio ask for no attempt; then a send fails that comes a moment before its buffer.
            wish.rnr_retry = ENDLESS_RETRIES;
        }
        // SAFETY: the queue pair is valid, the wish lives during the call.
        let changed = unsafe { (self.libraries.verbs.ibv_modify_qp)(self.pair, &raw mut wish, mask) };
        RdmaError::check("ibv_modify_qp", changed)
    }

    /// Makes the queue pair of a client ready, when the server has accepted.
    pub(super) fn be_ready(&mut self, manager: &ConnectionManager) -> Result<(), RdmaError> {
        self.change(manager.id(), QP_RECEIVES)?;
        self.change(manager.id(), QP_SENDS)
    }

    /// Lets the other end wait for a short time when there is no buffer for what it sends, instead of 655 milliseconds. For the queue pair
    /// of a server, when it has accepted.
    pub(super) fn be_quick(&mut self) -> Result<(), RdmaError> {
        let mut wish = QueuePairState::new(QP_SENDS);
        wish.min_rnr_timer = SHORT_WAIT;
        // SAFETY: the queue pair is valid, the wish lives during the call.
        let changed = unsafe { (self.libraries.verbs.ibv_modify_qp)(self.pair, &raw mut wish, HAS_RNR_TIMER) };
        RdmaError::check("ibv_modify_qp", changed)
    }

    /// The number by which the other end knows the queue pair.
    pub(super) fn number(&self) -> u32 {
        // SAFETY: the queue pair is valid.
        unsafe { (*self.pair).qp_num }
    }

    fn register(&self, address: *mut u8, n_bytes: usize, rights: c_int) -> Result<*mut VerbsRegion, RdmaError> {
        // SAFETY: the domain is valid; who registers memory keeps it until the queue pair is gone.
        let region = unsafe { (self.libraries.verbs.ibv_reg_mr)(self.domain, address.cast(), n_bytes, rights) };
        if region.is_null() { Err(RdmaError::last("ibv_reg_mr")) } else { Ok(region) }
    }

    /// Registers the buffers of the job.
    pub(super) fn register_data(&mut self, right: RemoteRight) -> Result<(), RdmaError> {
        let rights = LOCAL_WRITE
            | match right {
                RemoteRight::Of(RdmaVerb::Write) => REMOTE_WRITE,
                RemoteRight::Of(RdmaVerb::Read) => REMOTE_READ,
                RemoteRight::Nothing | RemoteRight::Of(RdmaVerb::Send) => 0,
            };
        let whole = self.arena.borrow().whole();
        self.data = self.register(whole.as_ptr(), whole.len(), rights)?;
        Ok(())
    }

    /// The registered buffers in as many regions as the other end is told.
    pub(super) fn told_regions(&self, n_regions: usize, block_bytes: usize) -> Vec<RemoteRegion> {
        let whole = self.arena.borrow().whole();
        // SAFETY: the region is valid, if there is one.
        let key = if self.data.is_null() { 0 } else { unsafe { (*self.data).rkey } };
        let n_fitting = whole.len().checked_div(block_bytes).unwrap_or(0).min(n_regions).min(MOST_REGIONS);
        let region = |index: usize| RemoteRegion {
            address: whole.part(index * block_bytes, block_bytes).as_ptr() as u64,
            key,
            n_bytes: block_bytes as u32,
        };
        (0..n_fitting).map(region).collect()
    }

    /// Gives the device a buffer for the next message.
    pub(super) fn await_message(&mut self) -> Result<(), RdmaError> {
        let buffer = &self.messages[0];
        let mut part = part_of(buffer.bytes.get().cast(), MESSAGE_BYTES, buffer.region);
        self.post_receive(MESSAGE_RECEIVED, &mut part)
    }

    pub(super) fn send_message(&mut self, message: &RdmaMessage) -> Result<(), RdmaError> {
        let buffer = &self.messages[1];
        // SAFETY: the device does not use the buffer: a message is sent when the one before has been.
        message.encode(unsafe { &mut *buffer.bytes.get() });
        let mut part = part_of(buffer.bytes.get().cast(), MESSAGE_BYTES, buffer.region);
        let mut request = SendRequest::new(MESSAGE_SENT, SEND, &raw mut part);
        self.post_sends(&raw mut request)
    }

    /// The message that has come with so many bytes.
    pub(super) fn message(&self, n_bytes: u32) -> Result<RdmaMessage, String> {
        // SAFETY: the device has filled the buffer and does not use it until it is given to it again, which needs `&mut self`.
        let bytes: &[u8; MESSAGE_BYTES] = unsafe { &*self.messages[0].bytes.get() };
        RdmaMessage::decode(bytes.get(..n_bytes as usize).unwrap_or_default())
    }

    fn post_receive(&mut self, id: u64, part: &mut RequestPart) -> Result<(), RdmaError> {
        let mut request = ReceiveRequest { id, next: ptr::null_mut(), parts: part, n_parts: 1 };
        let mut refused = ptr::null_mut();
        // SAFETY: the queue pair is valid, the request lives during the call, and the memory as long as the queue pair.
        let posted = unsafe { ((*self.context).post_recv)(self.pair, &raw mut request, &raw mut refused) };
        RdmaError::check("ibv_post_recv", posted)
    }

    fn post_sends(&mut self, first: *mut SendRequest) -> Result<(), RdmaError> {
        let mut refused = ptr::null_mut();
        // SAFETY: the queue pair is valid, the requests live during the call, and the memory as long as the queue pair.
        let posted = unsafe { ((*self.context).post_send)(self.pair, first, &raw mut refused) };
        RdmaError::check("ibv_post_send", posted)
    }

    /// Hands requests for data to the device, at most as many as the depth. The data lies in the registered buffers.
    pub(super) fn post(&mut self, requests: &[DataRequest]) -> Result<(), RdmaError> {
        let requests = &requests[..requests.len().min(self.parts.capacity())];
        self.parts.clear();
        self.sends.clear();
        for request in requests {
            let mut part = part_of(request.region.as_ptr(), request.region.len(), self.data);
            let id = u64::from(request.slot);
            let (opcode, remote) = match request.kind {
                RdmaWork::Write(remote) => (WRITE, Some(remote)),
                RdmaWork::Read(remote) => (READ, Some(remote)),
                RdmaWork::Send => (SEND, None),
                RdmaWork::Receive => {
                    self.post_receive(id, &mut part)?;
                    continue;
                }
            };
            // Neither list grows beyond its capacity, so that the addresses of their elements stay.
            self.parts.push(part);
            let mut send = SendRequest::new(id, opcode, self.parts.last_mut().map_or(ptr::null_mut(), |part| part));
            if let Some(remote) = remote {
                (send.remote_address, send.rkey) = (remote.address, remote.key);
            }
            self.sends.push(send);
        }
        if self.sends.is_empty() {
            return Ok(());
        }
        let first = self.sends.as_mut_ptr();
        for index in 1..self.sends.len() {
            // SAFETY: both elements are in the list.
            unsafe { (*first.add(index - 1)).next = first.add(index) };
        }
        self.post_sends(first)
    }

    /// Takes completions, as many as there is room for.
    pub(super) fn take_completions(&mut self, done: &mut VecDeque<WorkCompletion>) -> Result<usize, RdmaError> {
        let mut found = [WorkCompletion::default(); 16];
        let n_most = (done.capacity() - done.len()).min(found.len());
        // SAFETY: the queue is valid, and there is a place for each completion.
        let n_found = unsafe { ((*self.context).poll_cq)(self.queue, n_most as c_int, found.as_mut_ptr()) };
        let Ok(n_found) = usize::try_from(n_found) else { return Err(RdmaError::of("ibv_poll_cq", n_found)) };
        done.extend(&found[..n_found.min(n_most)]);
        Ok(n_found)
    }

    /// Makes the descriptor readable with the next completion.
    pub(super) fn arm(&mut self) -> Result<(), RdmaError> {
        // SAFETY: the queue is valid.
        RdmaError::check("ibv_req_notify_cq", unsafe { ((*self.context).req_notify_cq)(self.queue, 0) })
    }

    /// Forgets that the descriptor is readable.
    pub(super) fn take_wake(&mut self) {
        let (mut queue, mut context) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the channel is valid and does not block, the results have places.
        let taken = unsafe { (self.libraries.verbs.ibv_get_cq_event)(self.channel, &raw mut queue, &raw mut context) };
        if taken == 0 {
            self.n_unacknowledged += 1;
            if self.n_unacknowledged >= ACKNOWLEDGED_AT_ONCE {
                self.acknowledge();
            }
        }
    }

    /// Wakes cost a lock when they are acknowledged, so many are at once.
    fn acknowledge(&mut self) {
        let n_wakes = std::mem::take(&mut self.n_unacknowledged);
        if n_wakes > 0 {
            // SAFETY: the queue is valid, and has given so many.
            unsafe { (self.libraries.verbs.ibv_ack_cq_events)(self.queue, n_wakes) };
        }
    }

    /// Can be read after [`QueuePair::arm`] when there is a completion.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is open as long as the channel is.
        unsafe { BorrowedFd::borrow_raw((*self.channel).fd) }
    }
}

pub(super) fn status_words(libraries: RdmaLibraries, status: u32) -> String {
    // SAFETY: the call takes any number and returns a text that is never freed.
    let words = unsafe { (libraries.verbs.ibv_wc_status_str)(status) };
    if words.is_null() {
        return String::new();
    }
    // SAFETY: the text is a string of C.
    unsafe { CStr::from_ptr(words) }.to_string_lossy().into_owned()
}

/// 0.12 milliseconds, in the code of `InfiniBand`.
const SHORT_WAIT: u8 = 7;

const ACKNOWLEDGED_AT_ONCE: u32 = 64;

fn part_of(address: *mut u8, n_bytes: usize, region: *mut VerbsRegion) -> RequestPart {
    // SAFETY: the region is valid, if there is one.
    let lkey = if region.is_null() { 0 } else { unsafe { (*region).lkey } };
    RequestPart { address: address as u64, n_bytes: n_bytes as u32, lkey }
}

impl Drop for QueuePair {
    fn drop(&mut self) {
        let verbs = self.libraries.verbs;
        self.acknowledge();
        // With the queue pair ends what the device does with the memory.
        let is_stopped = if self.pair.is_null() {
            true
        } else if self.owner.is_null() {
            // SAFETY: the queue pair is valid, and is not used later.
            unsafe { (verbs.ibv_destroy_qp)(self.pair) == 0 }
        } else {
            // SAFETY: the same, and the connection is still there.
            unsafe {
                (self.libraries.cm.rdma_destroy_qp)(self.owner);
                (*self.owner).qp.is_null()
            }
        };
        let messages = std::mem::take(&mut self.messages);
        for region in messages.iter().map(|buffer| buffer.region).chain([self.data]) {
            if !region.is_null() {
                // SAFETY: the region is valid, and is not used later.
                unsafe { (verbs.ibv_dereg_mr)(region) };
            }
        }
        if !is_stopped {
            // The device may still use the memory, which is never freed then.
            std::mem::forget(messages);
            std::mem::forget(Rc::clone(&self.arena));
        }
        // SAFETY: each is valid if it is there, nothing uses it any more, and it is not used later.
        unsafe {
            if !self.queue.is_null() {
                (verbs.ibv_destroy_cq)(self.queue);
            }
            if !self.channel.is_null() {
                (verbs.ibv_destroy_comp_channel)(self.channel);
            }
            if !self.domain.is_null() {
                (verbs.ibv_dealloc_pd)(self.domain);
            }
        }
    }
}
