//! SCSI commands: their bytes, the devices that take them (`/dev/sgN`, block devices of SCSI disks), and their statuses.
//!
//! Facts: SPC-5, SBC-4 (T10); `scsi/sg.h`. Numbers in commands are big endian. Must not know: jobs. Start reading at
//! [`cdb::Cdb`], then [`queue::ScsiQueue`].

pub mod bsg;
pub mod capacity;
pub mod cdb;
pub mod node;
pub mod queue;
