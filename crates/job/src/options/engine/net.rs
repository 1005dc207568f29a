//! Options of the engines `net,netsplice`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, between, choice};

const PROTOCOL: &[Choice] = &[
    choice("tcp", "TCP over IPv4"),
    choice("tcpv6", "TCP over IPv6"),
    choice("udp", "UDP over IPv4"),
    choice("udpv6", "UDP over IPv6"),
    choice("unix", "Unix socket"),
    choice("vsock", "VM socket"),
];

/// Both send and receive in the same way.
const NET: &[&str] = &["net", "netsplice"];

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("hostname", Kind::Text, "Peer host, multicast group, or unix path").of_engines(NET).applies(Apply::Engine),
    option("port", Kind::Int(between(1, 65535)), "Port; clone n uses port+n").of_engines(NET).applies(Apply::Engine),
    option("protocol", Kind::Choice(PROTOCOL), "Transport")
        .aliases(&["proto"])
        .default("tcp")
        .of_engines(NET)
        .applies(Apply::Engine),
    option("nodelay", Kind::Bool, "TCP_NODELAY").of_engines(NET).applies(Apply::Engine),
    option("listen", Kind::Flag, "Accept instead of connect").of_engines(NET).applies(Apply::Engine),
    option("pingpong", Kind::Flag, "Reader echoes each block, writer waits for it")
        .of_engines(NET)
        .applies(Apply::Engine),
    option("interface", Kind::Text, "Local interface for multicast").of_engines(NET).applies(Apply::Engine),
    option("ttl", Kind::Int(ANY), "Multicast TTL").default("1").of_engines(NET).applies(Apply::Engine),
    option("window_size", Kind::Int(ANY), "SO_SNDBUF/SO_RCVBUF value").of_engines(NET).applies(Apply::Engine),
    option("mss", Kind::Int(ANY), "TCP_MAXSEG value").of_engines(NET).applies(Apply::Engine),
];
