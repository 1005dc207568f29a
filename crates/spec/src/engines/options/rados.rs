//! Options of the engine `rados`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{SERVER_TIMEOUT_HELP, boolean, number, text};
use crate::values::syntax::between;

engine_options! {
    CLUSTERNAME: Option<&'static str> = text("clustername", "Ceph cluster")
        .long("With it, clientname is the whole name of the client (client.admin); a name without a dot gets client. before it.");
    POOL: Option<&'static str> = text("pool", "Pool").long("Required.");
    CLIENTNAME: Option<&'static str> = text("clientname", "Client id")
        .long("As in the keyring, without client. before it: admin for client.admin. Default: admin.");
    CONF: &'static str = text("conf", "Config file")
        .default("/etc/ceph/ceph.conf")
        .long("The environment variable CEPH_CONF is not looked at.");
    BUSY_POLL: bool = boolean("busy_poll", "Spin for completions")
        .default("0")
        .long("The job does not sleep while it waits for results, which costs a CPU for each job. Default: off.");
    TOUCH_OBJECTS: bool = boolean("touch_objects", "Create all objects first")
        .default("1")
        .long("Each object is made by an empty write before the job starts; one that is there stays as it is. A read of what is not there \
               gives zeroes and counts in full, so write objects before a job reads them.");
    SERVER_TIMEOUT: i64 = number("server_timeout", "Seconds in which a server has to answer something", between(1, 86_400))
        .default("120")
        .own()
        .long(SERVER_TIMEOUT_HELP);
}
