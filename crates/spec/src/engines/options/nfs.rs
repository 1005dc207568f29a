//! Options of the engine `nfs`.
//!
//! Must not know: what the engine does with them.

use super::declaration::text;

engine_options! {
    NFS_URL: Option<&'static str> = text("nfs_url", "Server and export in libnfs URL form").planned();
}
