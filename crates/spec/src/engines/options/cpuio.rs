//! Options of the engine `cpuio`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, number, word};
use crate::values::syntax::ANY;

words! {
    /// How `cpuio` burns time.
    CpuMode {
        Noop: "noop", "Empty loop";
        Qsort: "qsort", "Sorting";
    }
}

engine_options! {
    CPULOAD: Option<i64> = number("cpuload", "Percent of one CPU to burn (required)", ANY);
    CPUMODE: CpuMode = word("cpumode", "Busy loop kind");
    CPUCHUNKS: i64 = number("cpuchunks", "Length of one burn slice in us", ANY).default("50000").under("cpuload");
    EXIT_ON_IO_DONE: bool = boolean("exit_on_io_done", "Stop when all non-CPU jobs ended").default("0");
}
