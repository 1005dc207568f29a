//! Options of the engine `rdma`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{number, text, untyped_word};
use crate::values::syntax::{Choice, between, choice};

const VERB_WORDS: &[Choice] =
    &[choice("write", "RDMA write"), choice("read", "RDMA read"), choice("send", "Send"), choice("recv", "Receive")];

engine_options! {
    HOSTNAME: Option<&'static str> = text("hostname", "Peer").planned();
    BINDNAME: Option<&'static str> = text("bindname", "Local address").planned();
    PORT: Option<i64> = number("port", "Port", between(1, 65535)).planned();
    VERB: () = untyped_word("verb", "RDMA operation", VERB_WORDS).aliases(&["proto"]).default("write").planned();
}
