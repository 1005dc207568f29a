//! Options of the engines `filestat,dirstat`.
//!
//! Rows only; the effect of a row is in its `apply` function. Must not know: how values are parsed.

use crate::options::definition::{Apply, OptionDef, option};
use crate::options::kind::{Choice, Kind, choice};

const STAT_TYPE: &[Choice] = &[choice("stat", "stat()"), choice("lstat", "lstat()"), choice("statx", "statx()")];

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] =
    &[option("stat_type", Kind::Choice(STAT_TYPE), "System call timed by filestat/dirstat")
        .default("stat")
        .of_engines(&["filestat", "dirstat"])
        .applies(Apply::Engine)];
