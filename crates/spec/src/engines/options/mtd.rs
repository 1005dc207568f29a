//! Options of the engine `mtd`.
//!
//! Must not know: what the engine does with them.

use super::declaration::boolean;
use crate::DeviationKind::Mended;

engine_options! {
    SKIP_BAD: bool = boolean("skip_bad", "Silently skip bad erase blocks").default("0")
        .deviates(Mended, "An I/O over a bad block succeeds without it; fio fails it with EIO and says nothing.");
}
