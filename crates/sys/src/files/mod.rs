//! Files: kinds, sizes, extents, caches, mappings, file systems, and calls for I/O on a descriptor.
//!
//! Must not know: queues of the kernel. Start reading at [`file`], then [`file_io`].

pub(crate) mod direct_call;
pub mod extents;
pub mod file;
pub mod file_cache;
pub mod file_extents;
pub mod file_io;
pub mod file_mapping;
pub mod file_space;
pub mod io_calls;
pub mod mounts;
