//! Options of the engine `exec`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, OptionDef, option};
use crate::options::kind::{ANY, Kind};

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("program", Kind::Text, "Executable to run (required)").of_engines(&["exec"]).applies(Apply::Engine),
    option("arguments", Kind::Text, "Argument string; %r and %n expand to runtime and job name")
        .of_engines(&["exec"])
        .applies(Apply::Engine),
    option("grace_time", Kind::Int(ANY), "Seconds between SIGTERM and SIGKILL at the end")
        .default("1")
        .of_engines(&["exec"])
        .applies(Apply::Engine),
    option("std_redirect", Kind::Bool, "Send its stdout/stderr to <job>.stdout/.stderr")
        .default("1")
        .of_engines(&["exec"])
        .applies(Apply::Engine),
];
