//! Options of the engine `nfs`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::Kind;

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] =
    &[option("nfs_url", Kind::Text, "Server and export in libnfs URL form").of_engines(&["nfs"])];
