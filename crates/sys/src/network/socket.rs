//! Sockets: TCP, UDP, Unix and VM sockets behind one type, each call one system call.
//!
//! No call waits for longer than [`Socket::wait_at_most`] says; then it gives `EAGAIN` (`connect` `EINPROGRESS`, and `EALREADY` when
//! it is asked again).
//! Must not know: the ends and their data. Start reading at [`Socket`].
#![expect(unsafe_code, reason = "addresses of VM sockets and the segment size are not in rustix")]

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::addr::{SocketAddrArg, SocketAddrLen, SocketAddrOpaque};
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType,
    netdevice,
};
use std::io::IoSlice;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

/// Connections that wait to be accepted.
const BACKLOG: i32 = 10;

/// Any listener of this machine, for VM sockets.
const ANY_CID: u32 = libc::VMADDR_CID_ANY;

/// Kinds of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// IPv4.
    Inet,
    /// IPv6.
    Inet6,
    Unix,
    /// A virtual machine or its host.
    Vsock,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address(SocketAddrAny);

impl Address {
    /// Host and port.
    pub fn of_internet(address: SocketAddr) -> Self {
        Self(address.as_any())
    }

    pub fn port(&self) -> Option<u16> {
        SocketAddr::try_from(self.0.clone()).ok().map(|address| address.port())
    }

    /// The address of a path; `ENAMETOOLONG` and `EINVAL` for impossible paths.
    pub fn of_path(path: &Path) -> Result<Self, Errno> {
        SocketAddrUnix::new(path).map(|address| Self(address.as_any()))
    }

    /// A virtual machine, by its number, and a port; `None`: any machine (to listen).
    pub fn of_machine(cid: Option<u32>, port: u32) -> Self {
        Self(MachineAddress { cid: cid.unwrap_or(ANY_CID), port }.as_any())
    }
}

/// An address of a VM socket.
struct MachineAddress {
    cid: u32,
    port: u32,
}

// SAFETY: the pointer is that of an initialised `sockaddr_vm`, which lives until the call is over.
unsafe impl SocketAddrArg for MachineAddress {
    unsafe fn with_sockaddr<R>(&self, call: impl FnOnce(*const SocketAddrOpaque, SocketAddrLen) -> R) -> R {
        let address = libc::sockaddr_vm {
            svm_family: libc::AF_VSOCK as libc::sa_family_t,
            svm_reserved1: 0,
            svm_port: self.port,
            svm_cid: self.cid,
            svm_zero: [0; 4],
        };
        call((&raw const address).cast(), size_of::<libc::sockaddr_vm>() as SocketAddrLen)
    }
}

