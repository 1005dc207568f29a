//! Options of the engine `libiscsi`.
//!
//! Must not know: what the engine does with them.

use super::declaration::{SERVER_TIMEOUT_HELP, boolean, number, text};
use crate::DeviationKind::Mended;
use crate::values::syntax::between;

engine_options! {
    INITIATOR: &'static str = text("initiator", "Initiator IQN")
        .long("The name by which the job logs in. Files of the job are addresses of LUNs: iscsi://[USER%PASSWORD@]HOST[:PORT]/TARGET/LUN with \
               a backslash before each colon.")
        .default("iqn.2019-04.org.fio:fio")
        .deviates(Mended, "User and password (CHAP) of an address are used; fio's login fails where a target asks for them.");
    UNMAP: bool = boolean("libiscsi_unmap", "Trims are UNMAP commands")
        .long("An option of ferrio's own. Without it trims are refused, as in fio.")
        .own();
    FUA: bool = boolean("libiscsi_fua", "Reads and writes force unit access")
        .long("An option of ferrio's own. READ and WRITE have the bit FUA: the target does not answer from its volatile cache.")
        .own();
    SERVER_TIMEOUT: i64 = number("server_timeout", "Seconds in which a server has to answer something", between(1, 86_400))
        .default("120")
        .own()
        .long(SERVER_TIMEOUT_HELP);
}
