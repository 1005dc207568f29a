//! How a test reports that it cannot run on a machine.
//!
//! The test harness of Rust knows no test that finds out while it runs that the machine lacks what it needs: such a test can only
//! pass. Therefore `cargo` runs test programs through `tools/test-runner`, which shows them as ignored, with the reason, and
//! counts them so. [`skip!`] tells the runner by a file, whose name is in [`SKIPPED_FILE`].
//! Must not know: what the tests need. Start reading at [`skip!`].

#![forbid(unsafe_code)]

use std::io::Write as _;

/// The variable with the name of the file that `tools/test-runner` reads. Without it a test program runs by itself, and only the
/// line on its error stream says that a test was skipped.
pub const SKIPPED_FILE: &str = "FERRIO_SKIPPED_FILE";

/// Reports that a test cannot run here: `skip!(test, "no loop device")`. The test must return then.
///
/// `test` is the name of the function. The reason is a format with arguments.
#[macro_export]
macro_rules! skip {
    ($test:expr, $($reason:tt)+) => {{
        let (test, reason) = (&*$test, ::std::format!($($reason)+));
        ::std::eprintln!("SKIPPED {test}: {reason}");
        $crate::remember(test, &reason);
    }};
}

/// Reports that a part of a test cannot run here, such as one of several CPU instructions; the rest of the test counts.
///
/// `skip_part!(test, "with AVX2: the CPU has none")`: a format with arguments.
#[macro_export]
macro_rules! skip_part {
    ($test:expr, $($reason:tt)+) => {{
        ::std::eprintln!("SKIPPED {}, a part: {}", $test, ::std::format!($($reason)+));
    }};
}

/// Name of the test that calls this, with the modules that it is in. With one thread for all tests (`--test-threads=1`) the harness
/// does not tell it: `main`.
pub fn this_test() -> String {
    std::thread::current().name().unwrap_or("a thread of a test").to_owned()
}

/// Tells the runner that the test of this thread cannot run here.
///
/// # Panics
/// If the file of the runner cannot be written.
pub fn remember(test: &str, reason: &str) {
    let thread = std::thread::current();
    // With one thread for all tests, and in threads that a test makes, the harness has not set the name.
    let name = thread.name().filter(|name| *name != "main").unwrap_or(test);
    let Some(path) = std::env::var_os(SKIPPED_FILE) else { return };
    let line = line(name, reason);
    let file = std::fs::File::options().append(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes())).expect("the file of tools/test-runner can be written");
}

/// The line of the file: the name of the test, a tab, the reason in one line.
fn line(name: &str, reason: &str) -> String {
    format!("{name}\t{}\n", reason.split(['\n', '\t']).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_line() {
        assert_eq!(line("a::b", "two\nlines\tand a tab"), "a::b\ttwo lines and a tab\n");
    }
}
