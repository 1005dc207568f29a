//! Options of the engine `dfs`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{size, text};
use crate::values::syntax::ANY;

engine_options! {
    POOL: Option<&'static str> = text("pool", "DAOS pool").planned();
    CONT: Option<&'static str> = text("cont", "DAOS container").planned();
    CHUNK_SIZE: i64 = size("chunk_size", "DFS chunk size", ANY).default("0").planned();
    OBJECT_CLASS: Option<&'static str> = text("object_class", "DAOS object class").planned();
    SVCL: Option<&'static str> = text("svcl", "Pool service rank list").planned();
}
