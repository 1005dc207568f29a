//! The two choices of a job that say how its numbers are read and shown: `kb_base` and `unit_base`.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum KbBase {
    /// `k` = 1024 and `kib` = 1000 in values; figures show IEC prefixes first.
    #[default]
    Binary,
    /// `k` = 1000 and `kib` = 1024 in values; figures show SI prefixes first.
    Decimal,
}

impl KbBase {
    /// Factor of each step of plain suffixes (`k`, `kb`, `ki`): 1024 or 1000. Also the value of the option.
    pub const fn factor(self) -> u64 {
        match self {
            Self::Binary => 1024,
            Self::Decimal => 1000,
        }
    }

    /// The other base: the one of suffixes spelt `kib`, `mib`, ...
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Binary => Self::Decimal,
            Self::Decimal => Self::Binary,
        }
    }
}

/// Whether rates are shown in bytes or in bits (`unit_base`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum UnitBase {
    /// `B/s`: `unit_base=8`.
    #[default]
    Bytes,
    /// `bit/s`: `unit_base=1`.
    Bits,
}
