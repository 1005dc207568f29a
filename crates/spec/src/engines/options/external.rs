//! Options of the engine `external`: the library, what is passed on to it, and the option of fio's sample.
//!
//! Must not know: what the engine does with them.

use super::declaration::{flag, text};

engine_options! {
    DUMMY: bool = flag("dummy", "Example option of the sample external engine")
        .not_applicable("belongs to a sample of an external engine");
    LIBRARY: Option<&'static str> = text("library", "The shared library of the engine")
        .long("Given with the engine: ioengine=external:PATH sets it.")
        .own();
    LIBRARY_OPTIONS: Option<&'static str> = text("library_options", "Options of the engine in the library: NAME=VALUE, with commas between them")
        .long("--enghelp=PATH shows the options that the library declares.")
        .own();
}
