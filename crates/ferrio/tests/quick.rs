//! `ferrio quick` as a whole program: its output, its refusals, and the removal of its file however it ends.
//!
//! Start reading at [`Scratch`].

use ferrio_testing::skip;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const TESTS: [&str; 4] = ["1M sequential write", "4K random write", "1M sequential read", "4K random read"];

/// Long enough for anything that has not gone wrong.
const LIMIT: Duration = Duration::from_secs(120);

/// A directory of one test, removed with all that is in it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("quick-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("the target directory can be written to");
        Self(directory)
    }

    fn n_entries(&self) -> usize {
        std::fs::read_dir(&self.0).expect("the directory is there").count()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn quick() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ferrio"));
    command.arg("quick").stdin(Stdio::null());
    command
}

/// The shortest run there is.
fn short(target: impl AsRef<OsStr>) -> Command {
    let mut command = quick();
    command.args(["--seconds=1", "--size=16m"]).arg(target);
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("ferrio writes UTF-8")
}

fn refused(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("ferrio starts");
    let stderr = text(&stderr);
    assert_eq!(status.code(), Some(2), "{stderr}");
    assert!(stdout.is_empty() && stderr.starts_with("ferrio quick: "), "{stderr}");
    stderr
}

#[test]
fn four_rows_and_no_file_in_the_end() {
    let scratch = Scratch::new("table");
    let output = short(&scratch.0).output().unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    for test in TESTS {
        let row = stdout.lines().find(|line| line.starts_with(test)).unwrap_or_else(|| panic!("{test}: {stdout}"));
        assert!(row.contains(" us") || row.contains(" ms") || row.contains(" ns"), "{row}");
        assert!(stderr.contains(&format!("] {test}\n")), "{stderr}");
    }
    for heading in ["MB/s", "IOPS", "p50", "p99", "p99.9", "CPU per I/O"] {
        assert!(stdout.lines().any(|line| line.starts_with("test ") && line.contains(heading)), "{stdout}");
    }
    for fact in ["  directory    ", "  file system  ", "  device       ", "  engine       ", "  I/O          "] {
        assert!(stdout.contains(&format!("\n{fact}")), "{stdout}");
    }
    assert!(stdout.contains("16 MiB of random data") && stdout.contains("\nNotes\n"), "{stdout}");
    assert_eq!(scratch.n_entries(), 0);
}

