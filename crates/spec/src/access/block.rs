//! Block sizes (`bs`, `bsrange`, `bssplit`).
//!
//! Must not know: how sizes are drawn. Start reading at [`BlockRange`].

use serde::{Deserialize, Serialize};

/// Smallest and largest block of one direction, bytes. Equal for a fixed size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRange {
    pub min_bytes: u64,
    pub max_bytes: u64,
}

impl BlockRange {
    pub const fn one(block_bytes: u64) -> Self {
        Self { min_bytes: block_bytes, max_bytes: block_bytes }
    }
}

/// A block size and how often it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockShare {
    /// The size, at least 1.
    pub block_bytes: u64,
    /// Share of the I/Os, 0 to 100. If the shares of a list are less than 100 together, the rest goes to the last.
    pub percent: u32,
}
