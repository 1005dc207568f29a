//! Options of the engine `external`: that of its sample.
//!
//! Must not know: what the engine does with them.

use super::declaration::flag;

engine_options! {
    DUMMY: bool = flag("dummy", "Example option of the sample external engine")
        .not_applicable("belongs to a sample of an external engine");
}
