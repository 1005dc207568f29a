//! Options of ferrio's own engine `own`, the storage of a program around the run.
//!
//! Must not know: what the engine does with them.

use super::declaration::text;

engine_options! {
    STORAGE: Option<&'static str> = text("storage", "The storage, by the name under which the program has added it")
        .long("Storages are added by programs that use the crate ferrio. The program ferrio has none.");
}
