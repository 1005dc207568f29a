//! Options of the engine `rbd`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{SERVER_TIMEOUT_HELP, boolean, number, text};
use crate::values::syntax::between;

engine_options! {
    CLUSTERNAME: Option<&'static str> = text("clustername", "Ceph cluster")
        .long("With it, clientname is the whole name of the client (client.admin); a name without a dot gets client. before it.");
    RBDNAME: Option<&'static str> = text("rbdname", "Image").long("Required. All files of the job are this image.");
    POOL: Option<&'static str> = text("pool", "Pool").long("Required.");
    CLIENTNAME: Option<&'static str> = text("clientname", "Client id")
        .long("As in the keyring, without client. before it: admin for client.admin. Default: admin. The configuration is that of \
               CEPH_CONF, else /etc/ceph/ceph.conf.");
    BUSY_POLL: bool = boolean("busy_poll", "Spin for completions")
        .default("0")
        .long("The job does not sleep while it waits for results, which costs a CPU for each job. Default: off.");
    RBD_ENCRYPTION_FORMAT: Option<&'static str> = text("rbd_encryption_format", "Image encryption format")
        .long("luks1 or luks2, for an image that was formatted so (rbd encryption format). I/O and size are those of the decrypted image.");
    RBD_ENCRYPTION_PASSPHRASE: Option<&'static str> = text("rbd_encryption_passphrase", "Its passphrase")
        .under("rbd_encryption_format")
        .long("It is part of saved records and of reports with options.");
    SERVER_TIMEOUT: i64 = number("server_timeout", "Seconds in which a server has to answer something", between(1, 86_400))
        .default("120")
        .own()
        .long(SERVER_TIMEOUT_HELP);
}
