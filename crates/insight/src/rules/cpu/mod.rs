//! CPU time: too little of it, or much of it for other work than I/O.

pub(crate) mod cpu_quota;
pub(crate) mod cpu_quota_set;
pub(crate) mod far_numa_node;
pub(crate) mod load_generator_limit;
pub(crate) mod stolen_cpu_time;
pub(crate) mod tail_waits_for_cpu;
pub(crate) mod verification_cost;
pub(crate) mod waits_for_cpu;
