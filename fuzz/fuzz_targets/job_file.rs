//! Any bytes as a job file: sections or an error, never a panic, never more lines than bytes.
#![no_main]

use ferrio_fuzz::World;
use ferrio_job::job_file;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let file = job_file::read("-", &World(data));
    let n_lines: usize = file.sections.iter().map(|section| 1 + section.lines.len()).sum();
    assert!(n_lines <= data.len());
});
