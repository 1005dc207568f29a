//! Whose behaviour a run has where fio's is not what a tool designed today would do.
//!
//! Must not know: the oddities. Each crate has its own in its module `compat`, which asks this.

use serde::{Deserialize, Serialize};

/// Whether a run takes fio's oddities: roundings, limits and orders that jobs written for fio depend on, and nobody would ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Compatibility {
    /// Everything is as fio does it: what the program does in the place of fio.
    Fio,
    /// No oddity is taken: what native commands do.
    Native,
}

impl Compatibility {
    /// The oddities of fio are taken.
    #[must_use]
    pub fn is_fio(self) -> bool {
        self == Self::Fio
    }
}
