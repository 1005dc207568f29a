//! Servers of other projects, which `tools/counterparts` starts and stops.
//!
//! Start reading at [`Counterpart::start`].

use crate::support::{Program, Run, Scratch, is_root, send, skip};
use rustix::process::Signal;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const COUNTERPARTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/counterparts");

/// Servers that only root can run.
const OF_ROOT: [&str; 4] = ["nfs-ganesha", "iscsi-tgt", "gluster-volume", "hosts"];

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

    /// What the script says to another word than start, check and stop.
    pub(crate) fn ask(&self, word: &str) -> String {
        let output = Command::new(&self.script).arg(word).arg(&self.directory).stdin(Stdio::null()).output();
        let output = output.expect("a script");
        assert!(output.status.success(), "{word}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// A process of the server, by the name that its script has for it.
    pub(crate) fn process(&self, name: &str) -> u32 {
        let processes = std::fs::read_to_string(self.directory.join("pids")).expect("processes");
        let of = |line: &str| line.strip_prefix(name)?.strip_prefix(' ')?.split(' ').next()?.parse().ok();
        processes.lines().find_map(of).unwrap_or_else(|| panic!("no {name}: {processes}"))
    }

    /// Stops a process of the server where it is, until the guard is dropped. All of its threads are stopped when this returns.
    pub(crate) fn freeze(&self, name: &str) -> Frozen {
        Frozen::new(self.process(name))
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

/// True if all threads of a process are in one of these states, or gone.
pub(crate) fn are_threads_in<const N: usize>(process: u32, states: [char; N]) -> bool {
    let is_in = |path: PathBuf| {
        let text = std::fs::read_to_string(path.join("stat")).unwrap_or_default();
        // It follows the name in brackets, which may hold anything.
        text.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with(states))
    };
    std::fs::read_dir(format!("/proc/{process}/task"))
        .into_iter()
        .flatten()
        .flatten()
        .all(|thread| is_in(thread.path()))
}

/// A process that is stopped until this is dropped.
pub(crate) struct Frozen(u32);

impl Frozen {
    /// Stops a process; all of its threads are stopped when this returns.
    pub(crate) fn new(process: u32) -> Self {
        let frozen = Self(process);
        send(frozen.0, Signal::STOP);
        while !are_threads_in(process, ['T', 'Z', 'X']) {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        frozen
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        send(self.0, Signal::CONT);
    }
}

/// Names and states of what `ferrio engines` says of a server.
pub(crate) fn answers_about(scratch: &Scratch, url: &str) -> Vec<(String, String)> {
    let done = Run::new(Program::Ferrio, scratch.path(), &format!("engines --json {url}")).finish();
    assert_eq!(done.code, Some(0), "{}", done.all());
    let document: serde_json::Value = serde_json::from_str(&done.stdout).expect("JSON");
    let answers = document["answers"].as_array().expect("a list").iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    answers.map(|answer| (text(&answer["name"]), text(&answer["state"]))).collect()
}

/// True if a process receives SIGINT (2) by a descriptor: it has blocked it. The C library blocks all signals for a moment where a thread or a program is started: then
/// SIGSEGV (11) is among them.
pub(crate) fn receives_signals(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).map(str::trim);
    blocked.and_then(|mask| u64::from_str_radix(mask, 16).ok()).is_some_and(|mask| mask & (1 << 1 | 1 << 10) == 1 << 1)
}
