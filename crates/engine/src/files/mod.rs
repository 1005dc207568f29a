//! Engines for files and block devices: by system calls, by queues of the kernel, by mappings, and what they share.
//!
//! Must not know: servers, how a job is run. Start reading at [`inline`], then [`libaio`] and [`io_uring`].

pub(crate) mod control;
pub(crate) mod dev_dax;
pub(crate) mod fd_table;
pub(crate) mod inline;
pub(crate) mod io_uring;
pub(crate) mod libaio;
pub(crate) mod libpmem;
pub(crate) mod libzbc;
pub(crate) mod mmap;
pub(crate) mod mtd;
pub mod offload;
pub(crate) mod pmem;
pub(crate) mod posixaio;
pub(crate) mod psync;
pub(crate) mod pvsync;
pub(crate) mod pvsync2;
pub(crate) mod rw_flags;
pub(crate) mod splice;
pub(crate) mod sync;
pub(crate) mod vsync;
