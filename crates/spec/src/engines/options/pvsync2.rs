//! Options of the engine `pvsync2`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, flag, number, number_flag};
use crate::values::syntax::{ANY, at_most};

engine_options! {
    HIPRI: bool = flag("hipri", "RWF_HIPRI (pvsync2)");
    HIPRI_PERCENTAGE: i64 = number("hipri_percentage", "Share of I/Os with hipri (pvsync2)", at_most(100))
        .default("100");
    UNCACHED: bool = number_flag("uncached", "RWF_DONTCACHE (pvsync2)", ANY);
    NOWAIT: bool = boolean("nowait", "RWF_NOWAIT (pvsync2)");
}
