//! Blocks that say whether they are what was written: what stands in them, and what is wrong with those that were read.
//!
//! Must not know: files, system calls. Start reading at [`block::BlockRules`]: it stamps a block before a write and checks one
//! that was read. The writes to
//! be read back are in `pending`, the header is in `header`, the data in `data`, what a fault looks like in `fault`.

pub mod block;
mod data;
pub mod fault;
pub mod header;
pub mod pending;
pub(crate) mod read_back;
