//! Options of the engine `exec`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, number, text};
use crate::values::syntax::ANY;

engine_options! {
    PROGRAM: Option<&'static str> = text("program", "Executable to run (required)");
    ARGUMENTS: Option<&'static str> = text("arguments", "Argument string; %r and %n expand to runtime and job name");
    GRACE_TIME: i64 = number("grace_time", "Seconds between SIGTERM and SIGKILL at the end", ANY).default("1");
    STD_REDIRECT: bool = boolean("std_redirect", "Send its stdout/stderr to <job>.stdout/.stderr").default("1");
}
