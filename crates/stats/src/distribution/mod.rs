//! Distributions of latencies and samples: histograms, percentiles, means, and how precise they are.
//!
//! Must not know: who measures them. Start reading at [`histogram`], then [`latency`].

pub mod histogram;
pub mod latency;
pub mod percentile;
pub mod precision;
pub mod samples;
