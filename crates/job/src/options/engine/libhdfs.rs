//! Options of the engine `libhdfs`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::{ANY, Kind, between};

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("namenode", Kind::Text, "Namenode host").default("localhost").of_engines(&["libhdfs"]),
    option("hostname", Kind::Text, "Same as namenode").default("localhost").of_engines(&["libhdfs"]),
    option("port", Kind::Int(between(1, 65535)), "Namenode port").default("9000").of_engines(&["libhdfs"]),
    option("hdfsdirectory", Kind::Text, "Directory for chunk files").default("/").of_engines(&["libhdfs"]),
    option("chunk_size", Kind::Int(ANY), "Bytes per HDFS file")
        .aliases(&["chunck_size"])
        .default("1048576")
        .of_engines(&["libhdfs"]),
    option("single_instance", Kind::Bool, "Share one connection").default("1").of_engines(&["libhdfs"]),
    option("hdfs_use_direct", Kind::Bool, "Use readDirect").default("0").of_engines(&["libhdfs"]),
];
