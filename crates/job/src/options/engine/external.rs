//! Options of the engine `external sample`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::Kind;

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[option("dummy", Kind::Flag, "Example option of the sample external engine")
    .of_engines(&["external"])
    .not_applicable("belongs to a sample of an external engine")];
