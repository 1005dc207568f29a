//! Options of the engine `nfs`.
//!
//! Must not know: what the engine does with them.

use super::declaration::text;

engine_options! {
    NFS_URL: Option<&'static str> = text("nfs_url", "Server and export (required)")
        .long("nfs://SERVER/EXPORT[?version=3&...], as libnfs reads it: version (3 or 4), nfsport, mountport, uid, gid, autoreconnect and \
               more. All of the path is the export; files of the job are below it.");
}
