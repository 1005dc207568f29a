//! A job file, and the command line that `--showcmd` makes of it, describe the same jobs.

use ferrio_job::environment::{Environment, SystemEnvironment};
use ferrio_job::{Invocation, parse};
use ferrio_spec::{JobSpec, RunSpec};
use ferrio_units::Wording;
use proptest::prelude::*;
use std::ffi::OsString;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// A machine whose standard input is the job file.
struct Piped {
    system: SystemEnvironment,
    text: String,
}

impl Environment for Piped {
    fn version(&self) -> String {
        self.system.version()
    }

    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn open(&self, _: &Path) -> io::Result<Box<dyn Read>> {
        Err(io::Error::from(io::ErrorKind::NotFound))
    }

    fn stdin(&self) -> Box<dyn Read> {
        Box::new(Cursor::new(self.text.clone()))
    }

    fn check_directory(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn page_size_bytes(&self) -> u64 {
        4096
    }

    fn memory_mib(&self) -> u64 {
        1000
    }

    fn n_cpus(&self) -> u32 {
        64
    }
}

fn run(text: &str, words: &[String]) -> Invocation {
    let environment = Piped { system: SystemEnvironment::new("fio-3.42"), text: text.to_owned() };
    let words: Vec<OsString> =
        std::iter::once("fio").chain(words.iter().map(String::as_str)).map(OsString::from).collect();
    parse(&words, &environment).unwrap_or_else(|error| panic!("{error}\nof\n{text}"))
}

/// Splits a line as a shell does, for the quotes that `--showcmd` writes.
fn shell_words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote, mut escaped) = (Vec::new(), String::new(), None, false);
    for symbol in line.trim_end_matches('\n').chars() {
        match (symbol, quote) {
            _ if escaped => {
                word.push(symbol);
                escaped = false;
            }
            ('\\', None) => escaped = true,
            ('"' | '\'', None) => quote = Some(symbol),
            (_, Some(open)) if symbol == open => quote = None,
            (' ', None) => words.push(std::mem::take(&mut word)),
            _ => word.push(symbol),
        }
    }
    words
}

/// The jobs, without how they were written.
fn jobs(run: &RunSpec) -> Vec<JobSpec> {
    run.jobs.iter().map(|job| JobSpec { given_options: Vec::new(), ..job.clone() }).collect()
}

/// An option line; every pair is valid with every other.
fn option_line() -> impl Strategy<Value = String> {
    let one_of = |name: &'static str, values: &'static [&'static str]| {
        proptest::sample::select(values).prop_map(move |value| format!("{name}={value}"))
    };
    prop_oneof![
        one_of("rw", &["read", "randwrite:4", "rw", "write:-8k", "trimwrite"]),
        one_of("bs", &["4k", "8k,16k", ",1k", "512,,2k", "4kib"]),
        one_of("bsrange", &["1k-4k", "512:1k,2k-4k"]),
        one_of("size", &["1g", "64m", "50%", "2gib"]),
        one_of("offset", &["1m", "10%", "0x1000"]),
        one_of("kb_base", &["1000", "1024"]),
        one_of("iodepth", &["1", "32"]),
        one_of("iodepth_batch", &["0", "4", "99"]),
        one_of("ioengine", &["libaio", "psync", "io_uring", "null"]),
        one_of("runtime", &["10", "5m", "100ms"]),
        one_of("startdelay", &["3", "1-2"]),
        one_of("percentile_list", &["50:99.99", "1"]),
        one_of("ignore_error", &["EIO", "EIO:ENOSPC,,EILSEQ"]),
        one_of("cpus_allowed", &["0-3,8", "1"]),
        one_of("filename", &["a:b", "c d", "it's", "a\\:b", "$x", "~"]),
        one_of("description", &["some words", "with \"quotes\"", "`x` $y \\z", " led by a blank"]),
        one_of("unified_rw_reporting", &["both", "1"]),
        one_of("mem", &["mmap:/tmp/x", "shm"]),
        proptest::sample::select(&["thread", "stonewall", "time_based=0", "group_reporting", "norandommap"][..])
            .prop_map(str::to_owned),
    ]
}

fn job_file() -> impl Strategy<Value = String> {
    let lines = || proptest::collection::vec(option_line(), 0..8).prop_map(|lines| lines.join("\n"));
    let name = proptest::sample::select(&["global", "a", "b c", "d'e"][..]);
    let sections = proptest::collection::vec((name, lines()), 1..5);
    sections.prop_map(|sections| {
        let text = sections.iter().map(|(name, lines)| format!("[{name}]\n{lines}\n"));
        text.chain(["[last]\n".to_owned()]).collect()
    })
}

proptest! {
    #[test]
    fn showcmd_asks_for_the_same_jobs(text in job_file()) {
        let read = run(&text, &["-".to_owned()]);
        let shown = run(&text, &["--showcmd".to_owned(), "-".to_owned()]);
        let line: String = shown.messages.iter().map(|(_, text)| text.text(Wording::Fio)).collect();
        let words = shell_words(&line);
        prop_assert_eq!(words[0].as_str(), "fio");
        let again = run("", &words[1..]);
        prop_assert_eq!(jobs(&read.run), jobs(&again.run), "{}", line);
    }

    #[test]
    fn no_job_file_makes_the_parser_panic(text in "(\\[[a-z]*\\]?\n|[a-z_]{0,8}( ?= ?[-0-9a-z$:,%]{0,9})?\n){0,30}") {
        let environment = Piped { system: SystemEnvironment::new("fio-3.42"), text };
        let _ = parse(&["fio", "-"].map(OsString::from), &environment);
    }

    #[test]
    fn no_command_line_makes_the_parser_panic(words in proptest::collection::vec("-{0,2}[a-z_-]{0,12}(=[-0-9a-z:,%]{0,9})?", 0..6)) {
        let environment = Piped { system: SystemEnvironment::new("fio-3.42"), text: String::new() };
        let words: Vec<OsString> = std::iter::once("fio".to_owned()).chain(words).map(OsString::from).collect();
        let _ = parse(&words, &environment);
    }
}
