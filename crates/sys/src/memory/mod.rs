//! Memory: buffers of I/Os, memory that processes share, huge pages, nodes, and functions that fill or check much of it.
//!
//! Must not know: files, devices. Start reading at [`arena`] (where I/O buffers live), then [`shared_memory`].

pub mod allocations;
pub mod arena;
pub(crate) mod bus_guard;
pub mod heap;
pub mod huge_pages;
pub mod lazy_counts;
pub mod multiply_fill;
pub mod numa;
pub mod persistent_memory;
pub mod prefetch;
pub mod ring;
pub mod shared_memory;
pub mod wide_checksums;
