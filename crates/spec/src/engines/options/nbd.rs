//! Options of the engine `nbd`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{SERVER_TIMEOUT_HELP, number, text};
use crate::DeviationKind::{Different, Mended};
use crate::values::syntax::between;

engine_options! {
    URI: Option<&'static str> = text("uri", "nbd:, nbds:, nbd+unix: or nbds+unix: address (required)")
        .long("nbd://HOST[:PORT]/EXPORT for TCP (port 10809 unless given), nbd+unix:///EXPORT?socket=PATH for a Unix socket; \
               with nbds instead of nbd the connection is encrypted (TLS by certificates). Further parameters of nbds, after a ? \
               or &: tls-certificates=DIRECTORY with ca-cert.pem and, for a server that asks for them, client-cert.pem and \
               client-key.pem; tls-hostname=NAME that the certificate of the server has to be for; tls-verify-peer=false: its \
               certificate is not checked. Without tls-certificates the system's authorities are trusted.")
        .deviates(Different, "Addresses with vsock: and pre-shared keys of TLS are refused.")
        .deviates(Mended, "Parameters of TLS work, which fio's library forbids to it.");
    CONNECTIONS: i64 = number("connections", "Connections of the job to its server", between(1, 16))
        .long("An option of ferrio's own. Requests are spread over the connections. A job that writes needs a server that allows \
               several (nbdinfo shows it as can_multi_conn). I/Os fail on a connection that answers nothing for server_timeout, though others do.")
        .default("1")
        .own();
    SERVER_TIMEOUT: i64 = number("server_timeout", "Seconds in which a server has to answer something", between(1, 86_400))
        .default("120")
        .own()
        .long(SERVER_TIMEOUT_HELP);
}
