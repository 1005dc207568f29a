//! Errors of building a generator or a map. Errors in values of the user are [`crate::ParseError`].

use crate::random::Lfsr;
use serde::{Deserialize, Serialize};

/// Why a generator or a map cannot be built.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum BuildError {
    /// No tap set is known for a register that wide.
    #[error("an LFSR covers at most {max} blocks, and {n_blocks} are asked for", max = Lfsr::MAX_BLOCKS)]
    LfsrTooManyBlocks { n_blocks: u64 },
    /// The memory for a random map is not to be had.
    #[error("no memory for a random map of {n_blocks} blocks ({n_bytes} bytes)")]
    RandomMapMemory {
        /// Blocks to keep track of.
        n_blocks: u64,
        n_bytes: u64,
    },
    #[error("{given} is not possible: {allowed}")]
    DistributionParameter { given: f64, allowed: AllowedParameter },
    /// A distribution over no blocks.
    #[error("a distribution needs at least one block")]
    DistributionOfNothing,
}

/// For which parameters a distribution is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum AllowedParameter {
    #[error("zipf theta is at least 0 and not 1")]
    ZipfTheta,
    #[error("pareto h is above 0 and below 1")]
    ParetoH,
    #[error("a normal deviation is 0 to below 100 percent")]
    NormalDeviation,
}
