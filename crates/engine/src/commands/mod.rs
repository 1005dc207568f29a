//! Engines that send commands to devices past the block layer, and what commands share: protection information, payloads.
//!
//! Must not know: files, servers. Start reading at [`io_uring_cmd`], then [`sg`].

pub(crate) mod io_uring_cmd;
pub(crate) mod payloads;
pub(crate) mod protection;
pub(crate) mod scsi;
pub(crate) mod sg;
