//! Options of the engine `libhipfile`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{text, untyped_word};
use crate::values::syntax::{Choice, choice};

const ROCM_IO_WORDS: &[Choice] = &[choice("hipfile", "Direct"), choice("posix", "Through host memory")];

engine_options! {
    GPU_DEV_IDS: Option<&'static str> = text("gpu_dev_ids", "GPU list, ':'-separated, dealt round robin to clones")
        .planned();
    ROCM_IO: () = untyped_word("rocm_io", "Direct or staged POSIX I/O", ROCM_IO_WORDS).default("hipfile");
}
