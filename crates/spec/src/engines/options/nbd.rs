//! Options of the engine `nbd`.
//!
//! Must not know: what the engine does with them.

use super::declaration::text;
use crate::DeviationKind::Different;

engine_options! {
    URI: Option<&'static str> = text("uri", "nbd: or nbd+unix: address (required)")
        .long("nbd://HOST[:PORT]/EXPORT for TCP (port 10809 unless given), nbd+unix:///EXPORT?socket=PATH for a Unix socket.")
        .deviates(Different, "Addresses with nbds: (TLS) and vsock: are refused.");
}
