//! Blocks that say whether they are what was written: what stands in them, and what is wrong with those that were read.
//!
//! Must not know: files, system calls. Start reading at [`block::BlockRules`]: it stamps a block before a write and checks one
//! that was read. The writes to
//! be read back are in `pending`, those to be trimmed before in `trims`, the header is in `header`, the data in `data`, the checksums in `digest`, blocks that are made before they are needed in `ahead`, what a fault looks like in `fault`.

pub mod ahead;
pub mod block;
pub mod crash;
mod data;
mod digest;
pub mod fault;
pub mod header;
pub mod pending;
pub(crate) mod read_back;
pub mod state;
pub mod trims;
