//! Processes and threads: starting and ending them, what they exchange, their settings and limits, other programs.
//!
//! Must not know: files, devices. Start reading at [`process`], then [`channel`] and [`futex`].

pub mod cgroup;
pub mod channel;
pub mod futex;
pub mod limits;
pub mod pipe;
pub mod poll;
pub mod process;
pub mod process_limits;
pub mod program;
pub mod range_locks;
pub mod scheduling;
pub mod shared_lock;
pub mod signals;
pub mod waker;
