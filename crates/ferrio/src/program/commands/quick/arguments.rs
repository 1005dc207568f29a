//! The arguments of `ferrio quick`.
//!
//! Must not know: how they are used. Start reading at [`QuickRequest`].

use super::size;
use crate::ui::exit;
use anyhow::anyhow;
use clap::Parser;
use std::ffi::OsString;
use std::path::PathBuf;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Parser)]
#[command(
    name = "ferrio quick",
    bin_name = "ferrio quick",
    about = "Measure the storage under a directory with four tests",
    long_about = LONG_ABOUT,
    after_help = exit::PLAIN_OR_SIGNAL,
)]
pub(super) struct QuickRequest {
    /// Directory to measure
    #[arg(value_name = "DIR", default_value = ".")]
    pub(super) target: PathBuf,
    /// DIR is the name of a new file to measure with, in a directory that is
    /// there
    #[arg(long = "file", verbatim_doc_comment)]
    pub(super) is_file: bool,
    /// Time of each test in seconds, 1 to 3600
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(super) seconds: u32,
    /// Size of the file, such as 512m or 2g (powers of 1024), at most a tenth
    /// of the free space [default: the largest that this allows, up to 4g and
    /// what can be written in 20 s]
    #[arg(long = "size", value_name = "SIZE", value_parser = file_size, verbatim_doc_comment)]
    pub(super) size_bytes: Option<u64>,
    /// Print the result as JSON, which ferrio report and ferrio compare read
    #[arg(long = "json")]
    pub(super) is_json: bool,
    /// Write a page with charts too
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(super) html: Option<PathBuf>,
    /// Leave out names of paths, mounts and models in JSON
    #[arg(long = "anonymous", requires = "is_json")]
    pub(super) is_anonymous: bool,
}

const LONG_ABOUT: &str = "\
Measure the storage under a directory with four tests: 1M sequential write, \
4K random write, 1M sequential read, 4K random read. Before each, a fifth of \
its time (at most 2 s) is spent on a warm-up that is not counted.

The tests run on one new file, which is filled with random data before and \
removed afterwards, also after an error or Ctrl-C. Nothing else is written to; \
devices and existing files are refused. Only if the program is killed, a file \
`.ferrio-quick-PID.tmp` may stay behind: remove it.";

/// Reads the arguments, the name of the command first.
///
/// # Errors
/// The error contains the text to show: a refusal, or the help if the arguments ask for it.
pub(super) fn parse(arguments: &[OsString]) -> Result<QuickRequest, clap::Error> {
    crate::ui::arguments::read(arguments)
}

/// A size in bytes, or in K, M, G or T: powers of 1024, also when they are spelt KiB and so on.
fn file_size(text: &str) -> anyhow::Result<u64> {
    let n_digits = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(n_digits);
    let suffix = suffix.to_ascii_lowercase();
    let letter = suffix.strip_suffix("ib").filter(|letter| !letter.is_empty()).unwrap_or(&suffix);
    let power = ["", "k", "m", "g", "t"].iter().position(|known| *known == letter);
    let (Ok(number), Some(power)) = (digits.parse::<u64>(), power) else {
        return Err(anyhow!("a whole number with K, M, G or T behind it is expected"));
    };
    // Cannot overflow: 1024^4 = 2^40.
    let bytes = number.checked_mul(1024_u64.pow(power as u32)).ok_or_else(|| anyhow!("that is too large"))?;
    if bytes < size::MIN_BYTES {
        return Err(anyhow!("a file has at least {} MiB", size::MIN_BYTES >> 20));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse_words(words: &[&str]) -> Result<QuickRequest, clap::Error> {
        let arguments: Vec<OsString> = std::iter::once(&"quick").chain(words).map(OsString::from).collect();
        parse(&arguments)
    }

    #[test]
    fn the_definition_is_sound() {
        QuickRequest::command().debug_assert();
    }

    #[test]
    fn defaults_and_all_options() {
        let default = QuickRequest {
            target: ".".into(),
            is_file: false,
            seconds: 5,
            size_bytes: None,
            is_json: false,
            html: None,
            is_anonymous: false,
        };
        assert_eq!(parse_words(&[]).unwrap(), default);
        let (target, size_bytes) = ("/mnt/new".into(), Some(2 << 30));
        let (is_file, seconds, is_json, html) = (true, 60, true, Some("page.html".into()));
        let all = QuickRequest { target, is_file, seconds, size_bytes, is_json, html, is_anonymous: false };
        let words = ["--file", "/mnt/new", "--seconds=60", "--size", "2g", "--json", "--html=page.html"];
        assert_eq!(parse_words(&words).unwrap(), all);
    }

    #[test]
    fn sizes_are_powers_of_1024_and_nothing_is_guessed() {
        let table = [
            ("16777216", Some(16 << 20)),
            ("16m", Some(16 << 20)),
            ("16MiB", Some(16 << 20)),
            ("65536K", Some(64 << 20)),
            ("3G", Some(3 << 30)),
            ("1tib", Some(1 << 40)),
            ("15m", None),
            ("1.5g", None),
            ("g", None),
            ("", None),
            ("-1g", None),
            ("1x", None),
            ("1mb", None),
            ("1g ", None),
            ("99999999999999999999t", None),
        ];
        for (text, expected) in table {
            assert_eq!(file_size(text).ok(), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_refused() {
        for words in [&["--seconds=0"][..], &["--seconds=3601"], &["--size=1m"], &["a", "b"], &["--sise=1g"]] {
            assert!(parse_words(words).is_err_and(|error| error.use_stderr()), "{words:?}");
        }
        assert!(parse_words(&["--help"]).is_err_and(|help| !help.use_stderr()));
    }
}
