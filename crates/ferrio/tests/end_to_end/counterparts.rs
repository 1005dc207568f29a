//! Servers of other projects, which `tools/counterparts` starts and stops.
//!
//! Start reading at [`Counterpart::start`].

use crate::support::{Scratch, is_root, skip};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const COUNTERPARTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/counterparts");

/// Servers that only root can run.
const OF_ROOT: [&str; 3] = ["nfs-ganesha", "iscsi-tgt", "gluster-volume"];

/// A server that is running, ended when it is dropped.
pub(crate) struct Counterpart {
    script: PathBuf,
    /// All that the server writes is below it.
    pub(crate) directory: PathBuf,
    settings: BTreeMap<String, String>,
    _scratch: Scratch,
}

impl Counterpart {
    /// `None`: this machine cannot run it, and the test is reported as skipped.
    pub(crate) fn start(test: &str, name: &str) -> Option<Self> {
        Self::start_with(test, name, &[])
    }

    /// The same with arguments of the script.
    pub(crate) fn start_with(test: &str, name: &str, arguments: &[&str]) -> Option<Self> {
        if OF_ROOT.contains(&name) && !is_root(test) {
            return None;
        }
        // The scripts want a short path.
        let scratch = Scratch::in_temporary_directory("dav");
        let (script, directory) = (Path::new(COUNTERPARTS).join(name), scratch.join("s"));
        let output = Command::new(&script)
            .arg("start")
            .arg(&directory)
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .expect("a script");
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.code() == Some(77) {
            skip(test, said.trim());
            return None;
        }
        assert!(output.status.success(), "{name}: {said}");
        let said = std::fs::read_to_string(directory.join("env")).expect("settings");
        let setting = |line: &str| {
            let (key, value) = line.split_once('=')?;
            Some((key.to_owned(), value.trim_matches('\'').to_owned()))
        };
        let settings = said.lines().filter_map(setting).collect();
        Some(Self { script, directory, settings, _scratch: scratch })
    }

    /// A setting; empty: there is none.
    pub(crate) fn setting(&self, key: &str) -> &str {
        self.settings.get(key).map_or("", String::as_str)
    }

    /// Host and path of an address among the settings.
    pub(crate) fn place(&self, key: &str) -> (&str, String) {
        let (_, rest) = self.setting(key).split_once("://").expect("an address");
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        (host, if path.is_empty() { String::new() } else { format!("/{path}") })
    }
}

impl Drop for Counterpart {
    fn drop(&mut self) {
        let _ = Command::new(&self.script).arg("stop").arg(&self.directory).stdin(Stdio::null()).output();
    }
}
