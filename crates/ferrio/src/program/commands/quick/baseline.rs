//! Definition of the four tests.
//!
//! Must not know: jobs, how a test is run. Start reading at [`TESTS`].

use crate::shared::engine_choice::MAX_DEPTH;
use ferrio_units::DataDirection;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Test {
    pub(super) name: &'static str,
    /// True if blocks are in random order.
    pub(super) is_random: bool,
    /// Its only direction.
    pub(super) direction: DataDirection,
    /// Size of each I/O.
    pub(super) block_bytes: u64,
    /// I/Os in flight, where nothing bounds them.
    pub(super) depth: u32,
}

/// The baseline tests in their order: large blocks for throughput, small ones for I/Os a second.
pub(super) const TESTS: [Test; 4] = [
    Test {
        name: "1M sequential write",
        is_random: false,
        direction: DataDirection::Write,
        block_bytes: 1 << 20,
        depth: 64,
    },
    Test {
        name: "4K random write",
        is_random: true,
        direction: DataDirection::Write,
        block_bytes: 4 << 10,
        depth: MAX_DEPTH,
    },
    Test {
        name: "1M sequential read",
        is_random: false,
        direction: DataDirection::Read,
        block_bytes: 1 << 20,
        depth: 64,
    },
    Test {
        name: "4K random read",
        is_random: true,
        direction: DataDirection::Read,
        block_bytes: 4 << 10,
        depth: MAX_DEPTH,
    },
];
