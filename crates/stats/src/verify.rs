//! What a job had to remember of its writes, to read them back.
//!
//! Must not know: what is in blocks. Start reading at [`VerifyStats`].

use crate::counts::add_to;
use serde::{Deserialize, Serialize};

/// Figures of verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct VerifyStats {
    /// Most writes that were remembered at once.
    pub n_most_pending: u64,
    /// Bytes of memory that they and what is kept of their checksums took, without those that lists and maps need for themselves.
    pub pending_bytes: u64,
}

impl VerifyStats {
    /// Adds another member of the group, which has its memory at the same time.
    pub fn merge(&mut self, other: &Self) {
        add_to(&mut self.n_most_pending, other.n_most_pending);
        add_to(&mut self.pending_bytes, other.pending_bytes);
    }
}
