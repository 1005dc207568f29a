//! ferrio's job crate.
