//! Blocks that say whether they are what was written: what stands in them, and what is wrong with those that were read.
//!
//! Must not know: files, system calls. Start reading at [`block::BlockRules`]: it stamps a block before a write and checks one
//! that was read. The writes to be read back are in `pending`, those to be trimmed before in `trims`, the header is in `header`, the
//! data in `data`, the checksums in `digest`, what is known of blocks before they are read or written in `known`, what a fault looks
//! like in `fault`.

pub mod block;
pub mod crash;
mod data;
mod digest;
pub mod fault;
pub mod header;
pub mod known;
pub mod pending;
pub(crate) mod read_back;
pub mod state;
pub mod trims;
