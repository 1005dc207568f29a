//! Any arguments: jobs or an error, never a panic. A zero byte ends an argument.
#![no_main]

use ferrio_fuzz::World;
use libfuzzer_sys::fuzz_target;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

fuzz_target!(|data: &[u8]| {
    let given = data.split(|&byte| byte == 0).map(|argument| OsStr::from_bytes(argument).to_owned());
    let arguments: Vec<OsString> = std::iter::once("fio".into()).chain(given).collect();
    let _ = ferrio_job::parse(&arguments, &World(b"[a]\nsize=4k\n"));
});
