//! Limits of processes and control groups.

pub(crate) mod buffers_exceed_memory;
pub(crate) mod file_size_limit;
pub(crate) mod io_limit;
pub(crate) mod io_weight;
pub(crate) mod locked_memory_limit;
pub(crate) mod memory_stalls;
pub(crate) mod open_file_limit;
