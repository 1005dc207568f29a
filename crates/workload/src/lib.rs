//! ferrio's workload crate.
