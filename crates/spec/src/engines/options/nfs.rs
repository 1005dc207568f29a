//! Options of the engine `nfs`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{number, text};
use crate::syntax::between;

engine_options! {
    NFS_URL: Option<&'static str> = text("nfs_url", "Server and export (required)")
        .long("nfs://SERVER/EXPORT[?version=3&...], as libnfs reads it: version (3 or 4), nfsport, mountport, uid, gid, autoreconnect and \
               more. All of the path is the export; files of the job are below it.");
    SERVER_TIMEOUT: i64 = number("server_timeout", "Seconds in which a server has to answer something", between(1, 86_400))
        .default("120")
        .own()
        .long("An option of ferrio's own. If the job waits for I/Os and none is answered for so long, they fail with ETIMEDOUT, and the job ends; fio \
               waits for ever. The end of runtime, and a stop, wait no longer than a second or two for answers, whatever this says.");
}
