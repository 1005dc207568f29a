//! Clocks, the time that figures count, and the course of a run.

pub(crate) mod clock_cost;
pub(crate) mod clock_trouble;
pub(crate) mod closing_syncs;
pub(crate) mod first_reads_slower;
pub(crate) mod latency_without_submission;
pub(crate) mod latency_without_waiting;
pub(crate) mod preparation_counted;
pub(crate) mod ran_alone;
pub(crate) mod rate_drifts;
pub(crate) mod rate_fell;
pub(crate) mod rate_not_reached;
pub(crate) mod stalls;
pub(crate) mod stopped;
