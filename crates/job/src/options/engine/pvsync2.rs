//! Options of the engine `pvsync2`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, OptionDef, option};
use crate::options::kind::{ANY, Kind, at_most};

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("hipri", Kind::Flag, "RWF_HIPRI (pvsync2)").of_engines(&["pvsync2"]).applies(Apply::Engine),
    option("hipri_percentage", Kind::Int(at_most(100)), "Share of I/Os with hipri (pvsync2)")
        .default("100")
        .of_engines(&["pvsync2"])
        .applies(Apply::Engine),
    option("uncached", Kind::Int(ANY), "RWF_DONTCACHE (pvsync2)").of_engines(&["pvsync2"]).applies(Apply::Engine),
    option("nowait", Kind::Bool, "RWF_NOWAIT (pvsync2)").of_engines(&["pvsync2"]).applies(Apply::Engine),
];
