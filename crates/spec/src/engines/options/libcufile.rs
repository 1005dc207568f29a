//! Options of the engine `libcufile`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{text, untyped_word};
use crate::values::syntax::{Choice, choice};

const CUDA_IO_WORDS: &[Choice] = &[choice("cufile", "GPUDirect"), choice("posix", "Through host memory")];

engine_options! {
    GPU_DEV_IDS: Option<&'static str> = text("gpu_dev_ids", "GPU list, ':'-separated, dealt round robin to clones")
        .planned();
    CUDA_IO: () = untyped_word("cuda_io", "GPUDirect or staged POSIX I/O", CUDA_IO_WORDS).default("cufile");
}
