//! The `ferrio` program: the only place that prints or exits.
//!
//! Called with fio's arguments, or under the name `fio`, it is a drop-in for fio; with the name of a native command it
//! does that. Start reading at [`main`], then [`drop_in`].
#![forbid(unsafe_code)]

mod console;
mod drop_in;
mod progress;
mod version;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().collect();
    drop_in::run(&arguments)
}
