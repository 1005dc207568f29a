//! Options of the engine `rbd`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, text};

engine_options! {
    CLUSTERNAME: Option<&'static str> = text("clustername", "Ceph cluster").planned();
    RBDNAME: Option<&'static str> = text("rbdname", "Image").planned();
    POOL: Option<&'static str> = text("pool", "Pool").planned();
    CLIENTNAME: Option<&'static str> = text("clientname", "Client id").planned();
    BUSY_POLL: bool = boolean("busy_poll", "Spin for completions").default("0").planned();
    RBD_ENCRYPTION_FORMAT: Option<&'static str> = text("rbd_encryption_format", "Image encryption format").planned();
    RBD_ENCRYPTION_PASSPHRASE: Option<&'static str> = text("rbd_encryption_passphrase", "Its passphrase").planned();
}
