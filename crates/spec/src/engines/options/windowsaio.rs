//! Options of the engine `windowsaio`, which is not for Linux.
//!
//! Must not know: what the engine does with them.

use super::declaration::flag;

engine_options! {
    NO_COMPLETION_THREAD: bool = flag("no_completion_thread", "Windows only: poll in the job thread")
        .not_applicable("not a Linux engine");
}
