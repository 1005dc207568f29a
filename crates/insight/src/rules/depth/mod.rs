//! The number of I/Os in flight.

pub(crate) mod asynchronous_without_direct;
pub(crate) mod depth_beyond_queue;
pub(crate) mod depth_not_reached;
pub(crate) mod depth_of_synchronous_engine;
pub(crate) mod effect_of_parallelism;
pub(crate) mod posixaio_one_file;
pub(crate) mod submission_blocked;
