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

mod devices;
pub mod errno;
pub mod error;
mod files;
mod libraries;
mod memory;
mod network;
pub mod output;
mod processes;
mod queues;
mod system;
#[cfg(test)]
mod test_support;
mod time;

pub use devices::{block_device, dax_device, disk_stats, heat, mtd, nvme, scsi};
pub use error::{Error, Result};
pub use files::{extents, file, file_cache, file_extents, file_io, file_mapping, file_space, io_calls, mounts};
pub use libraries::{engine_library, library};
pub use memory::arena::{Arena, ArenaKind, ArenaRequest, Region};
pub use memory::lazy_counts::LazyCounts;
pub use memory::prefetch::prefetch;
pub use memory::shared_memory::{SharedMemory, SharedPod};
pub use memory::{
    allocations, arena, heap, huge_pages, lazy_counts, multiply_fill, numa, persistent_memory, prefetch, ring,
    shared_memory, wide_checksums,
};
pub use network::{socket, tcp_info};
pub use processes::futex::{FutexWait, futex_wait, futex_wake};
pub use processes::shared_lock::SharedLock;
pub use processes::{
    cgroup, channel, futex, limits, pipe, poll, process, process_limits, program, range_locks, scheduling, shared_lock,
    signals, waker,
};
pub use queues::{aio, posix_aio, uring};
/// An errno, the error of everything that is called once per I/O. Converts to `std::io::Error`.
pub use rustix::io::Errno;
pub use system::{held_errors, system_info, terminal};
pub use time::clock;
pub use time::clock::{Clock, ClockKind};
