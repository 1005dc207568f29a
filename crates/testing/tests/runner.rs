//! `tools/test-runner`: what it makes of the output of a test program.

#![expect(clippy::unwrap_used, reason = "all of this file is test code")]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const RUNNER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/test-runner");

/// Output of the harness of Rust 1.95 for three tests, of which the first has written its name to the file of the runner.
const HARNESS: &str = r#"#!/bin/sh
printf 'm::first\tno loop device & \\no other\nalone\tnot root\n' >>"$FERRIO_SKIPPED_FILE"
printf '\nrunning 4 tests\ntest m::first ... ok\ntest m::alone ... ok\ntest m::first_of_all - should panic ... ok\ntest m::third ... FAILED\n\n'
printf 'test result: FAILED. 3 passed; 1 failed; 4 ignored; 0 measured; 5 filtered out; finished in 0.01s\n\n'
exit 101
"#;

/// A program in a directory of this test.
struct Program(PathBuf);

impl Program {
    fn new(directory: &str, text: &str) -> Self {
        let of_test = format!("runner-{}-{directory}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(of_test).join(directory);
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("program");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        Self(path)
    }

    fn run(&self) -> Output {
        Command::new(RUNNER).arg(&self.0).output().unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let of_test = self.0.ancestors().nth(2).unwrap();
        let _ = std::fs::remove_dir_all(of_test);
    }
}

#[test]
fn a_test_that_cannot_run_is_ignored_and_counted_so() {
    let output = Program::new("deps", HARNESS).run();
    let expected = "\nrunning 4 tests\ntest m::first ... ignored, no loop device & \\no other\ntest m::alone ... ignored, not root\n\
                    test m::first_of_all - should panic ... ok\ntest m::third ... FAILED\n\n\
                    test result: FAILED. 1 passed; 1 failed; 6 ignored; 0 measured; 5 filtered out; finished in 0.01s\n\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert_eq!(output.status.code(), Some(101));
}

#[test]
fn other_programs_are_run_as_they_are() {
    let output = Program::new("debug", "#!/bin/sh\necho \"test a ... ok ${FERRIO_SKIPPED_FILE-none}\"; exit 3\n");
    let output = Command::new(RUNNER).arg(&output.0).env_remove(ferrio_testing::SKIPPED_FILE).output().unwrap();
    assert_eq!((output.stdout.as_slice(), output.status.code()), (&b"test a ... ok none\n"[..], Some(3)));
}
