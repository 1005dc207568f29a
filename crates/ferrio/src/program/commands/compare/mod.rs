//! `ferrio compare`: what is the same, faster or slower in new results.
//!
//! Must not know: how verdicts are reached, how results are stored. Start reading at [`run`].

mod condition;
mod inputs;
mod markdown;
mod text;

use crate::ui::arguments;
use crate::ui::console::Console;
use crate::ui::exit::Exit;
use anyhow::anyhow;
use clap::{Args, CommandFactory, Parser};
use condition::{Condition, ConditionOutcome, ConditionResult};
use ferrio_formats::RunResult;
use ferrio_insight::compare::{Comparison, compare};
use ferrio_sys::output::{AtomicFile, ProtectedPaths};
use inputs::ResultSide;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

const PROGRAM: &str = "ferrio compare";

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Parser)]
#[command(
    name = "ferrio compare",
    bin_name = "ferrio compare",
    about = "Compare results: same, faster, slower, different, or can't tell",
    long_about = LONG_ABOUT,
    after_help = "Exit code: 0; 1 if a condition of --fail-if is met; 2 after an error; 3 if the results do not decide a condition (0 with --allow-unknown).",
)]
struct Request {
    /// Results: the base first, then new ones; logs stand behind their report
    #[arg(value_name = "RESULT", required = true)]
    results: Vec<PathBuf>,
    /// Repeats of the new run; the results before it are repeats of the base
    #[arg(long, value_name = "RESULT", num_args = 1..)]
    against: Vec<PathBuf>,
    #[command(flatten)]
    options: CompareOptions,
}

