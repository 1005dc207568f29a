//! Options of the engine `mtd`.
//!
//! Must not know: what the engine does with them.

use super::declaration::boolean;

engine_options! {
    SKIP_BAD: bool = boolean("skip_bad", "Silently skip bad erase blocks").default("0").planned();
}
