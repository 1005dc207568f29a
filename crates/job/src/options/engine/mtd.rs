//! Options of the engine `mtd`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::Kind;

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] =
    &[option("skip_bad", Kind::Bool, "Silently skip bad erase blocks").default("0").of_engines(&["mtd"])];
