//! Options of the engine `xnvme`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::{ANY, Kind};

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("hipri", Kind::Flag, "Polled completions").of_engines(&["xnvme"]),
    option("sqthread_poll", Kind::Flag, "Kernel submission polling").of_engines(&["xnvme"]),
    option("xnvme_be", Kind::Text, "Backend").of_engines(&["xnvme"]),
    option("xnvme_mem", Kind::Text, "Memory backend").of_engines(&["xnvme"]),
    option("xnvme_async", Kind::Text, "Async interface").of_engines(&["xnvme"]),
    option("xnvme_sync", Kind::Text, "Sync interface").of_engines(&["xnvme"]),
    option("xnvme_admin", Kind::Text, "Admin interface").of_engines(&["xnvme"]),
    option("xnvme_dev_nsid", Kind::Int(ANY), "Namespace id for user space drivers").of_engines(&["xnvme"]),
    option("xnvme_dev_subnqn", Kind::Text, "Fabrics subsystem NQN").of_engines(&["xnvme"]),
    option("xnvme_iovec", Kind::Flag, "Vectored I/O").of_engines(&["xnvme"]),
    option("md_per_io_size", Kind::Int(ANY), "Separate metadata bytes per I/O").default("0").of_engines(&["xnvme"]),
    option("pi_act", Kind::Bool, "PRACT bit").default("1").of_engines(&["xnvme"]),
    option("pi_chk", Kind::Text, "Protection fields to check").of_engines(&["xnvme"]),
    option("apptag", Kind::Int(ANY), "Application tag").default("0x1234").of_engines(&["xnvme"]),
    option("apptag_mask", Kind::Int(ANY), "Application tag mask").default("0xffff").of_engines(&["xnvme"]),
];
