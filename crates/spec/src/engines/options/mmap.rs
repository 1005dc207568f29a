//! Options of the engine `mmap`.
//!
//! Must not know: what the engine does with them.

use super::declaration::number_flag;
use crate::values::syntax::ANY;

engine_options! {
    THP: bool = number_flag("thp", "Non-zero: madvise huge pages", ANY);
}
