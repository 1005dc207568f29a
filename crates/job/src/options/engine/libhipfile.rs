//! Options of the engine `libhipfile`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::{Choice, Kind, choice};

const ROCM_IO: &[Choice] = &[choice("hipfile", "Direct"), choice("posix", "Through host memory")];

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("gpu_dev_ids", Kind::Text, "GPU list, ':'-separated, dealt round robin to clones")
        .of_engines(&["libhipfile"]),
    option("rocm_io", Kind::Choice(ROCM_IO), "Direct or staged POSIX I/O")
        .default("hipfile")
        .of_engines(&["libhipfile"]),
];
