//! Options of the engine `e4defrag`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{number_flag, text};
use crate::values::syntax::at_most;

engine_options! {
    DONORNAME: Option<&'static str> = text("donorname", "File whose blocks are swapped in (required)");
    INPLACE: bool = number_flag("inplace", "0 = allocate donor space at init, 1 = per event", at_most(1));
}
