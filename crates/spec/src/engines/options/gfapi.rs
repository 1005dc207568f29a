//! Options of the engines `gfapi` and `gfapi_async`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, text};

engine_options! {
    VOLUME: Option<&'static str> = text("volume", "Gluster volume").planned();
    BRICK: Option<&'static str> = text("brick", "Gluster server").planned();
    SINGLE_INSTANCE: bool = boolean("single-instance", "Share one connection between jobs").planned();
}
