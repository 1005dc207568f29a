//! Options of the engines `filestat` and `dirstat`.
//!
//! Must not know: what the engine does with them.

use super::declaration::word;

words! {
    /// The call by which a file is looked up.
    StatCall {
        Stat: "stat", "stat()";
        Lstat: "lstat", "lstat()";
        Statx: "statx", "statx()";
    }
}

engine_options! {
    STAT_TYPE: StatCall = word("stat_type", "System call timed by filestat/dirstat");
}
