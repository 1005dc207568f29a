//! Options of the engine `rdma`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{SERVER_TIMEOUT_HELP, number, text, word};
use crate::values::syntax::between;

words! {
    RdmaOperation {
        Write: "write", "RDMA write";
        Read: "read", "RDMA read";
        Send: "send", "Send";
        Recv: "recv", "Receive";
    }
}

engine_options! {
    HOSTNAME: Option<&'static str> = text("hostname", "Peer");
    BINDNAME: Option<&'static str> = text("bindname", "Local address");
    PORT: Option<i64> = number("port", "Port; clone n uses port+n", between(1, 65535));
    VERB: RdmaOperation = word("verb", "RDMA operation").aliases(&["proto"])
        .long("It counts on the client, the job that writes. The server receives what is sent, whatever its own verb is.");
    SERVER_TIMEOUT: i64 = number("server_timeout", "Seconds in which a server has to answer something", between(1, 86_400))
        .default("120")
        .own()
        .long(SERVER_TIMEOUT_HELP);
}
