//! Options that leave too little to measure, and jobs that failed.

pub(crate) mod few_ios_planned;
pub(crate) mod few_samples;
pub(crate) mod job_failed;
pub(crate) mod no_io;
pub(crate) mod ramp_outlasts_job;
pub(crate) mod runtime_without_time_based;
