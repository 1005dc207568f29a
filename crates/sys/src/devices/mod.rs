//! Devices: block devices and their zones, NVMe, SCSI, flash, persistent memory; their counters and temperatures.
//!
//! Must not know: queues. Start reading at [`block_device`], then [`nvme`] and [`scsi`].

pub mod block_device;
pub mod dax_device;
pub mod disk_stats;
pub mod heat;
pub mod mtd;
pub mod nvme;
pub mod scsi;
