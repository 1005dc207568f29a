//! Options of the engine `libiscsi`.
//!
//! Must not know: what the engine does with them.

use super::declaration::text;

engine_options! {
    INITIATOR: &'static str = text("initiator", "Initiator IQN").default("iqn.2019-04.org.fio:fio").planned();
}
