//! Options that leave too little to measure, and jobs that failed.

pub(crate) mod cannot_start;
pub(crate) mod few_ios_planned;
pub(crate) mod few_samples;
pub(crate) mod files_below_block;
pub(crate) mod job_failed;
pub(crate) mod late_global;
pub(crate) mod name_against_rw;
pub(crate) mod no_io;
pub(crate) mod number_without_unit;
pub(crate) mod options_of_one_job;
pub(crate) mod percentiles_below_one;
pub(crate) mod ramp_outlasts_job;
pub(crate) mod rate_below_block;
pub(crate) mod runtime_without_time_based;
pub(crate) mod section_like_global;
pub(crate) mod syncs_beside_writes;
pub(crate) mod tests_at_once;
pub(crate) mod traces_left_over;
