//! The operating system made safe: clocks, I/O memory, shared memory, processes, signals, files, rings, devices.
//!
//! Must not know: jobs, engines, formats. It offers the features of Linux with bounds, owned descriptors, and errors
//! that keep their errno.
//!
//! Unsafe code is denied for the crate and opened file by file, with the reason beside it; most system calls go
//! through `rustix`, so that few files need it.
//!
//! Start reading at [`clock`], then [`arena`] (where I/O buffers live), then [`process`].
#![deny(unsafe_code)]

pub mod aio;
pub mod allocations;
pub mod arena;
pub mod block_device;
mod bus_guard;
pub mod cgroup;
pub mod channel;
pub mod clock;
pub mod dax_device;
mod direct_call;
pub mod disk_stats;
pub mod engine_library;
pub mod errno;
pub mod error;
pub mod extents;
pub mod file;
pub mod file_cache;
pub mod file_extents;
pub mod file_io;
pub mod file_mapping;
pub mod file_space;
pub mod futex;
pub mod heap;
pub mod heat;
pub mod huge_pages;
pub mod io_calls;
pub mod lazy_counts;
pub mod library;
pub mod limits;
pub mod mounts;
pub mod mtd;
pub mod multiply_fill;
pub mod numa;
pub mod nvme;
pub mod output;
pub mod persistent_memory;
pub mod pipe;
pub mod poll;
pub mod posix_aio;
pub mod prefetch;
pub mod process;
pub mod process_limits;
pub mod program;
pub mod range_locks;
pub mod ring;
pub mod scheduling;
pub mod scsi;
pub mod shared_lock;
pub mod shared_memory;
pub mod signals;
pub mod socket;
pub mod system_info;
pub mod tcp_info;
pub mod terminal;
#[cfg(test)]
mod test_support;
pub mod uring;
pub mod waker;
pub mod wide_checksums;

pub use arena::{Arena, ArenaKind, ArenaRequest, Region};
pub use clock::{Clock, ClockKind};
pub use error::{Error, Result};
pub use futex::{FutexWait, futex_wait, futex_wake};
pub use lazy_counts::LazyCounts;
pub use prefetch::prefetch;
/// An errno, the error of everything that is called once per I/O. Converts to `std::io::Error`.
pub use rustix::io::Errno;
pub use shared_lock::SharedLock;
pub use shared_memory::{SharedMemory, SharedPod};
