//! Results of the peer's runs that were recorded: they take the place of runs that would give them again.
//!
//! Half of the time of the comparisons was fio's start and end. A test says of a run ([`Run::recorded`]) that its result depends on nothing
//! but its arguments, its input and the files of its directory; a result is used for exactly these, on a machine that is alike where fio
//! shows it. Every other run takes place. `tools/record-peer` makes the records anew, and `FERRIO_PEER_RESULTS=live` leaves them unused.
//! Must not know: the tests. Start reading at [`finish`].

use super::{Finished, PEER_VERSION, Program, Run};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock};

/// What stands for the directory of the run, whose name is another one each time.
const HERE: &str = "{directory of the run}";

/// A run whose directory holds a larger file takes place each time.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Larger results are not kept: the run takes place each time.
const MAX_RECORD_BYTES: usize = 1 << 20;

/// Records of a file `recorded/NAME.jsonl.gz` by their keys.
type Records = HashMap<String, Value>;

/// Where the records of a set are once they are read.
type Place = Arc<OnceLock<Arc<Records>>>;

/// Where the result of a run comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// From a record if there is one.
    Recorded,
    /// Each run takes place, and its result is written to the directory that `FERRIO_PEER_RECORDS` names.
    Record,
    /// Each run takes place.
    Live,
}

fn mode() -> Mode {
    static MODE: LazyLock<Mode> = LazyLock::new(|| match std::env::var("FERRIO_PEER_RESULTS").as_deref() {
        Err(_) | Ok("" | "recorded") => Mode::Recorded,
        Ok("record") => Mode::Record,
        Ok("live") => Mode::Live,
        Ok(other) => panic!("FERRIO_PEER_RESULTS is recorded, record or live, and not {other}"),
    });
    *MODE
}

/// Ends the run: by its record `set/key`, or by taking place. `wanted` are the files that the test looks at afterwards.
pub(super) fn finish(run: Run, set: &'static str, wanted: &[&'static str]) -> Finished {
    if mode() == Mode::Live || run.program != Program::Peer {
        return run.finish_now();
    }
    let key = key(&run);
    let records = if mode() == Mode::Recorded { records(set) } else { Arc::default() };
    let record = key.as_ref().and_then(|key| records.get(key));
    count(set, record.is_some());
    if let Some(record) = record {
        return restored(&run, record);
    }
    let directory = run.directory.clone();
    let finished = run.finish_now();
    if mode() == Mode::Record
        && let (Some(key), Some(files)) = (key, files_of(&directory, wanted))
    {
        keep(set, &key, &recorded(&finished, &directory, &files));
    }
    finished
}

/// Notes for `.ci/run` how many runs had a record.
fn count(set: &str, is_recorded: bool) {
    let Some(path) = std::env::var_os("FERRIO_PEER_COUNTS") else { return };
    let line = format!("{} {set}\n", if is_recorded { "recorded" } else { "run" });
    append(Path::new(&path), &line);
}

/// The key of a run: a checksum of all that its result depends on. `None` if the directory holds too much to look at.
fn key(run: &Run) -> Option<String> {
    let mut text = format!("{PEER_VERSION}\n{}\n", machine(&run.directory));
    for word in run.wrapper.iter().map(|word| ("under", word)).chain(run.arguments.iter().map(|word| ("with", word))) {
        writeln!(text, "{} {}", word.0, neutral(&word.1.to_string_lossy(), &run.directory)).expect("a string");
    }
    for (name, value) in &run.environment {
        writeln!(text, "{name}={}", neutral(value, &run.directory)).expect("a string");
    }
    writeln!(text, "without {:?}\ninput {}", run.removed, checksum(&run.stdin)).expect("a string");
    let mut names = Vec::new();
    list(&run.directory, Path::new(""), &mut names).ok()?;
    names.sort();
    for name in names {
        let path = run.directory.join(&name);
        let kind = std::fs::symlink_metadata(&path).ok()?;
        let mode = std::os::unix::fs::PermissionsExt::mode(&kind.permissions());
        let content = if kind.is_file() {
            if kind.len() > MAX_FILE_BYTES {
                return None;
            }
            // Job files name their directory.
            let bytes = std::fs::read(&path).ok()?;
            std::str::from_utf8(&bytes)
                .map_or_else(|_| checksum(&bytes), |text| checksum(neutral(text, &run.directory).as_bytes()))
        } else {
            format!("{:?}", std::fs::read_link(&path).ok())
        };
        writeln!(text, "file {} {mode:o} {content}", name.display()).expect("a string");
    }
    Some(checksum(text.as_bytes()))
}

/// What fio shows or meets of the machine: kernel, CPUs, rights, the file system and the disk of the directory.
fn machine(directory: &Path) -> String {
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let kernel = kernel.split('.').take(2).collect::<Vec<_>>().join(".");
    let n_cpus = std::thread::available_parallelism().map_or(0, usize::from);
    let is_root = rustix::process::geteuid().is_root();
    let kind = rustix::fs::statfs(directory).map_or(0, |kind| kind.f_type);
    let disk = std::fs::metadata(directory).map_or(0, |metadata| std::os::unix::fs::MetadataExt::dev(&metadata));
    let (major, minor) = (rustix::fs::major(disk), rustix::fs::minor(disk));
    let disk = std::fs::canonicalize(format!("/sys/dev/block/{major}:{minor}")).unwrap_or_default();
    format!("{kernel} {n_cpus} {is_root} {kind:x} {}", disk.display())
}

