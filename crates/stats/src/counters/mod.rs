//! What a worker counts besides its directions: depths, priorities, errors of blocks, use of the CPU, features of few jobs.
//!
//! Must not know: records. Start reading at [`feature_stats`].

pub mod block_states;
pub(crate) mod counts;
pub mod depth;
pub(crate) mod draws;
pub mod feature_stats;
pub mod idleness;
pub(crate) mod object_requests;
pub mod priority;
pub(crate) mod replay;
pub mod resource_usage;
pub(crate) mod server_steps;
pub mod steady_state;
