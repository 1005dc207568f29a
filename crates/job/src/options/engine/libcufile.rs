//! Options of the engine `libcufile`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::{Choice, Kind, choice};

const CUDA_IO: &[Choice] = &[choice("cufile", "GPUDirect"), choice("posix", "Through host memory")];

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("gpu_dev_ids", Kind::Text, "GPU list, ':'-separated, dealt round robin to clones")
        .of_engines(&["libcufile"]),
    option("cuda_io", Kind::Choice(CUDA_IO), "GPUDirect or staged POSIX I/O")
        .default("cufile")
        .of_engines(&["libcufile"]),
];