/// How results are compared and shown.
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct CompareOptions {
    /// Changes that are certainly smaller than this count as none
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    threshold: f64,
    /// Exit with 1 if the condition is met, with 3 if the results do not decide it; may be given several times
    #[arg(long, value_name = "CONDITION", value_parser = Condition::parse)]
    fail_if: Vec<Condition>,
    /// Exit with 0 if the results do not decide a condition
    #[arg(long, requires = "fail_if")]
    allow_unknown: bool,
    /// Print the comparison as JSON
    #[arg(long)]
    json: bool,
    /// Print the comparison as Markdown, for a pull request
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Write a page too, to this file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

const LONG_ABOUT: &str = "\
Compare results: same, faster, slower, different, or can't tell.

  ferrio compare before.json after.json
  ferrio compare before.json before_*.log after.json after_*.log
  ferrio compare before1.json before2.json before3.json \\
         --against after1.json after2.json after3.json
  ferrio compare before/ after/

Results are JSON reports of fio and ferrio with their performance logs, those of \
ferrio run --json, records (--record), kept runs (history:RUN), and folders of repeated runs and sweeps (ferrio run --repeat N --record FOLDER, ferrio sweep), point by point. Without \
--against, each result is compared with the first one.

Faster and slower rest on repeated runs, which show how much one run differs \
from the next. One run on each side is at most different: by the course of both \
(logs, records, the precision that ferrio run tells), or by a change that is \
larger than noise.

  --fail-if 'read.iops < -5%'         certainly more than 5 % slower
  --fail-if 'p99 > 10% and p99 > 50us'
  --fail-if 'sync.p99 > 20% or job1:write.bw is slower'

Figures are iops, bw, mean, p50, p95, p99, p99.9, p99.99, max and any; read, \
write, trim or sync and a job may stand before them. A change has a unit: %, \
iops, ns, us, ms, s, kB/s, MB/s, GB/s. Verdicts are same, faster, slower, \
differs and unknown. The interval of the change decides (of repeated runs, or \
of the course of two); where it reaches to both sides of the value or there is \
none, the exit code is 3, so that a step of CI does not pass by chance.";

/// The command, for help, manual page and completions.
pub(crate) fn describe() -> clap::Command {
    Request::command()
}

/// Runs the command with its arguments (the command's name first).
pub(crate) fn run(arguments: &[OsString]) -> ExitCode {
    match arguments::parse::<Request>(PROGRAM, arguments) {
        Ok(request) => answer(&request, &mut Console::of_command(PROGRAM)),
        Err(code) => code,
    }
}

/// Compares two kept runs, or other results, of these names.
pub(crate) fn compare_two(base: PathBuf, new: PathBuf, options: CompareOptions) -> ExitCode {
    let request = Request { results: vec![base, new], against: Vec::new(), options };
    answer(&request, &mut Console::of_command(PROGRAM))
}

fn answer(request: &Request, console: &mut Console) -> ExitCode {
    match compare_all(request, console) {
        Ok(_) if console.has_failed => Exit::Failed.into(),
        Ok(ConditionOutcome::Met) => Exit::Found.into(),
        Ok(ConditionOutcome::Undecided) if !request.options.allow_unknown => Exit::Undecided.into(),
        Ok(_) => ExitCode::SUCCESS,
        Err(reason) => {
            console.error(&format!("{PROGRAM}: {reason}\n"));
            Exit::Failed.into()
        }
    }
}

/// Compares and shows; tells what became of the conditions.
fn compare_all(request: &Request, console: &mut Console) -> anyhow::Result<ConditionOutcome> {
    let comparisons = comparisons(request)?;
    let judged = request.options.fail_if.iter().map(|condition| condition.judge(&comparisons));
    let judged: Vec<ConditionResult> = judged.collect::<Result<_, _>>()?;
    let text = match () {
        () if request.options.json => document(&comparisons, &judged),
        () if request.options.markdown => markdown::markdown(&comparisons),
        () => text::text(&comparisons),
    };
    console.report(&text);
    if let Some(path) = &request.options.html {
        let kept = Arc::new(ProtectedPaths::inputs(request.results.iter().chain(&request.against)));
        write_page(path, &kept, &comparisons)?;
    }
    for condition in &judged {
        tell(condition, request.options.allow_unknown, console);
    }
    Ok(judged.iter().map(|condition| condition.outcome).max().unwrap_or(ConditionOutcome::NotMet))
}

/// Tells what became of a condition, beside the report.
fn tell(condition: &ConditionResult, allows_unknown: bool, console: &mut Console) {
    let ConditionResult { condition, outcome, jobs, unknown } = condition;
    if *outcome == ConditionOutcome::Met {
        console.error(&format!("ferrio compare: {condition}: met in {}\n", jobs.join(", ")));
    }
    if !unknown.is_empty() {
        let advice = match outcome {
            ConditionOutcome::Undecided if !allows_unknown => {
                "; more results of each side may (--against), and --allow-unknown lets it pass"
            }
            _ => "",
        };
        let unknown = unknown.join(", ");
        console.error(&format!("ferrio compare: {condition}: the results do not decide {unknown}{advice}\n"));
    }
}

/// Writes the page: whole, or not at all.
fn write_page(path: &Path, kept: &Arc<ProtectedPaths>, comparisons: &[Comparison]) -> anyhow::Result<()> {
    let page = ferrio_pictures::comparison::page(comparisons);
    let written = AtomicFile::create(path, kept).and_then(|file| file.write(page.as_bytes()));
    written.map_err(|error| anyhow!("cannot write {}: {}", path.display(), ferrio_units::error_text(&error)))
}

/// The comparisons that are wanted, at least one.
fn comparisons(request: &Request) -> anyhow::Result<Vec<Comparison>> {
    let first = inputs::read_sides(&request.results)?;
    let threshold = request.options.threshold;
    if !request.against.is_empty() {
        let second = inputs::read_sides(&request.against)?;
        return compare_points(&together(first), &together(second), threshold);
    }
    match &first[..] {
        [] | [_] => Err(anyhow!("there is one result, and two are needed: a base and a new one")),
        [base, others @ ..] => {
            let compared: Result<Vec<_>, _> =
                others.iter().map(|other| compare_points(base, other, threshold)).collect();
            Ok(compared?.concat())
        }
    }
}

/// The results of several sides as repeats of each other.
fn together(sides: Vec<ResultSide>) -> ResultSide {
    let mut points: Vec<(String, Vec<RunResult>)> = Vec::new();
    for (name, results) in sides.into_iter().flat_map(|side| side.points) {
        match points.iter_mut().find(|(known, _)| *known == name) {
            Some((_, all)) => all.extend(results),
            None => points.push((name, results)),
        }
    }
    ResultSide { points }
}

/// Compares the points that both sides have.
fn compare_points(base: &ResultSide, new: &ResultSide, threshold: f64) -> anyhow::Result<Vec<Comparison>> {
    let of_point = |(name, results): &(String, Vec<RunResult>)| {
        let (_, others) = new.points.iter().find(|(other, _)| other == name)?;
        Some(compare(results, others, threshold))
    };
    let compared: Vec<Comparison> = base.points.iter().filter_map(of_point).collect();
    if compared.is_empty() { Err(anyhow!("no point of the sweep is on both sides")) } else { Ok(compared) }
}

/// The comparisons as JSON.
fn document(comparisons: &[Comparison], judged: &[ConditionResult]) -> String {
    let version = ferrio::session::VERSION;
    let document = serde_json::json!({ "version": version, "comparisons": comparisons, "conditions": judged });
    format!("{document:#}\n")
}

/// Parses a percentage from 0 to below 100.
fn percent(text: &str) -> anyhow::Result<f64> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let value = number.parse::<f64>().ok().filter(|value| (0.0..100.0).contains(value));
    value.ok_or_else(|| anyhow!("a percentage from 0 to below 100 is expected, such as 1%"))
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
        assert!((request.options.threshold - 2.5).abs() < 1e-9);
        assert_eq!(parsed(&["a", "b"]), parsed(&["a", "b", "--threshold", "1"]));
        for bad in
            [&[][..], &["a", "--threshold=-1"], &["a", "--threshold=nan"], &["a", "--threshold=100%"], &["a", "--x"]]
        {
            assert!(parsed(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn lines_of_help_fit_80_columns() {
        let help = arguments::help_text(describe());
        assert!(help.lines().all(|line| line.len() <= 80), "{help}");
    }
}
