//! A pass that brings a device into the state of long random writes (`sprandom`).
//!
//! Must not know: which blocks are written. Start reading at [`SpRandomSpec`].

use serde::{Deserialize, Serialize};

/// `sprandom`, and its assumptions about the device.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SpRandomSpec {
    /// `spr_num_regions`: parts of a pass with a share of overwrites each, at least 1.
    pub n_regions: u32,
    /// `spr_op`: physical space beyond the written size, as a share of that size; above 0, at most 100.
    pub over_provisioning: f64,
    /// `spr_cs`: write cache of the device, bytes.
    pub cache_bytes: u64,
}

impl SpRandomSpec {
    pub fn n_overwrites(&self, n_blocks: u64) -> u64 {
        // The cast saturates.
        (n_blocks as f64 * self.over_provisioning).round() as u64
    }

    /// Bytes that a pass over a range of so many bytes writes.
    pub fn pass_bytes(&self, range_bytes: u64, block_bytes: u64) -> u64 {
        let n_blocks = range_bytes / block_bytes.max(1);
        n_blocks.saturating_add(self.n_overwrites(n_blocks)).saturating_mul(block_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_as_long_as_the_physical_space() {
        let spec = |over_provisioning| SpRandomSpec { n_regions: 100, over_provisioning, cache_bytes: 0 };
        assert_eq!(spec(0.15).pass_bytes(1000 * 4096 + 4095, 4096), 1150 * 4096);
        assert_eq!(spec(0.25).pass_bytes(10 * 512, 512), 13 * 512, "2.5 blocks are rounded up");
        assert_eq!(spec(100.0).pass_bytes(512, 512), 101 * 512);
        assert_eq!((spec(0.15).pass_bytes(511, 512), spec(0.15).pass_bytes(511, 0)), (0, 0));
        assert_eq!(spec(100.0).pass_bytes(u64::MAX, 1), u64::MAX);
    }
}
