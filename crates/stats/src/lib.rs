//! ferrio's stats crate.
