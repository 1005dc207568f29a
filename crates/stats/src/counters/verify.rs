//! Amounts that a job had to remember about its writes, to read them back.
//!
//! Must not know: contents of blocks. Start reading at [`VerifyStats`].

use crate::counters::counts::add_to;
use serde::{Deserialize, Serialize};

/// Figures of verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VerifyStats {
    /// Largest number of writes that were remembered at the same time.
    pub n_most_pending: u64,
    /// Memory for these writes and their kept checksums, bytes, without the overhead of lists and maps.
    pub pending_bytes: u64,
}

impl VerifyStats {
    /// Adds another member of the group, which uses its memory at the same time.
    pub fn merge(&mut self, other: &Self) {
        add_to(&mut self.n_most_pending, other.n_most_pending);
        add_to(&mut self.pending_bytes, other.pending_bytes);
    }
}
