//! Options of the engines `io_uring` and `io_uring_cmd` that describe commands to the device.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, number, text};
use crate::syntax::ANY;

engine_options! {
    MD_PER_IO_SIZE: i64 = number("md_per_io_size", "Separate metadata bytes per I/O (NVMe)", ANY)
        .default("0")
        .planned();
    PI_ACT: bool = boolean("pi_act", "PRACT bit (NVMe)").default("1").planned();
    PI_CHK: Option<&'static str> = text("pi_chk", "Protection fields to check: GUARD,REFTAG,APPTAG").planned();
    APPTAG: i64 = number("apptag", "Application tag", ANY).default("0x1234").planned();
    APPTAG_MASK: i64 = number("apptag_mask", "Application tag mask", ANY).default("0xffff").planned();
    DEAC: bool = boolean("deac", "Deallocate bit for write zeroes").default("0").planned();
}
