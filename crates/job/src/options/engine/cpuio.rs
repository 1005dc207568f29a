//! Options of the engine `cpuio`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, OptionDef, option};
use crate::options::kind::{ANY, Choice, Kind, choice};

const CPUMODE: &[Choice] = &[choice("noop", "Empty loop"), choice("qsort", "Sorting")];

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("cpuload", Kind::Int(ANY), "Percent of one CPU to burn (required)")
        .of_engines(&["cpuio"])
        .applies(Apply::Engine),
    option("cpumode", Kind::Choice(CPUMODE), "Busy loop kind")
        .default("noop")
        .of_engines(&["cpuio"])
        .applies(Apply::Engine),
    option("cpuchunks", Kind::Int(ANY), "Length of one burn slice in us")
        .default("50000")
        .under("cpuload")
        .of_engines(&["cpuio"])
        .applies(Apply::Engine),
    option("exit_on_io_done", Kind::Bool, "Stop when all non-CPU jobs ended")
        .default("0")
        .of_engines(&["cpuio"])
        .applies(Apply::Engine),
];
