//! Shared libraries of others, and engines in them.
//!
//! Must not know: single libraries. Start reading at [`library`], then [`engine_library`].

pub mod engine_library;
pub mod library;
