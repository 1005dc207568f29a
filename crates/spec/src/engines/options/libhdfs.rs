//! Options of the engine `libhdfs`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, number, text};
use crate::values::syntax::{ANY, between};

engine_options! {
    NAMENODE: &'static str = text("namenode", "Namenode host").default("localhost").planned();
    HOSTNAME: &'static str = text("hostname", "Same as namenode").default("localhost").planned();
    PORT: i64 = number("port", "Namenode port", between(1, 65535)).default("9000").planned();
    HDFSDIRECTORY: &'static str = text("hdfsdirectory", "Directory for chunk files").default("/").planned();
    CHUNK_SIZE: i64 = number("chunk_size", "Bytes per HDFS file", ANY)
        .aliases(&["chunck_size"])
        .default("1048576")
        .planned();
    SINGLE_INSTANCE: bool = boolean("single_instance", "Share one connection").default("1").planned();
    HDFS_USE_DIRECT: bool = boolean("hdfs_use_direct", "Use readDirect").default("0").planned();
}
