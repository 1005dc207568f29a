//! Command lines and job files from documents that people follow, at smaller sizes and runtimes.
//!
//! One module per document. Start reading at any of them.

mod append;
mod baselines;
mod first_questions;
mod preallocation;
mod sync_engine;
