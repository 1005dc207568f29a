//! The connection manager of librdmacm with a safe interface: addresses, requests to connect, events.
//!
//! Must not know: data, messages. Start reading at [`ConnectionManager::listen`] and [`ConnectionManager::resolve`].
#![expect(unsafe_code, reason = "functions of a C library")]

use super::library::{CmChannel, CmEvent, CmId, CmParameters, Libibverbs, Librdmacm, PORTS_OF_TCP};
use ferrio_sys::Errno;
use std::net::SocketAddr;
use std::os::fd::BorrowedFd;
use std::ptr;

/// Both libraries.
#[derive(Debug, Clone, Copy)]
pub(super) struct RdmaLibraries {
    pub(super) cm: &'static Librdmacm,
    pub(super) verbs: &'static Libibverbs,
}

impl RdmaLibraries {
    pub(super) fn get() -> ferrio_sys::Result<Self> {
        Ok(Self { cm: Librdmacm::get()?, verbs: Libibverbs::get()? })
    }
}

/// A call of a library that has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RdmaError {
    pub(super) call: &'static str,
    pub(super) errno: Errno,
}

impl RdmaError {
    /// The error of the call that this thread has just made.
    pub(super) fn last(call: &'static str) -> Self {
        let errno = std::io::Error::last_os_error().raw_os_error().filter(|errno| *errno > 0);
        Self { call, errno: Errno::from_raw_os_error(errno.unwrap_or(libc::EIO)) }
    }

    pub(super) fn of(call: &'static str, returned: i32) -> Self {
        match returned.checked_abs() {
            Some(errno @ 2..=4095) => Self { call, errno: Errno::from_raw_os_error(errno) },
            _ => Self::last(call),
        }
    }

    /// An error if a call has not returned 0.
    pub(super) fn check(call: &'static str, returned: i32) -> Result<(), Self> {
        match returned {
            0 => Ok(()),
            -1 => Err(Self::last(call)),
            returned => Err(Self::of(call, returned)),
        }
    }
}

/// What an event says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CmNews {
    AddressResolved,
    RouteResolved,
    /// A client asks to connect.
    Request,
    /// The server has accepted.
    Response,
    Established,
    Disconnected,
    /// A step has failed: the name of the event, and its status.
    Failed(&'static str, i32),
    /// Of no interest.
    Other,
}

/// Milliseconds for a step of the resolution of an address.
const RESOLUTION_MS: i32 = 5_000;

/// Attempts to send again what is not acknowledged, the most there are.
const RETRIES: u8 = 7;

/// Attempts to send again what the other end has no buffer for: without an end.
pub(super) const ENDLESS_RETRIES: u8 = 7;

/// A connection to be made, or made, and the channel of its events.
pub(super) struct ConnectionManager {
    libraries: RdmaLibraries,
    channel: *mut CmChannel,
    /// The connection; null: none yet.
    id: *mut CmId,
    /// What listens; null: nothing.
    listener: *mut CmId,
}

impl ConnectionManager {
    /// A channel without a connection. The error is the one that a host without RDMA devices gives.
    fn new(libraries: RdmaLibraries) -> Result<Self, RdmaError> {
        // SAFETY: the call has no conditions.
        let channel = unsafe { (libraries.cm.rdma_create_event_channel)() };
        if channel.is_null() {
            return Err(RdmaError::last("rdma_create_event_channel"));
        }
        let manager = Self { libraries, channel, id: ptr::null_mut(), listener: ptr::null_mut() };
        // SAFETY: the descriptor is that of the channel.
        let set = unsafe { libc::fcntl((*channel).fd, libc::F_SETFL, libc::O_NONBLOCK) };
        if set < 0 { Err(RdmaError::last("fcntl")) } else { Ok(manager) }
    }

    fn new_id(&self) -> Result<*mut CmId, RdmaError> {
        let mut id = ptr::null_mut();
        // SAFETY: the channel is valid, and the result has a place.
        let created =
            unsafe { (self.libraries.cm.rdma_create_id)(self.channel, &raw mut id, ptr::null_mut(), PORTS_OF_TCP) };
        RdmaError::check("rdma_create_id", created).map(|()| id)
    }

    pub(super) fn listen(libraries: RdmaLibraries, at: SocketAddr) -> Result<Self, RdmaError> {
        let mut manager = Self::new(libraries)?;
        manager.listener = manager.new_id()?;
        let mut address = RawAddress::of(at);
        // SAFETY: the connection is valid, the address lives during the call.
        let bound = unsafe { (libraries.cm.rdma_bind_addr)(manager.listener, address.as_mut_ptr()) };
        RdmaError::check("rdma_bind_addr", bound)?;
        // SAFETY: the connection is valid.
        let listens = unsafe { (libraries.cm.rdma_listen)(manager.listener, 3) };
        RdmaError::check("rdma_listen", listens).map(|()| manager)
    }

