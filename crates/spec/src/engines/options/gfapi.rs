//! Options of the engines `gfapi` and `gfapi_async`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{SERVER_TIMEOUT_HELP, boolean, number, text};
use crate::values::syntax::between;

engine_options! {
    VOLUME: Option<&'static str> = text("volume", "Gluster volume").long("Required.");
    BRICK: Option<&'static str> = text("brick", "Gluster server")
        .long("Required. The host whose glusterd tells the bricks of the volume, on port 24007. The library writes its log to /tmp/fio_gfapi.log.");
    SINGLE_INSTANCE: bool = boolean("single-instance", "Share one connection between jobs")
        .long("Jobs that are threads (thread=1) with the same volume and brick share one connection; else each job has its own.");
    SERVER_TIMEOUT: i64 = number("server_timeout", "Seconds in which a server has to answer something", between(1, 86_400))
        .default("120")
        .own()
        .long(SERVER_TIMEOUT_HELP);
}
