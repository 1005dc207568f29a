//! A directory in which `fio` is ferrio, and the readers that are called there.
//!
//! Must not know: the purpose of a reader. Start reading at [`Bench`].

use crate::support::{Scratch, skip};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A reader that takes longer is stuck.
const TIME_LIMIT_S: &str = "100";

/// Output and result of a program.
pub(crate) struct Called {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// A scratch directory where the first `fio` on the path is ferrio.
pub(crate) struct Bench {
    scratch: Scratch,
    path: OsString,
}

impl Bench {
    pub(crate) fn new(test: &str) -> Self {
        let scratch = Scratch::new(test);
        let directory = scratch.join("bin");
        std::fs::create_dir(&directory).expect("a directory");
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_ferrio"), directory.join("fio")).expect("a link");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths([directory].into_iter().chain(std::env::split_paths(&path)));
        Self { scratch, path: path.expect("no colon in the directory of the build") }
    }

    pub(crate) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    /// Calls a program with arguments that are separated by blanks. It must succeed, and say nothing on stderr: many
    /// programs take any byte there for a failure.
    pub(crate) fn call(&self, command: &str) -> String {
        let called = self.call_loud(command);
        assert!(called.stderr.is_empty(), "{command}\n{}", called.stderr);
        called.stdout
    }

    /// Calls a program that talks on stderr whatever it reads.
    pub(crate) fn call_loud(&self, command: &str) -> Called {
        let fonts = Path::new(env!("CARGO_TARGET_TMPDIR")).join("matplotlib");
        let output = Command::new("timeout")
            .args(["--kill-after=5", TIME_LIMIT_S])
            .args(command.split_whitespace())
            .current_dir(self.scratch.path())
            .env("PATH", &self.path)
            // Some readers leave their temporary files.
            .env("TMPDIR", self.scratch.path())
            .env("LC_ALL", "C")
            .env("PYTHONUTF8", "1")
            .env("MPLBACKEND", "Agg")
            .env("MPLCONFIGDIR", fonts)
            .stdin(Stdio::null())
            .output()
            .expect("timeout can be run");
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(output.status.success(), "{command}: {}\n{stdout}\n{stderr}", output.status);
        Called { stdout, stderr }
    }

    /// Runs `fio`; its JSON document goes to `o.json`, and is returned.
    pub(crate) fn fio(&self, arguments: &str) -> Value {
        self.call(&format!("fio --output=o.json {arguments}"));
        self.document("o.json")
    }

    /// A document in the directory.
    pub(crate) fn document(&self, name: &str) -> Value {
        let text = self.scratch.read(name);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"))
    }

    /// Runs one of the scripts in this directory; returns the JSON value that it prints.
    pub(crate) fn python(&self, python: &Path, script: &str, arguments: &str) -> Value {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/end_to_end/readers").join(script);
        // -B: no directory of compiled scripts appears in the sources.
        let command = format!("{} -B {} {arguments}", python.display(), script.display());
        let answer = self.call(&command);
        serde_json::from_str(&answer).unwrap_or_else(|error| panic!("{command}: {error}\n{answer}"))
    }

    /// Unpacks a script that Debian's fio package has among its documents. `None`: it is not there, the test is skipped.
    pub(crate) fn packaged_script(&self, test: &str, name: &str) -> Option<PathBuf> {
        let documents = Path::new("/usr/share/doc/fio");
        let (plain, packed) = (documents.join(name), documents.join(format!("{name}.gz")));
        let target = self.scratch.join(name);
        let found = if plain.is_file() {
            std::fs::copy(plain, &target).is_ok()
        } else {
            let output = Command::new("gzip").args(["-dc"]).arg(packed).output();
            output.is_ok_and(|output| output.status.success() && std::fs::write(&target, output.stdout).is_ok())
        };
        if !found {
            skip(test, &format!("needs {name} of Debian's fio package in {}", documents.display()));
        }
        found.then_some(target)
    }
}

/// A program of the Python environment that `FERRIO_READERS_VENV` names. `None`: the test is skipped.
pub(crate) fn from_pypi(test: &str, program: &str) -> Option<PathBuf> {
    let Some(environment) = std::env::var_os("FERRIO_READERS_VENV") else {
        skip(
            test,
            "FERRIO_READERS_VENV is not set (a Python environment with tests/end_to_end/readers/requirements.txt)",
        );
        return None;
    };
    let program = Path::new(&environment).join("bin").join(program);
    if !program.is_file() {
        skip(test, &format!("needs {}", program.display()));
        return None;
    }
    Some(program)
}

/// Fails unless two figures are the same but for how they were rounded when they were written.
pub(crate) fn assert_near(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() <= expected.abs() * 1e-6 + 1e-6, "{what}: {found}, not {expected}");
}

/// Fails unless two whole numbers are the same.
pub(crate) fn assert_count(found: f64, expected: f64, what: &str) {
    assert!((found - expected).abs() < 0.5, "{what}: {found}, not {expected}");
}

/// A number of a document.
pub(crate) fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number {pointer} in {value:#}"))
}

/// The rows of a log, as the columns that they have.
pub(crate) fn rows(log: &str) -> Vec<Vec<f64>> {
    let figure = |word: &str| word.trim().parse().unwrap_or_else(|_| panic!("'{word}' in a log"));
    log.lines().map(|line| line.split(',').map(figure).collect()).collect()
}
