//! Options of the engine `windowsaio (not Linux)`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{OptionDef, option};
use crate::options::kind::Kind;

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] =
    &[option("no_completion_thread", Kind::Flag, "Windows only: poll in the job thread")
        .of_engines(&["windowsaio"])
        .not_applicable("not a Linux engine")];
