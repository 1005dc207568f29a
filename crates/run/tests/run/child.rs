//! Tests that need their own process, because of its limits or its descriptor table.
//!
//! Such a test has two halves. The child is an ignored test of this program; the parent runs this program again with
//! only that test. Start reading at [`Child::start`].

use ferrio_testing::skip;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const DIRECTORY: &str = "FERRIO_RUN_TEST_DIRECTORY";

/// A running child.
pub(crate) struct Child {
    process: std::process::Child,
    directory: PathBuf,
}

impl Child {
    /// Runs the test with this name; `directory` is for the files that it leaves.
    pub(crate) fn start(test: &str, directory: &Path) -> Self {
        let program = std::env::current_exe().unwrap();
        let process = Command::new(program)
            .args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"])
            .env(DIRECTORY, directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Self { process, directory: directory.to_owned() }
    }

    /// Waits for its end, and returns its answer.
    pub(crate) fn answer(self) -> Value {
        let output = self.process.wait_with_output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = format!("{}\n{}", text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{}: {said}", output.status);
        let answer = std::fs::read_to_string(self.directory.join("answer"));
        serde_json::from_str(&answer.unwrap_or_else(|error| panic!("{error}: {said}"))).unwrap()
    }
}

/// In the child: its directory. `None` if all ignored tests are being run.
pub(crate) fn directory(test: &str) -> Option<PathBuf> {
    let directory = std::env::var_os(DIRECTORY).map(PathBuf::from);
    if directory.is_none() {
        skip!(test, "it is the child half of another test");
    }
    directory
}

/// In the child: writes the answer.
pub(crate) fn answer(directory: &Path, value: &Value) {
    std::fs::write(directory.join("answer"), value.to_string()).unwrap();
}
