//! Caches that answer instead of a device, and syncs that empty them.

pub(crate) mod buffered_below_page;
pub(crate) mod cached_by_earlier_job;
pub(crate) mod cached_by_option;
pub(crate) mod data_journaled;
pub(crate) mod device_cache;
pub(crate) mod direct_not_honoured;
pub(crate) mod direct_writes_copied;
pub(crate) mod earlier_writes;
pub(crate) mod fits_in_memory;
pub(crate) mod latency_without_syncs;
pub(crate) mod memory_expected;
pub(crate) mod mounted_sync;
pub(crate) mod page_cache_limited;
pub(crate) mod process_read_less;
pub(crate) mod sync_without_flush;
pub(crate) mod syncs_at_once;
pub(crate) mod syncs_never_due;
pub(crate) mod unsynced_writes;
pub(crate) mod volatile_cache;
pub(crate) mod writes_still_dirty;
