//! Options of the engine `nbd`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, OptionDef, option};
use crate::options::kind::Kind;

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[option("uri", Kind::Text, "nbd: or nbd+unix: address (required)")
    .of_engines(&["nbd"])
    .long(
        "nbd://HOST[:PORT]/EXPORT for TCP (port 10809 unless given), nbd+unix:///EXPORT?socket=PATH for a Unix socket.",
    )
    .applies(Apply::Engine)
    .deviates("nbds: (TLS) and vsock: are refused")];
