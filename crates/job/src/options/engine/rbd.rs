//! Options of the engine `rbd`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::Kind;

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] = &[
    option("clustername", Kind::Text, "Ceph cluster").of_engines(&["rbd"]),
    option("rbdname", Kind::Text, "Image").of_engines(&["rbd"]),
    option("pool", Kind::Text, "Pool").of_engines(&["rbd"]),
    option("clientname", Kind::Text, "Client id").of_engines(&["rbd"]),
    option("busy_poll", Kind::Bool, "Spin for completions").default("0").of_engines(&["rbd"]),
    option("rbd_encryption_format", Kind::Text, "Image encryption format").of_engines(&["rbd"]),
    option("rbd_encryption_passphrase", Kind::Text, "Its passphrase").of_engines(&["rbd"]),
];
