//! Errors of building a generator or a map. Errors in values of the user are [`crate::ParseError`].

use crate::random::Lfsr;
use serde::{Deserialize, Serialize};

/// Why a generator or a map cannot be built.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error, Serialize, Deserialize)]
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
        allowed: AllowedParameter,
    },
    /// A distribution over no blocks.
    #[error("a distribution needs at least one block")]
    DistributionOfNothing,
}

/// For which parameters a distribution is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum AllowedParameter {
    /// `theta` of `zipf`.
    #[error("zipf theta is at least 0 and not 1")]
    ZipfTheta,
    /// `h` of `pareto`.
    #[error("pareto h is above 0 and below 1")]
    ParetoH,
    /// The deviation of `normal`.
    #[error("a normal deviation is 0 to below 100 percent")]
    NormalDeviation,
}