#[test]
fn a_file_of_a_given_name_is_made_and_removed() {
    let scratch = Scratch::new("file");
    // A name that is two names to fio.
    let file = scratch.0.join("a:b $x.tmp");
    let output = short(&file).args(["--file", "--json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(scratch.n_entries(), 0);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["conditions"]["file_name"], "a:b $x.tmp");
    assert_eq!(report["conditions"]["file_bytes"], 16 << 20);
    let names: Vec<&str> = report["tests"].as_array().unwrap().iter().filter_map(|t| t["name"].as_str()).collect();
    assert_eq!(names, TESTS);
    for (test, block_bytes) in report["tests"].as_array().unwrap().iter().zip([1 << 20, 4096, 1 << 20, 4096]) {
        assert_eq!(test["bytes"].as_u64().unwrap(), test["n_ios"].as_u64().unwrap() * block_bytes);
    }
}

/// What other commands make of the document: a row for each test, at the times at which they ran.
#[test]
fn the_document_is_a_result() {
    let scratch = Scratch::new("result");
    let (file, page, own) = ["quick.json", "page.html", "own.html"].map(|name| scratch.0.join(name)).into();
    let output = short(&scratch.0).arg("--json").arg("--html").arg(&own).output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    std::fs::write(&file, &output.stdout).unwrap();
    let starts: Vec<u64> =
        told["jobs"].as_array().unwrap().iter().filter_map(|job| job["job_start_ms"].as_u64()).collect();
    assert!(starts.len() == 4 && starts.is_sorted() && starts[0] > 0, "{starts:?}");
    for (job, test) in told["jobs"].as_array().unwrap().iter().zip(told["tests"].as_array().unwrap()) {
        for key in ["n_ios", "bytes", "ios_per_sec", "bytes_per_sec"] {
            assert_eq!(job[key], test[key], "{key}");
        }
        assert_eq!((&job["job"], &job["p50_ns"]), (&test["name"], &test["latencies"][0]["latency_ns"]));
    }
    let ferrio = |arguments: &[&OsStr]| {
        let output =
            Command::new(env!("CARGO_BIN_EXE_ferrio")).args(arguments).env("FERRIO_STATE", "off").output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let compared = ferrio(&["compare".as_ref(), "--json".as_ref(), file.as_ref(), file.as_ref()]);
    let comparison: serde_json::Value = serde_json::from_str(&compared).unwrap();
    let names: Vec<&str> = comparison["comparisons"][0]["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|job| job["name"].as_str())
        .collect();
    assert_eq!(names, TESTS, "{comparison:#}");
    ferrio(&["report".as_ref(), file.as_ref(), "-o".as_ref(), page.as_ref()]);
    for page in [page, own] {
        let page = std::fs::read_to_string(&page).unwrap();
        assert!(TESTS.iter().all(|test| page.contains(test)) && page.contains("</html>"));
        assert!(!page.contains("0.0 %, 0.0 %"), "the document does not say how much CPU time was the kernel's");
    }
    let nowhere = refused(short(&scratch.0).arg("--html=/nowhere/page.html"));
    assert!(nowhere.contains("cannot write the page /nowhere/page.html: No such file or directory"), "{nowhere}");
}

#[test]
fn an_anonymous_report_names_no_place() {
    let scratch = Scratch::new("anonymous");
    let place = scratch.0.join("customer");
    std::fs::create_dir(&place).unwrap();
    let output = short(&place).args(["--json", "--anonymous"]).output().unwrap();
    let report = text(&output.stdout);
    let document: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(document["tests"].as_array().map(Vec::len), Some(4), "{report}");
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    for told in ["customer", kernel.trim(), scratch.0.to_str().unwrap()] {
        assert!(!report.contains(told), "{told}: {report}");
    }
}

#[test]
fn devices_files_and_missing_directories_are_refused() {
    let scratch = Scratch::new("refusals");
    assert!(refused(&mut short("/dev/null")).contains("/dev/null is a device"));
    let file = scratch.0.join("precious");
    std::fs::write(&file, "data").unwrap();
    assert!(refused(&mut short(&file)).contains("is there already"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "data");
    let link = scratch.0.join("link");
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    assert!(refused(&mut short(&link)).contains("symbolic link"));
    assert!(refused(&mut short(scratch.0.join("missing/file"))).contains("no directory"));
    assert!(refused(&mut short(scratch.0.join("missing/"))).contains("no directory"));
    assert!(refused(short(scratch.0.join("missing/file")).arg("--file")).contains("no directory"));
    assert!(refused(short(&scratch.0).arg("--file")).contains("is a directory"));
    assert!(refused(short(&file).arg("--file")).contains("is there already"));
    assert_eq!(scratch.n_entries(), 2);
}

#[test]
fn a_missing_directory_is_no_file_to_be_made() {
    let scratch = Scratch::new("misspelt");
    std::fs::create_dir(scratch.0.join("data")).unwrap();
    let stderr = refused(&mut short(scratch.0.join("dtaa")));
    let meant = scratch.0.join("data");
    assert!(
        stderr.contains("there is no ") && stderr.contains(&format!("did you mean {}?", meant.display())),
        "{stderr}"
    );
    assert!(stderr.contains("--file"), "{stderr}");
    let stderr = refused(&mut short(scratch.0.join("something-else")));
    assert!(!stderr.contains("did you mean") && stderr.contains("--file"), "{stderr}");
    assert_eq!(scratch.n_entries(), 1);
}

#[test]
fn more_than_a_tenth_of_the_space_is_refused() {
    let scratch = Scratch::new("tenth");
    let stderr = refused(quick().arg("--size=1000000t").arg(&scratch.0));
    assert!(stderr.contains("more than a tenth of the"), "{stderr}");
    assert_eq!(scratch.n_entries(), 0);
}

#[test]
fn wrong_arguments_fail_and_help_does_not() {
    let output = quick().arg("--seconds=never").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("ferrio quick: invalid value 'never' for '--seconds"));
    let full = std::fs::File::create("/dev/full").unwrap();
    let output = quick().arg("--help").stdout(full).output().unwrap();
    let expected = "ferrio quick: cannot write the output: No space left on device (os error 28)\n";
    assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(2), expected));
    let output = quick().arg("--help").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let help = text(&output.stdout);
    assert!(help.contains("Usage: ferrio quick [OPTIONS] [DIR]"), "{help}");
    assert!(help.lines().all(|line| line.len() <= 80), "{help}");
}

#[test]
fn a_directory_that_may_not_be_written_to_is_refused() {
    let scratch = Scratch::new("read-only");
    std::fs::set_permissions(&scratch.0, PermissionsExt::from_mode(0o555)).unwrap();
    if rustix::process::geteuid().is_root() {
        skip!("a_directory_that_may_not_be_written_to_is_refused", "root may write everywhere");
        return;
    }
    assert!(refused(&mut short(&scratch.0)).contains("may write to"));
}

/// Starts a run of an hour a test and waits until it does the step, or is past it.
fn start_until(scratch: &Scratch, step: &str) -> (Child, String) {
    let mut child = quick()
        .args(["--seconds=3600", "--size=16m"])
        .arg(&scratch.0)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("ferrio starts");
    let mut seen = String::new();
    let mut stderr = child.stderr.take().expect("it is a pipe");
    let mut buffer = [0; 256];
    while !seen.contains(step) {
        let n = stderr.read(&mut buffer).expect("a pipe can be read");
        assert!(n > 0, "ended early: {seen}");
        seen.push_str(&text(&buffer[..n]));
    }
    child.stderr = Some(stderr);
    (child, seen)
}

fn end_of(mut child: Child, signal: Signal) -> (Option<i32>, String) {
    kill_process(Pid::from_child(&child), signal).expect("it was not waited for yet");
    let deadline = Instant::now() + LIMIT;
    while child.try_wait().expect("it is a child").is_none() {
        if Instant::now() > deadline {
            child.kill().expect("it is a child");
            panic!("still running {} s after signal {}", LIMIT.as_secs(), signal.as_raw());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().expect("it is a child");
    (output.status.code(), text(&output.stderr))
}

#[test]
fn signals_end_it_and_the_file_is_gone() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        for step in ["writing the file", TESTS[0]] {
            let scratch = Scratch::new(&format!("signal-{code}-{}", signal.as_raw()));
            let (child, seen) = start_until(&scratch, step);
            let (actual, stderr) = end_of(child, signal);
            assert_eq!(actual, Some(code), "{seen}{stderr}");
            assert!(stderr.contains(&format!("ended by signal {}", code - 128)), "{stderr}");
            assert_eq!(scratch.n_entries(), 0);
        }
    }
}

#[test]
fn what_a_kill_leaves_behind_has_a_name_that_tells() {
    let scratch = Scratch::new("kill");
    let (child, _) = start_until(&scratch, TESTS[0]);
    let expected = format!(".ferrio-quick-{}.tmp", child.id());
    assert_eq!(end_of(child, Signal::KILL).0, None);
    let left: Vec<_> = std::fs::read_dir(&scratch.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [OsStr::new(&expected)]);
    let output = short(&scratch.0).output().unwrap();
    let stdout = text(&output.stdout);
    let joined: String = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("Left behind by a run that was killed") && joined.contains(&expected), "{stdout}");
    assert_eq!(scratch.n_entries(), 1);
}

/// A small tmpfs on the scratch directory, taken away with it.
struct SmallMount<'a>(&'a Path);

