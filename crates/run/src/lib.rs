//! ferrio's run crate.
