//! Queues of I/Os: native AIO, `io_uring`, POSIX AIO.
//!
//! Must not know: devices. Start reading at [`uring`], then [`aio`].

pub mod aio;
pub mod posix_aio;
pub mod uring;
