//! The machine, and the terminal of the user.
//!
//! Must not know: jobs. Start reading at [`system_info`].

pub mod held_errors;
pub mod system_info;
pub mod terminal;
