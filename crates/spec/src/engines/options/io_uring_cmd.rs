//! Options of the engines `io_uring` and `io_uring_cmd` that describe commands to the device.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, number, text};
use crate::DeviationKind::Stricter;
use crate::values::syntax::ANY;

engine_options! {
    MD_PER_IO_SIZE: i64 = number("md_per_io_size", "Separate metadata bytes per I/O (NVMe)", ANY)
        .default("0")
        .long("Room for metadata in a buffer of their own. With io_uring (through the block layer) a size above 0 sends protection \
               information along with each read and write: for block devices that have it, from Linux 6.17 on.")
        .deviates(Stricter, "With io_uring, too little room and blocks that are not whole are refused when the device is opened; in fio the first I/O fails.");
    PI_ACT: bool = boolean("pi_act", "PRACT bit (NVMe)").default("1");
    PI_CHK: Option<&'static str> = text("pi_chk", "Protection fields to check: GUARD,REFTAG,APPTAG");
    APPTAG: i64 = number("apptag", "Application tag", ANY).default("0x1234");
    APPTAG_MASK: i64 = number("apptag_mask", "Application tag mask", ANY).default("0xffff");
    DEAC: bool = boolean("deac", "Deallocate bit for write zeroes").default("0");
}