    /// Begins to resolve the address of a server; [`CmNews::AddressResolved`] follows.
    pub(super) fn resolve(
        libraries: RdmaLibraries,
        from: Option<SocketAddr>,
        to: SocketAddr,
    ) -> Result<Self, RdmaError> {
        let mut manager = Self::new(libraries)?;
        manager.id = manager.new_id()?;
        let (mut from, mut to) = (from.map(RawAddress::of), RawAddress::of(to));
        let from = from.as_mut().map_or(ptr::null_mut(), RawAddress::as_mut_ptr);
        // SAFETY: the connection is valid, the addresses live during the call.
        let begun = unsafe { (libraries.cm.rdma_resolve_addr)(manager.id, from, to.as_mut_ptr(), RESOLUTION_MS) };
        RdmaError::check("rdma_resolve_addr", begun).map(|()| manager)
    }

    /// Begins to resolve the route; [`CmNews::RouteResolved`] follows.
    pub(super) fn resolve_route(&mut self) -> Result<(), RdmaError> {
        // SAFETY: the connection is valid.
        let begun = unsafe { (self.libraries.cm.rdma_resolve_route)(self.id, RESOLUTION_MS) };
        RdmaError::check("rdma_resolve_route", begun)
    }

    /// Asks a server to connect with a queue pair of this number; [`CmNews::Response`] follows.
    pub(super) fn connect(&mut self, qp_num: u32) -> Result<(), RdmaError> {
        let mut parameters = parameters(qp_num);
        // SAFETY: the connection is valid, the parameters live during the call.
        let begun = unsafe { (self.libraries.cm.rdma_connect)(self.id, &raw mut parameters) };
        RdmaError::check("rdma_connect", begun)
    }

    /// Ends the making of a connection, after [`CmNews::Response`].
    pub(super) fn establish(&mut self) -> Result<(), RdmaError> {
        // SAFETY: the connection is valid.
        let established = unsafe { (self.libraries.cm.rdma_establish)(self.id) };
        RdmaError::check("rdma_establish", established)
    }

    /// Accepts the client that has asked to connect; [`CmNews::Established`] follows. Nobody else can connect from now on.
    pub(super) fn accept(&mut self) -> Result<(), RdmaError> {
        let mut parameters = parameters(0);
        // SAFETY: the connection is valid, the parameters live during the call.
        let begun = unsafe { (self.libraries.cm.rdma_accept)(self.id, &raw mut parameters) };
        RdmaError::check("rdma_accept", begun)?;
        let listener = std::mem::replace(&mut self.listener, ptr::null_mut());
        if !listener.is_null() {
            // SAFETY: the listener is valid, none of its events is unacknowledged, and it is not used later.
            unsafe { (self.libraries.cm.rdma_destroy_id)(listener) };
        }
        Ok(())
    }

    /// Says to the other end that the connection ends. One that is gone already is no error.
    pub(super) fn disconnect(&mut self) {
        if !self.id.is_null() {
            // SAFETY: the connection is valid.
            unsafe { (self.libraries.cm.rdma_disconnect)(self.id) };
        }
    }

    /// The next event, if there is one.
    pub(super) fn next_event(&mut self) -> Result<Option<CmNews>, RdmaError> {
        let mut event: *mut CmEvent = ptr::null_mut();
        // SAFETY: the channel is valid and does not block, and the result has a place.
        if unsafe { (self.libraries.cm.rdma_get_cm_event)(self.channel, &raw mut event) } != 0 {
            let error = RdmaError::last("rdma_get_cm_event");
            return if matches!(error.errno, Errno::AGAIN | Errno::INTR) { Ok(None) } else { Err(error) };
        }
        // SAFETY: the library has filled the event, which lives until it is acknowledged.
        let (number, status, id) = unsafe { ((*event).event, (*event).status, (*event).id) };
        // SAFETY: the event is valid, and is not used later.
        unsafe { (self.libraries.cm.rdma_ack_cm_event)(event) };
        let news = news(number, status);
        if news == CmNews::Request {
            if !self.id.is_null() {
                // One client is enough. SAFETY: the library has made this connection for the event, and nobody else knows it.
                unsafe { (self.libraries.cm.rdma_destroy_id)(id) };
                return Ok(Some(CmNews::Other));
            }
            self.id = id;
        }
        Ok(Some(news))
    }

    /// Can be read when there is an event.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the descriptor is open as long as the channel is.
        unsafe { BorrowedFd::borrow_raw((*self.channel).fd) }
    }

    /// The connection, null if there is none. It is valid as long as this is.
    pub(super) fn id(&self) -> *mut CmId {
        self.id
    }
}

