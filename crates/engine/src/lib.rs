//! ferrio's engine crate.
