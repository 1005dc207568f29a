//! Options of the engine `mmap`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, OptionDef, option};
use crate::options::kind::{ANY, Kind};

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] =
    &[option("thp", Kind::Int(ANY), "Non-zero: madvise huge pages").of_engines(&["mmap"]).applies(Apply::Engine)];
