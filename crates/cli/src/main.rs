//! The `ferrio` program.
fn main() {}
