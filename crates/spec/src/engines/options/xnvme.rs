//! Options of the engine `xnvme`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, flag, number, text};
use crate::values::syntax::ANY;

engine_options! {
    HIPRI: bool = flag("hipri", "Polled completions").planned();
    SQTHREAD_POLL: bool = flag("sqthread_poll", "Kernel submission polling").planned();
    XNVME_BE: Option<&'static str> = text("xnvme_be", "Backend").planned();
    XNVME_MEM: Option<&'static str> = text("xnvme_mem", "Memory backend").planned();
    XNVME_ASYNC: Option<&'static str> = text("xnvme_async", "Async interface").planned();
    XNVME_SYNC: Option<&'static str> = text("xnvme_sync", "Sync interface").planned();
    XNVME_ADMIN: Option<&'static str> = text("xnvme_admin", "Admin interface").planned();
    XNVME_DEV_NSID: Option<i64> = number("xnvme_dev_nsid", "Namespace id for user space drivers", ANY).planned();
    XNVME_DEV_SUBNQN: Option<&'static str> = text("xnvme_dev_subnqn", "Fabrics subsystem NQN").planned();
    XNVME_IOVEC: bool = flag("xnvme_iovec", "Vectored I/O").planned();
    MD_PER_IO_SIZE: i64 = number("md_per_io_size", "Separate metadata bytes per I/O", ANY).default("0").planned();
    PI_ACT: bool = boolean("pi_act", "PRACT bit").default("1").planned();
    PI_CHK: Option<&'static str> = text("pi_chk", "Protection fields to check").planned();
    APPTAG: i64 = number("apptag", "Application tag", ANY).default("0x1234").planned();
    APPTAG_MASK: i64 = number("apptag_mask", "Application tag mask", ANY).default("0xffff").planned();
}
