//! Options of the engine `libiscsi`.
//!
//! Rows only. Must not know: how values are parsed; what a row does is in its `apply` part.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::Kind;

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] =
    &[option("initiator", Kind::Text, "Initiator IQN").default("iqn.2019-04.org.fio:fio").of_engines(&["libiscsi"])];
