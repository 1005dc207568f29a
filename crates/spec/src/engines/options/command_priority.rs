//! Options for priorities of single I/Os, which engines with asynchronous I/O share.
//!
//! Their values are no concern of the engine: the parser makes a [`CommandPrioritySpec`] of them.
//! Must not know: how priorities are drawn.
//!
//! [`CommandPrioritySpec`]: crate::CommandPrioritySpec

use super::declaration::{CommandPriorityPart, of_command_priority};
use super::declaration::{OptionSyntax::IntPerDirection, OptionSyntax::Text};
use crate::values::syntax::{at_most, between};

engine_options! {
    PERCENTAGE: () = of_command_priority(
        "cmdprio_percentage", "Share of I/Os sent with the alternate priority, read,write",
        IntPerDirection(at_most(100)), CommandPriorityPart::Percentage)
        .neutral("0");
    CLASS: () = of_command_priority(
        "cmdprio_class", "Class of the alternate priority",
        IntPerDirection(between(1, 3)), CommandPriorityPart::Class);
    HINT: () = of_command_priority(
        "cmdprio_hint", "Hint of the alternate priority",
        IntPerDirection(at_most(1023)), CommandPriorityPart::Hint);
    LEVEL: () = of_command_priority(
        "cmdprio", "Level of the alternate priority",
        IntPerDirection(at_most(7)), CommandPriorityPart::Level);
    SPLITS: () = of_command_priority(
        "cmdprio_bssplit", "Per block size shares bs/pct[/class/level[/hint]], joined by colons",
        Text, CommandPriorityPart::Splits);
}
