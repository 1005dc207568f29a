//! What the kernel counts of a TCP connection (`TCP_INFO`).
//!
//! Must not know: protocols above TCP. Unsafe: one system call. Start reading at [`TcpCounts::of`].

#![allow(unsafe_code)]

use rustix::net::{SocketAddrAny, getpeername, getsockname};
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Counts of a TCP connection, from its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TcpCounts {
    /// The shortest time for a round trip in the last minutes, nanoseconds: the kernel's mean has the delays of acknowledgements in it.
    pub round_trip_ns: u64,
    /// Segments that were sent, those sent again among them.
    pub n_sent: u64,
    pub n_sent_again: u64,
    /// Time in which data waited to be sent or to be acknowledged, nanoseconds.
    pub busy_ns: u64,
    /// Part of it in which the window of the receiver had no room.
    pub window_limited_ns: u64,
    /// Part of it in which this end's send buffer had no room.
    pub buffer_limited_ns: u64,
    /// Both ends have the same address: the other one is on this machine.
    pub is_local: bool,
}

/// Offsets in the kernel's `struct tcp_info`, which only grows at its end (linux/tcp.h).
const TOTAL_RETRANS: usize = 100;
const SEGS_OUT: usize = 136;
const MIN_RTT: usize = 148;
const BUSY_TIME: usize = 168;
const RWND_LIMITED: usize = 176;
const SNDBUF_LIMITED: usize = 184;
const END: usize = 192;

impl TcpCounts {
    /// The counts of a connection; `None`: it is none of TCP, or the kernel (before 4.10) does not count all of these.
    pub fn of(socket: BorrowedFd<'_>) -> Option<Self> {
        let mut info = [0_u8; END];
        let mut n_bytes = END as libc::socklen_t;
        // SAFETY: the pointers are those of an array with this length and of an integer, which live until the call is over.
        let result = unsafe {
            libc::getsockopt(
                socket.as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                info.as_mut_ptr().cast(),
                &raw mut n_bytes,
            )
        };
        if result != 0 || (n_bytes as usize) < END {
            return None;
        }
        let of_32 = |at: usize| info[at..].first_chunk().map_or(0, |bytes| u64::from(u32::from_ne_bytes(*bytes)));
        let of_64 = |at: usize| info[at..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
        let ns = |us: u64| us.saturating_mul(1_000);
        Some(Self {
            round_trip_ns: ns(of_32(MIN_RTT)),
            n_sent: of_32(SEGS_OUT),
            n_sent_again: of_32(TOTAL_RETRANS),
            busy_ns: ns(of_64(BUSY_TIME)),
            window_limited_ns: ns(of_64(RWND_LIMITED)),
            buffer_limited_ns: ns(of_64(SNDBUF_LIMITED)),
            is_local: is_local(socket),
        })
    }
}

/// Both ends of a connection have the same address, or addresses of the loopback device.
fn is_local(socket: BorrowedFd<'_>) -> bool {
    let address = |name: SocketAddrAny| SocketAddr::try_from(name).ok().map(|name| name.ip());
    let own = getsockname(socket).ok().and_then(address);
    let other = getpeername(socket).ok().flatten().and_then(address);
    match (own, other) {
        (Some(own), Some(other)) => own == other || other.is_loopback(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    #[test]
    fn a_receiver_that_does_not_read_limits_the_sender() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        let fresh = TcpCounts::of(sender.as_fd()).unwrap();
        assert_eq!((fresh.window_limited_ns, fresh.n_sent_again), (0, 0));
        assert!(fresh.is_local);
        // Of the connection itself; a number without a measurement would be far above an hour.
        assert!(fresh.round_trip_ns < 3_600_000_000_000, "{fresh:?}");
        sender.set_nonblocking(true).unwrap();
        let mut n_bytes = 0;
        while TcpCounts::of(sender.as_fd()).unwrap().window_limited_ns == 0 {
            n_bytes += sender.write(&[0; 16_384]).unwrap_or(0);
        }
        let full = TcpCounts::of(sender.as_fd()).unwrap();
        assert!(full.busy_ns >= full.window_limited_ns && full.n_sent > fresh.n_sent, "{full:?}");
        drop(sender);
        assert_eq!(receiver.read_to_end(&mut Vec::new()).unwrap(), n_bytes);
    }

    #[test]
    fn other_sockets_have_no_counts() {
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_eq!(TcpCounts::of(one.as_fd()), None);
    }
}
