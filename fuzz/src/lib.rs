//! Shared by the fuzz targets: an environment without files, variables or directories.
#![forbid(unsafe_code)]

use ferrio_job::environment::Environment;
use std::io::{self, Cursor, ErrorKind, Read};
use std::path::Path;

/// Two CPUs, 1000 MiB of memory, and the fuzzer's bytes on standard input.
pub struct World<'a>(pub &'a [u8]);

impl Environment for World<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        // A value, so that the insertion of values into lines is run as well.
        (name == "V").then(|| "${V}4k".to_owned())
    }

    fn open(&self, _path: &Path) -> io::Result<Box<dyn Read>> {
        Err(io::Error::from(ErrorKind::NotFound))
    }

    fn stdin(&self) -> Box<dyn Read> {
        Box::new(Cursor::new(self.0.to_vec()))
    }

    fn check_directory(&self, _path: &Path) -> io::Result<()> {
        Err(io::Error::from(ErrorKind::NotFound))
    }

    fn page_size_bytes(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        1000
    }

    fn version(&self) -> String {
        "fio-3.42".to_owned()
    }

    fn n_cpus(&self) -> u32 {
        2
    }
}
