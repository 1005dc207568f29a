//! `ferrio compare`: what is the same, faster or slower in new results.
//!
//! Must not know: how verdicts are reached, how results are stored. Start reading at [`run`].

mod inputs;
mod text;
mod words;

use crate::console::Console;
use clap::Parser;
use ferrio_insight::compare::{Comparison, compare};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Exit code where the inputs or options are bad; 1 says that a condition holds, which must be something else.
const BAD_INPUT: u8 = 2;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Parser)]
#[command(
    name = "ferrio compare",
    bin_name = "ferrio compare",
    about = "Compare results: same, faster, slower, or can't tell",
    long_about = LONG_ABOUT,
    after_help = "Exit code: 0; 1 if a condition of --fail-if holds; 2 after an error.",
)]
struct Request {
    /// Results: the base first, then new ones; logs stand behind their report
    #[arg(value_name = "RESULT", required = true)]
    results: Vec<PathBuf>,
    /// Repeats of the new run; the results before it are repeats of the base
    #[arg(long, value_name = "RESULT", num_args = 1..)]
    against: Vec<PathBuf>,
    /// Changes certainly below this count as none
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    threshold: f64,
    /// All of it as JSON
    #[arg(long)]
    json: bool,
}

// Lines are broken by hand, because clap can wrap text only with a further dependency.
const LONG_ABOUT: &str = "\
Compare results: same, faster, slower, or can't tell.

  ferrio compare before.json after.json
  ferrio compare before.json before_*.log after.json after_*.log
  ferrio compare before1.json before2.json before3.json \\
         --against after1.json after2.json after3.json

Results are JSON reports of fio and ferrio with their performance logs, those of
ferrio run --json, and records (--record). Without --against, each result is
compared with the first one.

A verdict rests on repeated runs, or on the course of one run on each side
(logs, records, the precision that ferrio run tells). Where there is neither,
the results can't tell. Repeated runs say more: they also know how much one
run differs from the next.";

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    let mut console = Console::of_command("ferrio compare");
    let request = match Request::try_parse_from(arguments) {
        Ok(request) => request,
        Err(error) if error.use_stderr() => {
            console.error(&error.to_string());
            return ExitCode::from(BAD_INPUT);
        }
        Err(help) => {
            console.report(&help.to_string());
            return ExitCode::SUCCESS;
        }
    };
    match comparisons(&request) {
        Ok(comparisons) => show(&request, &comparisons, &mut console),
        Err(reason) => {
            console.error(&format!("ferrio compare: {reason}\n"));
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// The comparisons that are wanted, at least one.
fn comparisons(request: &Request) -> Result<Vec<Comparison>, String> {
    let first = inputs::read(&request.results)?;
    let threshold = request.threshold;
    if !request.against.is_empty() {
        let second = inputs::read(&request.against)?;
        return Ok(vec![compare(&first, &second, threshold)]);
    }
    match &first[..] {
        [] | [_] => Err("there is one result, and two are needed: a base and a new one".to_owned()),
        [base, others @ ..] => {
            let of_other = |other| compare(std::slice::from_ref(base), std::slice::from_ref(other), threshold);
            Ok(others.iter().map(of_other).collect())
        }
    }
}

fn show(request: &Request, comparisons: &[Comparison], console: &mut Console) -> ExitCode {
    let text = if request.json { document(comparisons) } else { text::text(comparisons) };
    console.report(&text);
    if console.has_failed { ExitCode::from(BAD_INPUT) } else { ExitCode::SUCCESS }
}

/// The comparisons as JSON.
fn document(comparisons: &[Comparison]) -> String {
    let document = serde_json::json!({ "version": crate::version::VERSION, "comparisons": comparisons });
    format!("{document:#}\n")
}

/// Parses a percentage from 0 to below 100.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let value = number.parse::<f64>().ok().filter(|value| (0.0..100.0).contains(value));
    value.ok_or_else(|| "a percentage from 0 to below 100 is expected, such as 1%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<Request, String> {
        let words = ["compare"].iter().chain(words).map(OsString::from);
        Request::try_parse_from(words).map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_are_understood() {
        let request = parsed(&["a", "b", "--against", "c", "d", "--threshold=2.5%"]).expect("a request");
        assert_eq!((request.results.len(), request.against.len()), (2, 2));
        assert!((request.threshold - 2.5).abs() < 1e-9);
        assert_eq!(parsed(&["a", "b"]), parsed(&["a", "b", "--threshold", "1"]));
        for bad in
            [&[][..], &["a", "--threshold=-1"], &["a", "--threshold=nan"], &["a", "--threshold=100%"], &["a", "--x"]]
        {
            assert!(parsed(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn lines_of_help_fit_80_columns() {
        let help = Request::try_parse_from(["compare", "--help"]).expect_err("help is no request").to_string();
        assert!(help.lines().all(|line| line.len() <= 80), "{help}");
    }
}
