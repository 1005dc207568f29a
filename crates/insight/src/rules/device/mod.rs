//! The work of block devices, and the requests that they get.

pub(crate) mod device_did_less;
pub(crate) mod direct_below_logical_block;
pub(crate) mod faster_than_link;
pub(crate) mod faster_than_memory;
pub(crate) mod misaligned_partition;
pub(crate) mod other_users;
pub(crate) mod partial_physical_blocks;
pub(crate) mod partial_stripes;
pub(crate) mod read_ahead_off;
pub(crate) mod requests_merged;
pub(crate) mod requests_split;
pub(crate) mod scheduler_of_fast_device;
pub(crate) mod slowed_by_heat;
pub(crate) mod trims_split;
pub(crate) mod write_back_throttled;
