//! Options of the engine `rados`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{boolean, text};

engine_options! {
    CLUSTERNAME: Option<&'static str> = text("clustername", "Ceph cluster").planned();
    POOL: Option<&'static str> = text("pool", "Pool").planned();
    CLIENTNAME: Option<&'static str> = text("clientname", "Client id").planned();
    CONF: &'static str = text("conf", "Config file").default("/etc/ceph/ceph.conf").planned();
    BUSY_POLL: bool = boolean("busy_poll", "Spin for completions").default("0").planned();
    TOUCH_OBJECTS: bool = boolean("touch_objects", "Create all objects first").default("1").planned();
}
