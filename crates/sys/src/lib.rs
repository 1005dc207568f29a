//! ferrio's sys crate.
