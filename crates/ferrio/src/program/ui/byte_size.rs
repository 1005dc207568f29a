//! Sizes in the arguments of native commands.
//!
//! Start reading at [`parse`].

use ferrio_units::KbBase;
use ferrio_units::value::parse_bytes;

/// A number of bytes in fio's syntax: `4096`, `4k`, `1g`; k is 1024.
pub(crate) fn parse(text: &str) -> anyhow::Result<u64> {
    parse_bytes(text, KbBase::Binary).map_err(anyhow::Error::from)
}
