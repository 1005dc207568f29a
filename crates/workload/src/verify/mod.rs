//! Verified blocks: their contents, and the faults in blocks that were read.
//!
//! Must not know: files, system calls. Start reading at [`block::BlockRules`]: it stamps a block before a write and
//! checks one that was read. `pending` has the writes to read back, `trims` those to trim before, `header` the header,
//! `data` the data, `digest` the checksums, `known` contents that are known before a block is read or written, `fault`
//! the kinds of damage.

pub mod block;
mod data;
mod digest;
pub mod fault;
pub mod header;
pub mod known;
pub mod pending;
pub(crate) mod read_back;
pub mod state;
pub mod trims;
