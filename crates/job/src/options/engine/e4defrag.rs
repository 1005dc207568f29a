//! Options of the engine `e4defrag`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, OptionDef, option};
use crate::options::kind::{Kind, at_most};

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("donorname", Kind::Text, "File whose blocks are swapped in (required)")
        .of_engines(&["e4defrag"])
        .applies(Apply::Engine),
    option("inplace", Kind::Int(at_most(1)), "0 = allocate donor space at init, 1 = per event")
        .of_engines(&["e4defrag"])
        .applies(Apply::Engine),
];
