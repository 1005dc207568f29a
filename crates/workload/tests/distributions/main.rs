//! Streams of I/Os compared with the definitions of their distributions, by Pearson's chi-square at fixed seeds.
//!
//! Expected shares come from the definition in each case, never from the code under test. Must not know: how draws are made.
//! Start reading at [`chi_square`], then [`jobs`], which makes the streams.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "all of this file and its modules is test code")]

mod arrivals;
mod chi_square;
mod directions;
mod jobs;
mod sizes;
mod skewed;
mod uniform;
mod zones;
