//! Errors of building a generator or a map. Errors in values of the user are [`crate::ParseError`].

use crate::random::Lfsr;

/// Why a generator or a map cannot be built.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// No tap set is known for a register that wide.
    #[error("an LFSR covers at most {max} blocks, and {n_blocks} are asked for", max = Lfsr::MAX_BLOCKS)]
    LfsrTooManyBlocks {
        /// Blocks asked for.
        n_blocks: u64,
    },
    /// The memory for a random map is not to be had.
    #[error("no memory for a random map of {n_blocks} blocks ({n_bytes} bytes)")]
    RandomMapMemory {
        /// Blocks to keep track of.
        n_blocks: u64,
        /// Size of the map.
        n_bytes: u64,
    },
    /// A parameter for which the distribution is not defined.
    #[error("{given} is not possible: {allowed}")]
    DistributionParameter {
        /// Parameter as given.
        given: f64,
        /// Allowed values.
        allowed: &'static str,
    },
    /// A distribution over no blocks.
    #[error("a distribution needs at least one block")]
    DistributionOfNothing,
}
