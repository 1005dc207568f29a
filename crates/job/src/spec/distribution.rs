//! How random offsets are spread over a file (`random_distribution`).
//!
//! Must not know: how blocks are drawn. Start reading at [`RandomDistribution`].

use serde::{Deserialize, Serialize};

/// `random_distribution`. A `center`, 0 to 1, is the place of the most wanted block in the file; `None`: not given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum RandomDistribution {
    /// Every block is as likely as any other.
    Uniform,
    /// Zipf's law.
    Zipf {
        /// Exponent, at least 0 and not 1.
        theta: f64,
        /// Place of the most wanted block.
        center: Option<f64>,
    },
    /// A share `1 - h` of the I/Os on a share `h` of the blocks.
    Pareto {
        /// Above 0 and below 1.
        h: f64,
        /// Place of the most wanted block.
        center: Option<f64>,
    },
    /// Normal.
    Normal {
        /// Deviation in percent of the blocks, 0 to below 100.
        deviation_percent: f64,
        /// Place of the most wanted block.
        center: Option<f64>,
    },
}
