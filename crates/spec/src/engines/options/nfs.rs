//! Options of the engine `nfs`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{SERVER_TIMEOUT_HELP, number, text};
use crate::values::syntax::between;

engine_options! {
    NFS_URL: Option<&'static str> = text("nfs_url", "Server and export (required)")
        .long("nfs://SERVER/EXPORT[?version=3&...], as libnfs reads it: version (3 or 4), nfsport, mountport, uid, gid, autoreconnect and \
               more. All of the path is the export; files of the job are below it.");
    SERVER_TIMEOUT: i64 = number("server_timeout", "Seconds in which a server has to answer something", between(1, 86_400))
        .default("120")
        .own()
        .long(SERVER_TIMEOUT_HELP);
}
