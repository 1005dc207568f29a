//! Engines that others bring: storage of the program around the run, engines in shared libraries.
//!
//! Must not know: other engines. Start reading at [`own`], then [`external`].

pub mod external;
pub mod own;
