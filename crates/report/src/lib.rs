//! ferrio's report crate.