impl Drop for ConnectionManager {
    fn drop(&mut self) {
        for id in [self.id, self.listener] {
            if !id.is_null() {
                // SAFETY: the connection is valid, its events are acknowledged, and it is not used later.
                unsafe { (self.libraries.cm.rdma_destroy_id)(id) };
            }
        }
        // SAFETY: the channel is valid, has no connections any more, and is not used later.
        unsafe { (self.libraries.cm.rdma_destroy_event_channel)(self.channel) };
    }
}

fn parameters(qp_num: u32) -> CmParameters {
    CmParameters {
        private_data: ptr::null(),
        private_data_bytes: 0,
        // As fio: one RDMA read at a time.
        responder_resources: 1,
        initiator_depth: 1,
        flow_control: 0,
        retry_count: RETRIES,
        rnr_retry_count: ENDLESS_RETRIES,
        srq: 0,
        qp_num,
    }
}

/// The meaning of an event's number, as in `enum rdma_cm_event_type`.
fn news(number: u32, status: i32) -> CmNews {
    match number {
        0 => CmNews::AddressResolved,
        1 => CmNews::Failed("RDMA_CM_EVENT_ADDR_ERROR", status),
        2 => CmNews::RouteResolved,
        3 => CmNews::Failed("RDMA_CM_EVENT_ROUTE_ERROR", status),
        4 => CmNews::Request,
        5 => CmNews::Response,
        6 => CmNews::Failed("RDMA_CM_EVENT_CONNECT_ERROR", status),
        7 => CmNews::Failed("RDMA_CM_EVENT_UNREACHABLE", status),
        8 => CmNews::Failed("RDMA_CM_EVENT_REJECTED", status),
        9 => CmNews::Established,
        10 => CmNews::Disconnected,
        11 => CmNews::Failed("RDMA_CM_EVENT_DEVICE_REMOVAL", status),
        _ => CmNews::Other,
    }
}

/// An address in the form of the kernel.
struct RawAddress(libc::sockaddr_storage);

impl RawAddress {
    fn of(address: SocketAddr) -> Self {
        // SAFETY: all zeroes are an address of no family.
        let mut raw: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
        let place = &raw mut raw;
        match address {
            SocketAddr::V4(address) => {
                let address = libc::sockaddr_in {
                    sin_family: libc::AF_INET as libc::sa_family_t,
                    sin_port: address.port().to_be(),
                    sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.ip().octets()) },
                    sin_zero: [0; 8],
                };
                // SAFETY: the storage has room for any address, and is aligned for it.
                unsafe { place.cast::<libc::sockaddr_in>().write(address) };
            }
            SocketAddr::V6(address) => {
                let address = libc::sockaddr_in6 {
                    sin6_family: libc::AF_INET6 as libc::sa_family_t,
                    sin6_port: address.port().to_be(),
                    sin6_flowinfo: address.flowinfo(),
                    sin6_addr: libc::in6_addr { s6_addr: address.ip().octets() },
                    sin6_scope_id: address.scope_id(),
                };
                // SAFETY: as above.
                unsafe { place.cast::<libc::sockaddr_in6>().write(address) };
            }
        }
        Self(raw)
    }

    fn as_mut_ptr(&mut self) -> *mut libc::sockaddr {
        (&raw mut self.0).cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_the_form_of_the_kernel() {
        let raw = RawAddress::of("10.9.9.1:7001".parse().unwrap()).0;
        assert_eq!(raw.ss_family, libc::AF_INET as libc::sa_family_t);
        // SAFETY: any bytes can be read.
        let bytes = unsafe { std::slice::from_raw_parts((&raw const raw).cast::<u8>(), 8) };
        assert_eq!(&bytes[2..], [0x1b, 0x59, 10, 9, 9, 1]);
        let raw = RawAddress::of("[::1]:7001".parse().unwrap()).0;
        assert_eq!(raw.ss_family, libc::AF_INET6 as libc::sa_family_t);
    }

    #[test]
    fn errors_have_the_errno_of_their_call() {
        assert_eq!(RdmaError::check("a", 0), Ok(()));
        assert_eq!(RdmaError::check("a", libc::ENOMEM), Err(RdmaError { call: "a", errno: Errno::NOMEM }));
        assert_eq!(RdmaError::of("a", -libc::ENODEV).errno, Errno::NODEV);
    }

    #[test]
    fn an_event_that_is_not_known_is_of_no_interest() {
        assert_eq!(news(10, 0), CmNews::Disconnected);
        assert_eq!(news(8, 28), CmNews::Failed("RDMA_CM_EVENT_REJECTED", 28));
        assert_eq!(news(99, 0), CmNews::Other);
    }
}
