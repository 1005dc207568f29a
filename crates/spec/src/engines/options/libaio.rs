//! Options of the engine `libaio`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, flag};

engine_options! {
    USERSPACE_REAP: bool = flag("userspace_reap", "Reap from the mapped ring without a system call");
    NOWAIT: bool = boolean("nowait", "RWF_NOWAIT on I/O");
    LIBAIO_VECTORED: bool = boolean("libaio_vectored", "Use the vectored opcodes");
}