#[derive(Debug)]
pub struct Socket(OwnedFd);

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Socket {
    /// A socket for a connection, or for datagrams.
    pub fn new(family: Family, is_stream: bool) -> Result<Self, Errno> {
        let family = match family {
            Family::Inet => AddressFamily::INET,
            Family::Inet6 => AddressFamily::INET6,
            Family::Unix => AddressFamily::UNIX,
            Family::Vsock => AddressFamily::VSOCK,
        };
        let kind = if is_stream { SocketType::STREAM } else { SocketType::DGRAM };
        rustix::net::socket_with(family, kind, SocketFlags::CLOEXEC, None).map(Self)
    }

    /// No call waits for longer.
    pub fn wait_at_most(&self, limit: Duration) -> Result<(), Errno> {
        sockopt::set_socket_timeout(&self.0, Timeout::Recv, Some(limit))?;
        sockopt::set_socket_timeout(&self.0, Timeout::Send, Some(limit))
    }

    /// Allows other sockets with the same setting to use the address too; `with_port`: also the port of an internet
    /// address.
    pub fn share_address(&self, with_port: bool) -> Result<(), Errno> {
        sockopt::set_socket_reuseaddr(&self.0, true)?;
        if with_port { sockopt::set_socket_reuseport(&self.0, true) } else { Ok(()) }
    }

    /// `SO_SNDBUF`.
    pub fn set_send_buffer(&self, n_bytes: usize) -> Result<(), Errno> {
        sockopt::set_socket_send_buffer_size(&self.0, n_bytes)
    }

    /// `SO_RCVBUF`.
    pub fn set_receive_buffer(&self, n_bytes: usize) -> Result<(), Errno> {
        sockopt::set_socket_recv_buffer_size(&self.0, n_bytes)
    }

    /// `TCP_NODELAY`.
    pub fn set_nodelay(&self) -> Result<(), Errno> {
        sockopt::set_tcp_nodelay(&self.0, true)
    }

    /// `TCP_MAXSEG`.
    pub fn set_max_segment(&self, n_bytes: i32) -> Result<(), Errno> {
        // SAFETY: the pointer and length are those of an integer that lives until the call is over.
        let result = unsafe {
            libc::setsockopt(
                self.0.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_MAXSEG,
                (&raw const n_bytes).cast(),
                size_of::<i32>() as libc::socklen_t,
            )
        };
        if result == 0 {
            return Ok(());
        }
        Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL))
    }

    /// Receives data sent to a multicast group, on the interface of an address, or on that of the route.
    pub fn join(&self, group: Ipv4Addr, interface: Option<Ipv4Addr>) -> Result<(), Errno> {
        sockopt::set_ip_add_membership(&self.0, &group, &interface.unwrap_or(Ipv4Addr::UNSPECIFIED))
    }

    /// Receives data sent to a multicast group, on an interface, or on that of the route (0).
    pub fn join_v6(&self, group: Ipv6Addr, interface: u32) -> Result<(), Errno> {
        sockopt::set_ipv6_add_membership(&self.0, &group, interface)
    }

    /// Sends to groups by the interface of an address.
    pub fn send_to_groups_by(&self, interface: Ipv4Addr) -> Result<(), Errno> {
        sockopt::set_ip_multicast_if(&self.0, &interface)
    }

    pub fn send_to_groups_by_v6(&self, interface: u32) -> Result<(), Errno> {
        sockopt::set_ipv6_multicast_if(&self.0, interface)
    }

    /// Number of routers that data sent to groups may pass.
    pub fn set_group_hops(&self, n_hops: u32, family: Family) -> Result<(), Errno> {
        if family == Family::Inet6 {
            return sockopt::set_ipv6_multicast_hops(&self.0, n_hops);
        }
        sockopt::set_ip_multicast_ttl(&self.0, n_hops)
    }

    pub fn interface_index(&self, name: &str) -> Result<u32, Errno> {
        netdevice::name_to_index(&self.0, name)
    }

    pub fn bind(&self, address: &Address) -> Result<(), Errno> {
        rustix::net::bind(&self.0, &address.0)
    }

    pub fn listen(&self) -> Result<(), Errno> {
        rustix::net::listen(&self.0, BACKLOG)
    }

    pub fn accept(&self) -> Result<Self, Errno> {
        rustix::net::accept_with(&self.0, SocketFlags::CLOEXEC).map(Self)
    }

    pub fn connect(&self, address: &Address) -> Result<(), Errno> {
        rustix::net::connect(&self.0, &address.0)
    }

    /// Sends to the other end; with `more`, small data may wait for what follows.
    #[inline]
    pub fn send(&self, data: &[u8], more: bool) -> Result<usize, Errno> {
        let flags = if more { SendFlags::MORE | SendFlags::NOSIGNAL } else { SendFlags::NOSIGNAL };
        rustix::net::send(&self.0, data, flags)
    }

    /// Sends as much of these parts as fits, one after the other, without a wait; `EAGAIN`: nothing fits now.
    #[inline]
    pub fn send_parts_now(&self, parts: &[IoSlice<'_>]) -> Result<usize, Errno> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        rustix::net::sendmsg(&self.0, parts, &mut SendAncillaryBuffer::default(), flags)
    }

    #[inline]
    pub fn send_to(&self, data: &[u8], address: &Address) -> Result<usize, Errno> {
        rustix::net::sendto(&self.0, data, SendFlags::NOSIGNAL, &address.0)
    }

    /// Receives from the other end; 0: it is closed.
    #[inline]
    pub fn receive(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        rustix::net::recv(&self.0, buffer, RecvFlags::empty()).map(|(n_bytes, _)| n_bytes)
    }

    /// Receives what has come from the other end, without a wait; 0: it is closed, `EAGAIN`: nothing has come.
    #[inline]
    pub fn receive_now(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        rustix::net::recv(&self.0, buffer, RecvFlags::DONTWAIT).map(|(n_bytes, _)| n_bytes)
    }

    /// Receives a datagram, cut off at the end of the buffer, and its sender.
    #[inline]
    pub fn receive_from(&self, buffer: &mut [u8]) -> Result<(usize, Option<Address>), Errno> {
        let (n_bytes, _, address) = rustix::net::recvfrom(&self.0, &mut *buffer, RecvFlags::empty())?;
        Ok((n_bytes.min(buffer.len()), address.map(Address)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::TempDir;
    use std::os::unix::net::UnixListener;

    const SHORT: Duration = Duration::from_millis(1);

    fn datagrams() -> (Socket, Address) {
        let receiver = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = Address::of_internet(receiver.local_addr().unwrap());
        (Socket(receiver.into()), address)
    }

    #[test]
    fn datagrams_come_with_their_sender_and_an_end_to_waiting() {
        let (receiver, address) = datagrams();
        receiver.wait_at_most(SHORT).unwrap();
        let mut buffer = [0; 3];
        assert!(matches!(receiver.receive_from(&mut buffer), Err(Errno::AGAIN)));
        let sender = Socket::new(Family::Inet, false).unwrap();
        assert_eq!(sender.send_to(b"hello", &address), Ok(5));
        let (n_bytes, from) = receiver.receive_from(&mut buffer).unwrap();
        assert_eq!((n_bytes, &buffer), (3, b"hel"));
        assert_eq!(receiver.send_to(b"back", &from.unwrap()), Ok(4));
        assert_eq!(sender.receive(&mut buffer), Ok(3));
    }

    #[test]
    fn a_connection_carries_bytes_to_its_end() {
        let dir = TempDir::new("socket");
        let path = dir.path().join("s");
        let listener = Socket::from(UnixListener::bind(&path).unwrap());
        listener.wait_at_most(SHORT).unwrap();
        assert!(matches!(listener.accept(), Err(Errno::AGAIN)));
        let client = Socket::new(Family::Unix, true).unwrap();
        client.connect(&Address::of_path(&path).unwrap()).unwrap();
        let server = listener.accept().unwrap();
        assert_eq!(client.send(b"ab", true), Ok(2));
        drop(client);
        let mut buffer = [0; 8];
        assert_eq!(server.receive(&mut buffer), Ok(2));
        assert_eq!(server.receive(&mut buffer), Ok(0));
        assert_eq!(server.send(b"c", false), Err(Errno::PIPE));
    }

    impl From<UnixListener> for Socket {
        fn from(listener: UnixListener) -> Self {
            Self(listener.into())
        }
    }

    #[test]
    fn what_the_kernel_refuses_is_an_error() {
        let socket = Socket::new(Family::Inet, true).unwrap();
        assert_eq!(socket.set_max_segment(5), Err(Errno::INVAL));
        assert_eq!(socket.set_max_segment(1000), Ok(()));
        assert!(Address::of_path(Path::new(&"x".repeat(200))).is_err());
        let machine = Address::of_machine(Some(1), 7);
        assert!(format!("{machine:?}").len() > 4);
    }
}
