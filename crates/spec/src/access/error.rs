//! Effect of an I/O error on a job.
//!
//! Must not know: option strings, which errors there were. Start reading at [`ErrorSpec`].

use serde::{Deserialize, Serialize};

/// Classes of I/O errors that do not end a job (`continue_on_error`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorClasses {
    pub read: bool,
    /// Failed writes, trims and syncs.
    pub write: bool,
    /// Failed verification.
    pub verify: bool,
}

/// Effect of errors.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorSpec {
    /// Classes that are tolerated.
    pub continue_on: ErrorClasses,
    /// `ignore_error` for read, write, verify: tolerated errno values; `None`: the default set (EIO and EILSEQ).
    pub ignore: [Option<Vec<i32>>; 3],
    /// `error_dump`.
    pub dump: bool,
}
