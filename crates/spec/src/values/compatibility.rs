//! The switch between fio's oddities and the behaviour of native commands.
//!
//! Must not know: the oddities. Those of a crate are in its module `compat`. Start reading at [`Compatibility`].

use serde::{Deserialize, Serialize};

/// Whether a run has the oddities of fio: roundings, limits and orders that jobs written for fio depend on, and that a tool
/// designed today would not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Default)]
pub enum Compatibility {
    /// A run that was described by fio's options has all of them.
    Fio,
    /// A run of a native command has none.
    #[default]
    Native,
}

impl Compatibility {
    /// True if the run has the oddities of fio.
    #[must_use]
    pub fn is_fio(self) -> bool {
        self == Self::Fio
    }
}
