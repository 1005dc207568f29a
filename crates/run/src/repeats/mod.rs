//! How much of a file or block device repeats, block by block, and how much compresses.
//!
//! Reads only. Memory is bounded whatever the size of the target: when the table of blocks is full, it goes on with half
//! of them, chosen by their hash values, and the figures become estimates.
//! Must not know: arguments, texts. Start reading at [`Scan::open`], then [`Scan::run`]; `table` has the blocks, `pack` their
//! compressed sizes.

mod pack;
mod repeat_figures;
mod scan;
mod table;

pub use repeat_figures::{RepeatFigures, RepeatedBlock, Unreadable};
pub use scan::{OpenError, ScanFailure};
pub use scan::{Scan, ScanRequest};
