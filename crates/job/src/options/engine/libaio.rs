//! Options of the engine `libaio`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::command_priority;
use crate::options::definition::{Apply, OptionDef, option};
use crate::options::kind::{Kind, at_most, between};

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("userspace_reap", Kind::Flag, "Reap from the mapped ring without a system call")
        .of_engines(&["libaio"])
        .applies(Apply::Engine),
    option("nowait", Kind::Bool, "RWF_NOWAIT on I/O").of_engines(&["libaio"]).applies(Apply::Engine),
    option("libaio_vectored", Kind::Bool, "Use the vectored opcodes").of_engines(&["libaio"]).applies(Apply::Engine),
    option(
        "cmdprio_percentage",
        Kind::IntPerDirection(at_most(100)),
        "Share of I/Os sent with the alternate priority, read,write",
    )
    .neutral("0")
    .of_engines(&["libaio"])
    .applies(Apply::With(command_priority::percentage)),
    option("cmdprio_class", Kind::IntPerDirection(between(1, 3)), "Class of the alternate priority")
        .of_engines(&["libaio"])
        .applies(Apply::With(command_priority::class)),
    option("cmdprio_hint", Kind::IntPerDirection(at_most(1023)), "Hint of the alternate priority")
        .of_engines(&["libaio"])
        .applies(Apply::With(command_priority::hint)),
    option("cmdprio", Kind::IntPerDirection(at_most(7)), "Level of the alternate priority")
        .of_engines(&["libaio"])
        .applies(Apply::With(command_priority::level)),
    option("cmdprio_bssplit", Kind::Text, "Per block size shares bs/pct[/class/level[/hint]], joined by colons")
        .of_engines(&["libaio"])
        .applies(Apply::With(command_priority::splits)),
];
