//! Engines whose work is a call on a file or directory of a file system: making, deleting, opening, changing its size.
//!
//! Must not know: data. Start reading at [`open_op`].

pub(crate) mod dircreate;
pub(crate) mod dirdelete;
pub(crate) mod dirstat;
pub(crate) mod e4defrag;
pub(crate) mod falloc;
pub(crate) mod filecreate;
pub(crate) mod filedelete;
pub(crate) mod filestat;
pub(crate) mod ftruncate;
pub(crate) mod open_op;
