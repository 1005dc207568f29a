//! A small world for tests: files, directories and variables held in memory; and jobs by their options.

use crate::environment::Environment;
use crate::error::JobError;
use crate::message::UserMessages;
use crate::options::draft::{ApplyContext, Draft};
use crate::options::{find_general, set};
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// An environment with two CPUs, pages of 4096 bytes and 1000 MiB; a test adds files and variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct World {
    pub(crate) files: HashMap<PathBuf, Vec<u8>>,
    pub(crate) directories: Vec<PathBuf>,
    pub(crate) variables: HashMap<String, String>,
    pub(crate) stdin: Vec<u8>,
}

impl World {
    pub(crate) fn with_file(mut self, path: &str, text: impl Into<Vec<u8>>) -> Self {
        self.files.insert(PathBuf::from(path), text.into());
        self
    }
}

/// A job with these options, set one after the other.
pub(crate) fn draft_of(options: &[(&str, &str)]) -> Result<Draft, JobError> {
    let mut draft = Draft::new();
    for (name, text) in options {
        let mut messages = UserMessages::new();
        let mut context = ApplyContext { environment: &World::default(), readonly: false, messages: &mut messages };
        let def = find_general(name).unwrap_or_else(|| panic!("{name} is no option"));
        set::set(&mut draft, def, Some(text), &mut context)?;
    }
    Ok(draft)
}

impl Environment for World {
    fn version(&self) -> String {
        "fio-3.42".to_owned()
    }

    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).cloned()
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        if path == Path::new("/dev/zero") {
            return Ok(Box::new(io::repeat(0)));
        }
        if path == Path::new("/dev/newlines") {
            return Ok(Box::new(io::repeat(b'\n')));
        }
        let data = self.files.get(path).cloned().ok_or_else(|| io::Error::from_raw_os_error(libc::ENOENT))?;
        Ok(Box::new(io::Cursor::new(data)))
    }

    fn stdin(&self) -> Box<dyn Read> {
        Box::new(io::Cursor::new(self.stdin.clone()))
    }

    fn check_directory(&self, path: &Path) -> io::Result<()> {
        let known = self.directories.iter().any(|directory| directory == path);
        if known { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ENOENT)) }
    }

    fn page_size_bytes(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        1000
    }

    fn n_cpus(&self) -> u32 {
        2
    }

    fn numa_nodes(&self) -> Vec<u32> {
        vec![0, 1]
    }
}
