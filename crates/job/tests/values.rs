//! Good, bad and odd values of every option, compared with fio 3.41's verdict on each (see `values/README.md`).
//!
//! All accepted values of an option are in one job file and all refused ones in another: each line is judged
//! separately, so that one file can test many values quickly. Start reading at [`check`].

use ferrio_job::environment::{Environment, SystemEnvironment};
use ferrio_job::{Message, parse};
use ferrio_units::Wording;
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Read};
use std::path::Path;

/// Verdicts of fio 3.41, recorded by running it.
const PEER: &str = include_str!("values/peer.tsv");

/// Values on which ferrio's verdict differs, with a keyword for the reason.
const DIFFERENCES: &str = include_str!("values/differences.tsv");

/// The reason for each keyword in the differences.
const REASONS: &str = include_str!("values/reasons.tsv");

/// Verdicts of fio on values of the command line.
const COMMAND_LINE: &str = include_str!("values/command-line.tsv");

/// An environment with one job file, the directories of this machine, two CPUs, one node.
struct OneFile {
    machine: SystemEnvironment,
    text: String,
}

impl Environment for OneFile {
    fn version(&self) -> String {
        self.machine.version()
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read>> {
        let is_jobs = path == Path::new("jobs");
        let text = is_jobs.then(|| self.text.clone()).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(Box::new(io::Cursor::new(text.into_bytes())))
    }

    fn stdin(&self) -> Box<dyn Read> {
        Box::new(io::empty())
    }

    fn check_directory(&self, path: &Path) -> io::Result<()> {
        self.machine.check_directory(path)
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

/// An option, and the engine that has it if it is private.
type Owner = (&'static str, &'static str);

/// Rows of a file: the owner of the option, the first columns, and the values after them as lines of a job file.
fn rows(table: &'static str, n_columns: usize) -> impl Iterator<Item = (Owner, Vec<&'static str>, Vec<String>)> {
    table.lines().filter(|line| !line.starts_with('#')).map(move |line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let (option, engine) = (fields[0], fields[1]);
        let values = fields[2 + n_columns..].iter();
        let lines = values.map(|value| format!("{option}{}", value.replace("\\t", "\t").replace("\\\\", "\\")));
        ((option, engine), fields[2..2 + n_columns].to_vec(), lines.collect())
    })
}

/// The verdict on each line, in their order.
fn verdicts(engine: &str, lines: &[String]) -> Vec<&'static str> {
    const HEAD: &str = "[j]\nsize=16k\n";
    let engine = if engine.is_empty() { String::from("\n") } else { format!("ioengine={engine}\n") };
    let n_head = 3;
    let mut said = vec!["accepted"; lines.len()];
    let mut start = 0;
    while start < lines.len() {
        // As fio was run for the recording: an unknown option keeps the job from running, which makes `--parse-only`
        // unnecessary.
        let text = format!("{HEAD}{engine}{}\nno_such_option=1\n", lines[start..].join("\n"));
        let world = OneFile { machine: SystemEnvironment::new("fio-3.42"), text };
        let error = parse(&["fio", "jobs"].map(OsString::from), &world).expect_err("an unknown option");
        assert_eq!(error.exit_code, 1);
        let mut n_last = 0;
        let n_values = lines.len() - start;
        for (number, verdict) in of_lines(&error.messages) {
            if number - n_head > n_values {
                return said;
            }
            said[start + number - n_head - 1] = verdict;
            n_last = number - n_head;
        }
        assert!(n_last > 0, "{:?}", error.messages);
        // An option that is not built, or an unknown engine, ends the reading at once.
        start += n_last;
    }
    said
}

/// Numbers of lines, and the verdict on each; a message about a line ends with its place.
fn of_lines(messages: &[Message]) -> Vec<(usize, &'static str)> {
    let mut found = Vec::new();
    let mut before = String::new();
    for line in messages.iter().flat_map(|(_, text)| text.text(Wording::Fio).lines()) {
        if let Some(number) = line.strip_prefix("jobs:").and_then(|rest| rest.split(':').next()?.parse().ok()) {
            found.push((number, class_of(&before)));
            before.clear();
        } else if let Some((_, rest)) = line.split_once(" (jobs:") {
            let number = rest.split_once(')').and_then(|(number, _)| number.parse().ok());
            found.push((number.expect("the line of an option"), "unbuilt"));
            before.clear();
        } else {
            writeln!(before, "{line}").expect("a string");
        }
    }
    found
}

/// The verdict that the messages about a refused line express.
fn class_of(messages: &str) -> &'static str {
    if messages.contains("value out of range") {
        "range"
    } else if messages.contains("requires an argument") {
        "missing"
    } else if messages.contains("valid values:") {
        "words"
    } else if messages.lines().count() == 1 {
        "parse"
    } else {
        "said"
    }
}

