//! Options of the engines `gfapi,gfapi_async`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::Kind;

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("volume", Kind::Text, "Gluster volume").of_engines(&["gfapi", "gfapi_async"]),
    option("brick", Kind::Text, "Gluster server").of_engines(&["gfapi", "gfapi_async"]),
    option("single-instance", Kind::Bool, "Share one connection between jobs").of_engines(&["gfapi", "gfapi_async"]),
];
