//! Options of the engine `rdma`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::{Choice, Kind, between, choice};

const VERB: &[Choice] =
    &[choice("write", "RDMA write"), choice("read", "RDMA read"), choice("send", "Send"), choice("recv", "Receive")];

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("hostname", Kind::Text, "Peer").of_engines(&["rdma"]),
    option("bindname", Kind::Text, "Local address").of_engines(&["rdma"]),
    option("port", Kind::Int(between(1, 65535)), "Port").of_engines(&["rdma"]),
    option("verb", Kind::Choice(VERB), "RDMA operation").aliases(&["proto"]).default("write").of_engines(&["rdma"]),
];
