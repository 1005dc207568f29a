//! Options of the engine `libiscsi`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::Kind;

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] =
    &[option("initiator", Kind::Text, "Initiator IQN").default("iqn.2019-04.org.fio:fio").of_engines(&["libiscsi"])];
