//! Options of the engines `net` and `netsplice`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, flag, number, text, word};
use crate::values::syntax::{ANY, between};

words! {
    /// How the ends of a connection talk.
    Transport {
        Tcp: "tcp", "TCP over IPv4";
        TcpV6: "tcpv6", "TCP over IPv6";
        Udp: "udp", "UDP over IPv4";
        UdpV6: "udpv6", "UDP over IPv6";
        Unix: "unix", "Unix socket";
        Vsock: "vsock", "VM socket";
    }
}

engine_options! {
    HOSTNAME: Option<&'static str> = text("hostname", "Peer host, multicast group, or unix path");
    PORT: Option<i64> = number("port", "Port; clone n uses port+n", between(1, 65535));
    PROTOCOL: Transport = word("protocol", "Transport").aliases(&["proto"]);
    NODELAY: bool = boolean("nodelay", "TCP_NODELAY");
    LISTEN: bool = flag("listen", "Accept instead of connect");
    PINGPONG: bool = flag("pingpong", "Reader echoes each block, writer waits for it");
    INTERFACE: Option<&'static str> = text("interface", "Local interface for multicast");
    TTL: i64 = number("ttl", "Multicast TTL", ANY).default("1");
    WINDOW_SIZE: Option<i64> = number("window_size", "SO_SNDBUF/SO_RCVBUF value", ANY);
    MSS: Option<i64> = number("mss", "TCP_MAXSEG value", ANY);
}
