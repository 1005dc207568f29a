//! Job files on disk, compared with fio 3.41's messages about them (see `fixtures/README.md`).

use ferrio_job::environment::{Environment, SystemEnvironment};
use ferrio_job::{Invocation, Message, Mode, OutputStream, UsageError, parse};
use ferrio_units::Wording;
use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The files of this machine, but the CPUs, pages and variables of the recordings.
struct Recorded(SystemEnvironment);

impl Environment for Recorded {
    fn version(&self) -> String {
        self.0.version()
    }

    fn variable(&self, name: &str) -> Option<String> {
        (name == "TEST_WORD").then(|| "fox".to_owned())
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        self.0.open(path)
    }

    fn stdin(&self) -> Box<dyn Read> {
        Box::new(io::empty())
    }

    fn check_directory(&self, path: &Path) -> io::Result<()> {
        self.0.check_directory(path)
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
}

fn run(words: &[&str]) -> Result<Invocation, UsageError> {
    let words: Vec<OsString> = std::iter::once("fio").chain(words.iter().copied()).map(OsString::from).collect();
    parse(&words, &Recorded(SystemEnvironment::new("fio-3.42")))
}

fn on(stream: OutputStream, messages: &[Message]) -> String {
    messages.iter().filter(|(of, _)| *of == stream).map(|(_, text)| text.text(Wording::Fio)).collect()
}

/// The job files of a directory of fixtures; there must be some.
fn job_files(directory: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(Path::new("tests/fixtures").join(directory)).expect("the fixtures are there");
    let paths = entries.map(|entry| entry.expect("the fixtures can be listed").path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|end| end == "fio")).collect();
    files.sort();
    assert!(files.len() >= 5, "{directory}: {files:?}");
    files
}

/// True for the lines that ferrio adds: `file:line:column: ...`.
fn is_place(line: &str) -> bool {
    let mut parts = line.splitn(4, ':').skip(1);
    let mut is_number =
        || parts.next().is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    is_number() && is_number()
}

#[test]
fn good_files_mean_what_fio_reads_in_them() {
    for file in job_files("good") {
        let name = file.to_str().unwrap();
        let shown = run(&["--showcmd", name]).unwrap_or_else(|error| panic!("{name}: {error}"));
        let expected = std::fs::read_to_string(file.with_extension("showcmd")).unwrap();
        assert_eq!(on(OutputStream::Stdout, &shown.messages), expected, "{name}");
        assert_eq!(on(OutputStream::Stderr, &shown.messages), "", "{name}");
        let run = run(&[name]).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((run.mode, run.messages.len()), (Mode::Run, 0), "{name}");
    }
}

#[test]
fn bad_files_are_refused_in_the_words_of_fio() {
    for file in job_files("bad") {
        let name = file.to_str().unwrap();
        let error = run(&[name]).unwrap_err();
        let said = on(OutputStream::Stderr, &error.messages);
        let (added, of_fio): (Vec<&str>, Vec<&str>) = said.lines().partition(|line| is_place(line));
        let expected = std::fs::read_to_string(file.with_extension("stderr")).unwrap();
        assert_eq!(of_fio, expected.lines().collect::<Vec<_>>(), "{name}");
        assert_eq!(error.exit_code, 1, "{name}");
        let about_a_line =
            !["No job", "j: a job", "k: ", "fio: size too small"].iter().any(|start| said.starts_with(start));
        assert_eq!(!added.is_empty(), about_a_line, "{name}: {added:?}");
        assert!(added.iter().all(|line| line.starts_with(&format!("{name}:"))), "{name}: {added:?}");
    }
}

#[test]
fn directories_and_devices_are_no_job_files() {
    for (name, expected) in [
        ("tests", "fio: unable to open 'tests' job file\ntests: is a directory\n"),
        ("/dev/zero", "fio: /dev/zero:1:1: NUL byte: not a job file\n"),
    ] {
        let error = run(&[name]).unwrap_err();
        assert_eq!(on(OutputStream::Stderr, &error.messages), expected);
    }
}
