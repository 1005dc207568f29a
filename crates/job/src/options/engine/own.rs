//! Options of ferrio's own engine `own`, the storage of a program around the run.

use crate::options::definition::{Apply, OptionDef, option};
use crate::options::kind::Kind;

/// The rows.
pub(crate) const OPTIONS: &[OptionDef] =
    &[option("storage", Kind::Text, "The storage, by the name under which the program has added it")
        .of_engines(&["own"])
        .applies(Apply::Engine)
        .long("Storages are added by programs that use the crate ferrio. The program ferrio has none.")];