/// Each line with fio's verdict and the expected one of ferrio, by owner.
fn expected() -> BTreeMap<Owner, Vec<(String, &'static str, &'static str)>> {
    let mut differences = HashMap::new();
    for (owner, columns, lines) in rows(DIFFERENCES, 2) {
        differences.extend(lines.into_iter().map(|line| ((owner, line), columns[0])));
    }
    let mut all: BTreeMap<Owner, Vec<_>> = BTreeMap::new();
    for (owner, columns, lines) in rows(PEER, 1) {
        let of_peer = columns[0];
        for line in lines {
            let wanted = differences.remove(&(owner, line.clone())).unwrap_or(of_peer);
            all.entry(owner).or_default().push((line, of_peer, wanted));
        }
    }
    assert!(differences.is_empty(), "differences of values that the peer was not asked about: {differences:?}");
    all
}

#[test]
fn values_are_taken_or_refused_as_by_the_peer() {
    let mut complaints = String::new();
    for (owner, values) in expected() {
        for refused in [false, true] {
            let these: Vec<_> = values.iter().filter(|(.., wanted)| (*wanted != "accepted") == refused).collect();
            let lines: Vec<String> = these.iter().map(|(line, ..)| line.clone()).collect();
            for ((line, of_peer, wanted), said) in these.into_iter().zip(verdicts(owner.1, &lines)) {
                if said != *wanted {
                    writeln!(complaints, "{owner:?}\t{line:?}: {said}, not {wanted}; the peer: {of_peer}").unwrap();
                }
            }
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
}

#[test]
fn values_on_the_command_line_are_taken_or_refused_as_by_the_peer() {
    // A value on the command line gets the same verdict as in a file, except for values that a file cannot contain.
    let mut differs = HashMap::new();
    for (owner, columns, lines) in rows(DIFFERENCES, 2) {
        differs.extend(lines.into_iter().map(|line| ((owner, line), columns[0] == "accepted")));
    }
    let mut complaints = String::new();
    for ((option, engine), columns, lines) in rows(COMMAND_LINE, 1) {
        for line in lines {
            // A file loses blanks at the end, and its values were recorded without.
            let in_file = line.trim_end().to_owned();
            let wanted = differs.get(&((option, engine), in_file)).copied().unwrap_or(columns[0] == "accepted");
            let engine = if engine.is_empty() { "null" } else { engine };
            let words = ["fio", "--name=j", "--size=16k"].map(str::to_owned);
            let last = "--no_such_option=1".to_owned();
            let words = words.into_iter().chain([format!("--ioengine={engine}"), format!("--{line}"), last]);
            let world = OneFile { machine: SystemEnvironment::new("fio-3.42"), text: String::new() };
            // If the last option is taken for a value, no error reports it either.
            let error = parse(&words.map(OsString::from).collect::<Vec<_>>(), &world).err();
            let messages = error.map(|error| error.messages).unwrap_or_default();
            let is_accepted =
                messages.iter().any(|(_, text)| text.text(Wording::Fio).contains("unknown option no_such_option"));
            if is_accepted != wanted {
                writeln!(complaints, "{option} {engine}\t{line:?}: not accepted: {wanted}").unwrap();
            }
        }
    }
    assert!(complaints.is_empty(), "{complaints}");
}

#[test]
fn differences_are_differences_and_have_reasons() {
    let reasons: HashMap<&str, &str> = REASONS.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut used = Vec::new();
    for (owner, columns, lines) in rows(DIFFERENCES, 2) {
        assert!(reasons.get(columns[1]).is_some_and(|reason| !reason.is_empty()), "{owner:?} {columns:?}");
        assert!(!lines.is_empty(), "{owner:?}");
        used.push(columns[1]);
    }
    assert!(reasons.keys().all(|reason| used.contains(reason)), "{reasons:?}");
    let n_listed: usize = rows(DIFFERENCES, 2).map(|(.., lines)| lines.len()).sum();
    let values: Vec<_> = expected().into_values().flatten().collect();
    let n_different = values.iter().filter(|(_, of_peer, wanted)| of_peer != wanted).count();
    assert_eq!(n_different, n_listed, "no row says what the peer says");
    let n_accepted =
        values.iter().filter(|(_, of_peer, wanted)| *of_peer != "accepted" && *wanted == "accepted").count();
    assert!(
        n_accepted < 300,
        "{n_accepted} of {} are accepted where the peer refuses: arithmetic and what is newer",
        values.len()
    );
}
