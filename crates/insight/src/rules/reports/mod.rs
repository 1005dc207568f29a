//! Reports that contradict themselves, or what any device can do. Figures that were measured here are made of counts, so that they cannot.

pub(crate) mod below_any_device;
pub(crate) mod fewer_requests;
pub(crate) mod figures_repeated;
pub(crate) mod latencies_disagree;
pub(crate) mod latency_times_rate;
pub(crate) mod no_numbers;
pub(crate) mod path_in_memory;
pub(crate) mod rate_times_time;
pub(crate) mod statistics_out_of_order;
pub(crate) mod steady_at_zero;
