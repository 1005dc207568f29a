//! Options of the engine `rados`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::Kind;

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("clustername", Kind::Text, "Ceph cluster").of_engines(&["rados"]),
    option("pool", Kind::Text, "Pool").of_engines(&["rados"]),
    option("clientname", Kind::Text, "Client id").of_engines(&["rados"]),
    option("conf", Kind::Text, "Config file").default("/etc/ceph/ceph.conf").of_engines(&["rados"]),
    option("busy_poll", Kind::Bool, "Spin for completions").default("0").of_engines(&["rados"]),
    option("touch_objects", Kind::Bool, "Create all objects first").default("1").of_engines(&["rados"]),
];
