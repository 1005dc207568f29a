//! Options of the built-in profiles.
//!
//! Rows only. Must not know: how values are parsed; what a row does is in its `apply` part.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::{ANY, Kind};

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("device-names", Kind::Text, "Comma list of devices (required)").of_profile("act"),
    option("load", Kind::Int(ANY), "Load multiple").default("1").of_profile("act"),
    option("test-duration", Kind::Microseconds, "Length of the run").default("24h").of_profile("act"),
    option("threads-per-queue", Kind::Int(ANY), "Reader clones per device").default("8").of_profile("act"),
    option("read-req-num-512-blocks", Kind::Int(ANY), "Sectors per read").default("3").of_profile("act"),
    option("large-block-op-kbytes", Kind::Int(ANY), "Write size value").default("131072").of_profile("act"),
    option("prep", Kind::Flag, "Only run the zero and salt passes").of_profile("act"),
    option("size", Kind::Size(ANY), "File set size in MiB (default 4096*mb_memory bytes)").of_profile("tiobench"),
    option("block", Kind::Int(ANY), "Block size").default("4096").of_profile("tiobench"),
    option("numruns", Kind::Int(ANY), "Loops").of_profile("tiobench"),
    option("dir", Kind::Text, "Directory").of_profile("tiobench"),
    option("threads", Kind::Int(ANY), "Clones").of_profile("tiobench"),
];
