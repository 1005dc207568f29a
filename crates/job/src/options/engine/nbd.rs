//! Options of the engine `nbd`.
//!
//! Rows only. Must not know: how values are parsed; what a row does is in its `apply` part.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::Kind;

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] =
    &[option("uri", Kind::Text, "nbd: or nbd+unix: address (required)").of_engines(&["nbd"])];
