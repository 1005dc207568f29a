//! `ferrio compare`: what is the same, faster or slower in new results.
//!
//! Must not know: how verdicts are reached, how results are stored. Start reading at [`run`].

mod condition;
mod inputs;
mod markdown;
mod text;

use crate::console::Console;
use clap::Parser;
use condition::{Condition, ConditionResult};
use ferrio_insight::compare::{Comparison, compare};
use ferrio_sys::output::{KeptFiles, WholeFile};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

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
    /// Exit with 1 if it holds: see above. May be given several times
    #[arg(long, value_name = "CONDITION", value_parser = Condition::parse)]
    fail_if: Vec<Condition>,
    /// All of it as JSON
    #[arg(long)]
    json: bool,
    /// As Markdown, for the page of a pull request
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Also a page, in this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
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
run differs from the next.

  --fail-if 'read.iops < -5%'         a change that is certain and below -5 %
  --fail-if 'p99 > 10% and p99 > 50us'
  --fail-if 'job1:write.bw is slower or iops is unknown'

Figures are iops, bw, mean, p50, p99, p99.9 and any; a direction (read, write,
trim) and a job may stand before them. A change has a unit: %, iops, ns, us, ms,
s, kB/s, MB/s, GB/s. Verdicts are same, faster, slower and unknown. What the
results can't tell never holds as a change: it is told as a warning, and
conditions with unknown catch it.";

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
    match compare_all(&request, &mut console) {
        Ok(false) if !console.has_failed => ExitCode::SUCCESS,
        Ok(true) if !console.has_failed => ExitCode::FAILURE,
        Ok(_) => ExitCode::from(BAD_INPUT),
        Err(reason) => {
            console.error(&format!("ferrio compare: {reason}\n"));
            ExitCode::from(BAD_INPUT)
        }
    }
}

/// Compares and shows; true if a condition holds.
fn compare_all(request: &Request, console: &mut Console) -> Result<bool, String> {
    let comparisons = comparisons(request)?;
    let judged = request.fail_if.iter().map(|condition| condition.judge(&comparisons));
    let judged: Vec<ConditionResult> = judged.collect::<Result<_, _>>()?;
    let text = match () {
        () if request.json => document(&comparisons, &judged),
        () if request.markdown => markdown::markdown(&comparisons),
        () => text::text(&comparisons),
    };
    console.report(&text);
    if let Some(path) = &request.html {
        let kept = Arc::new(KeptFiles::inputs(request.results.iter().chain(&request.against)));
        write_page(path, &kept, &comparisons)?;
    }
    for condition in &judged {
        tell(condition, console);
    }
    Ok(judged.iter().any(|condition| condition.holds))
}

/// Tells what became of a condition, beside the report.
fn tell(condition: &ConditionResult, console: &mut Console) {
    let ConditionResult { condition, holds, jobs, unknown } = condition;
    if *holds {
        console.error(&format!("ferrio compare: {condition}: holds in {}\n", jobs.join(", ")));
    }
    if !unknown.is_empty() {
        console.error(&format!("ferrio compare: {condition}: the results can't tell {}\n", unknown.join(", ")));
    }
}

/// Writes the page: whole, or not at all.
fn write_page(path: &Path, kept: &Arc<KeptFiles>, comparisons: &[Comparison]) -> Result<(), String> {
    let page = ferrio_pictures::comparison::page(comparisons);
    let written = WholeFile::create(path, kept).and_then(|file| file.write(page.as_bytes()));
    written.map_err(|error| format!("cannot write {}: {}", path.display(), ferrio_units::error_text(&error)))
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

/// The comparisons as JSON.
fn document(comparisons: &[Comparison], judged: &[ConditionResult]) -> String {
    let version = crate::version::VERSION;
    let document = serde_json::json!({ "version": version, "comparisons": comparisons, "conditions": judged });
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
