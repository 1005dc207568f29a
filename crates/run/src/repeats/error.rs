//! Reasons why a target cannot be scanned.
//!
//! Must not know: arguments.

use std::io;

/// Why a target cannot be opened for a scan.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A system call failed.
    #[error(transparent)]
    System(#[from] ferrio_sys::Error),
    /// It is neither a regular file nor a block device.
    #[error("it is a {0}; only files and block devices are scanned")]
    Kind(&'static str),
    #[error("it has {size_bytes} bytes, less than a block of {block_bytes} bytes")]
    TooSmall { size_bytes: u64, block_bytes: usize },
    /// A size of blocks that is not possible.
    #[error("blocks of {block_bytes} bytes: allowed are {min} to {max} bytes", min = crate::repeats::Scan::MIN_BLOCK_BYTES, max = crate::repeats::Scan::MAX_BLOCK_BYTES)]
    BlockSize { block_bytes: usize },
    /// Direct I/O needs other blocks.
    #[error("direct I/O needs blocks that are multiples of {align_bytes} bytes, and they have {block_bytes}")]
    Alignment {
        block_bytes: usize,
        /// Divides the size of a block for direct I/O.
        align_bytes: usize,
    },
}

/// Why a scan cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ScanFailure {
    #[error(transparent)]
    Memory(#[from] ferrio_sys::Error),
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
}
