//! Any bytes as a job file: jobs or an error, never a panic.
#![no_main]

use ferrio_fuzz::World;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = ferrio_job::parse(&["fio".into(), "-".into()], &World(data));
});