impl<'a> SmallMount<'a> {
    fn new(place: &'a Path, size: &str) -> Option<Self> {
        let options = format!("size={size}");
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &options, "ferrio-quick"])
            .arg(place)
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success()).then_some(Self(place))
    }
}

impl Drop for SmallMount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn too_little_space_is_refused() {
    let scratch = Scratch::new("space");
    let Some(_mount) = SmallMount::new(&scratch.0, "100m") else {
        skip!("too_little_space_is_refused", "cannot mount a tmpfs");
        return;
    };
    let stderr = refused(quick().arg(&scratch.0));
    assert!(stderr.contains("100 MiB are free") && stderr.contains("16 MiB"), "{stderr}");
    assert_eq!(scratch.n_entries(), 0);
}

#[test]
fn memory_is_called_memory() {
    let scratch = Scratch::new("memory");
    let Some(_mount) = SmallMount::new(&scratch.0, "200m") else {
        skip!("memory_is_called_memory", "cannot mount a tmpfs");
        return;
    };
    let output = short(&scratch.0).output().unwrap();
    let stdout = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(stdout.contains("I/O          BUFFERED"), "{stdout}");
    let joined: String = stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(joined.contains("- WRONG: The files are in memory (1M sequential write, 4K random write,"), "{stdout}");
    assert_eq!(scratch.n_entries(), 0);
}

/// The shell's word for the limit counts blocks of 512 or 1024 bytes: below 16 MiB either way.
#[test]
fn a_limit_on_the_size_of_files_is_an_error_and_leaves_nothing() {
    let scratch = Scratch::new("limit");
    let output = Command::new("sh")
        .args(["-c", "ulimit -f 8000 && exec \"$0\" quick --size=16m --seconds=1 \"$1\"", env!("CARGO_BIN_EXE_ferrio")])
        .arg(&scratch.0)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("File too large"), "{}", text(&output.stderr));
    assert_eq!(scratch.n_entries(), 0);
}

#[test]
fn a_block_device_is_refused() {
    let devices = std::fs::read_dir("/dev").into_iter().flatten().flatten();
    let is_block = |entry: &std::fs::DirEntry| {
        use std::os::unix::fs::FileTypeExt;
        entry.file_type().is_ok_and(|kind| kind.is_block_device())
    };
    let Some(device) = devices.into_iter().find(is_block) else {
        skip!("a_block_device_is_refused", "no block device in /dev");
        return;
    };
    // A device is refused before it is opened.
    assert!(refused(&mut short(device.path())).contains("is a device"));
}
