//! What a server answers before there is a job, by the same code as the engines: nothing is written.
//!
//! Must not know: jobs, words. Start reading at [`server`].

use super::{http, libiscsi, nbd, nfs};
use crate::contract::{Cancellation, EngineError};
pub use crate::servers::server_facts::{
    IscsiFacts, LunFacts, NbdFacts, NfsFacts, NfsMountFacts, ServerFacts, TlsFacts, WebFacts, WebProtocol,
};

/// Asks the server behind a URL; `None`: the call was cancelled.
///
/// # Errors
/// The URL is none of an engine, the library of the engine is not there, or the server refuses the connection.
pub fn server(url: &str, cancellation: Cancellation<'_>) -> Result<Option<ServerFacts>, EngineError> {
    match url.split_once("://").map_or("", |(scheme, _)| scheme) {
        "nbd" | "nbds" | "nbd+unix" | "nbds+unix" => Ok(nbd::inquire(url, cancellation)?.map(ServerFacts::Nbd)),
        "http" | "https" => Ok(http::inquire(url, cancellation)?.map(ServerFacts::Web)),
        "nfs" => Ok(nfs::inquire(url, cancellation)?.map(ServerFacts::Nfs)),
        "iscsi" => Ok(libiscsi::inquire(url, cancellation)?.map(ServerFacts::Iscsi)),
        _ => Err(EngineError::bad_option(
            "ferrio engines",
            "URL",
            &url,
            "unknown scheme; allowed: nbd, nbds, nbd+unix, nbds+unix, http, https, nfs, iscsi",
        )),
    }
}
