//! Options of the engine `dfs`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::{ANY, Kind};

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("pool", Kind::Text, "DAOS pool").of_engines(&["dfs"]),
    option("cont", Kind::Text, "DAOS container").of_engines(&["dfs"]),
    option("chunk_size", Kind::Size(ANY), "DFS chunk size").default("0").of_engines(&["dfs"]),
    option("object_class", Kind::Text, "DAOS object class").of_engines(&["dfs"]),
    option("svcl", Kind::Text, "Pool service rank list").of_engines(&["dfs"]),
];