fn neutral(text: &str, directory: &Path) -> String {
    text.replace(&*directory.to_string_lossy(), HERE)
}

fn checksum(bytes: &[u8]) -> String {
    Sha256::digest(bytes)[..16].iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string");
        text
    })
}

fn list(directory: &Path, below: &Path, names: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(directory.join(below))? {
        let entry = entry?;
        let name = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            list(directory, &name, names)?;
        }
        names.push(name);
    }
    Ok(())
}

/// The content of the files that the test looks at, those which are there. `*` at the end of a name stands for more. `None` if one is too large.
fn files_of(directory: &Path, wanted: &[&str]) -> Option<Map<String, Value>> {
    let mut names = Vec::new();
    list(directory, Path::new(""), &mut names).ok()?;
    let is_wanted = |name: &str| {
        wanted.iter().any(|wanted| wanted.strip_suffix('*').map_or(name == *wanted, |start| name.starts_with(start)))
    };
    let mut files = Map::new();
    for name in names {
        let (name, path) = (name.to_str()?, directory.join(&name));
        if !is_wanted(name) || !path.is_file() {
            continue;
        }
        if path.metadata().ok()?.len() > MAX_FILE_BYTES {
            return None;
        }
        let bytes = std::fs::read(&path).ok()?;
        // A byte that is no text is a character of its number.
        let text = String::from_utf8(bytes).map_or_else(
            |error| json!({ "bytes": error.as_bytes().iter().map(|byte| char::from(*byte)).collect::<String>() }),
            |text| json!(neutral(&text, directory)),
        );
        files.insert(name.to_owned(), text);
    }
    Some(files)
}

fn recorded(finished: &Finished, directory: &Path, files: &Map<String, Value>) -> Value {
    json!({
        "run": neutral(&finished.shown, directory),
        "code": finished.code,
        "signal": finished.signal,
        "stdout": neutral(&finished.stdout, directory),
        "stderr": neutral(&finished.stderr, directory),
        "files": files,
    })
}

/// Puts the files where the run would have left them.
fn restored(run: &Run, record: &Value) -> Finished {
    let here = run.directory.to_string_lossy();
    let text = |value: &Value| value.as_str().unwrap_or_default().replace(HERE, &here);
    let number = |name: &str| record[name].as_i64().and_then(|number| i32::try_from(number).ok());
    for (name, content) in record["files"].as_object().into_iter().flatten() {
        let bytes = match content["bytes"].as_str() {
            Some(bytes) => bytes.chars().map(|byte| byte as u8).collect(),
            None => text(content).into_bytes(),
        };
        let path = run.directory.join(name);
        std::fs::create_dir_all(path.parent().expect("it is below the directory"))
            .expect("a directory of a scratch file");
        std::fs::write(path, bytes).expect("a scratch file");
    }
    Finished {
        shown: format!("{} (recorded)", text(&record["run"])),
        code: number("code"),
        signal: number("signal"),
        stdout: text(&record["stdout"]),
        stderr: text(&record["stderr"]),
    }
}

/// The records of a set; none if it has no file.
fn records(set: &'static str) -> Arc<Records> {
    static SETS: LazyLock<Mutex<HashMap<&'static str, Place>>> = LazyLock::new(Mutex::default);
    let place = SETS.lock().expect("no test fails while it holds it").entry(set).or_default().clone();
    place.get_or_init(|| Arc::new(read(set))).clone()
}

fn read(set: &str) -> Records {
    let path = format!("{}/tests/recorded/{set}.jsonl.gz", env!("CARGO_MANIFEST_DIR"));
    let Ok(file) = std::fs::File::open(&path) else { return Records::new() };
    let lines = BufReader::new(flate2::read::MultiGzDecoder::new(file)).lines();
    lines
        .map(|line| {
            let line = line.unwrap_or_else(|error| panic!("{path}: {error}"));
            let (key, record) = line.split_once('\t').unwrap_or_else(|| panic!("{path}: no key"));
            (key.to_owned(), serde_json::from_str(record).unwrap_or_else(|error| panic!("{path}: {error}")))
        })
        .collect()
}

/// Adds a line to the set's new records.
fn keep(set: &str, key: &str, record: &Value) {
    let directory =
        std::env::var_os("FERRIO_PEER_RECORDS").expect("FERRIO_PEER_RECORDS names a directory for new records");
    let line = format!("{key}\t{record}\n");
    if line.len() <= MAX_RECORD_BYTES {
        append(&Path::new(&directory).join(format!("{set}.jsonl")), &line);
    }
}

fn append(path: &Path, line: &str) {
    static WRITES: Mutex<()> = Mutex::new(());
    let _writes = WRITES.lock().expect("no test fails while it holds it");
    let file = std::fs::File::options().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
