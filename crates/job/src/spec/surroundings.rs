//! What is done around the I/O of a job: commands before and after it, and where the kernel puts it.
//!
//! Must not know: how any of it is done. Start reading at [`SurroundingsSpec`].

use serde::{Deserialize, Serialize};

/// What is done around the I/O of a job. The default does nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SurroundingsSpec {
    /// `exec_prerun`: a command for the shell before the first I/O; not empty.
    pub exec_prerun: Option<String>,
    /// `exec_postrun`: the same after the last one.
    pub exec_postrun: Option<String>,
    /// `ioscheduler`: its name in the kernel; not empty.
    pub ioscheduler: Option<String>,
}
