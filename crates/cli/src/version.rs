//! The version strings.

/// Version of the outputs and of `--version`: parsers look for `fio-3`, people for the program that ran.
pub(crate) const VERSION: &str = concat!("fio-3.42-ferrio-", env!("CARGO_PKG_VERSION"));
