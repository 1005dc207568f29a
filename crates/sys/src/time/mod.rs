//! Time: the clock of a run.
//!
//! Must not know: files, devices. Start reading at [`clock`].

pub mod clock;
