//! Options of the engine `mmap`.
//!
//! Rows only. Must not know: how values are parsed; what a row does is in its `apply` part.

use crate::options::definition::{Apply, OptionDef, option};
use crate::options::kind::{ANY, Kind};

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] =
    &[option("thp", Kind::Int(ANY), "Non-zero: madvise huge pages").of_engines(&["mmap"]).applies(Apply::Engine)];
