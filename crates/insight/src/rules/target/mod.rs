//! The kind of the targets, and the users that they have besides the jobs.

pub(crate) mod below_unseen;
pub(crate) mod colon_in_filename;
pub(crate) mod comma_in_filename;
pub(crate) mod device_in_memory;
pub(crate) mod device_in_use;
pub(crate) mod device_is_overwritten;
pub(crate) mod file_under_dev;
pub(crate) mod target_in_memory;
pub(crate) mod target_on_network;
pub(crate) mod target_on_overlay;
pub(crate) mod trims_of_files;
pub(crate) mod write_refused;
