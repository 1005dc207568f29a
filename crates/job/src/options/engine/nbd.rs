//! Options of the engine `nbd`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::Kind;

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] =
    &[option("uri", Kind::Text, "nbd: or nbd+unix: address (required)").of_engines(&["nbd"])];
