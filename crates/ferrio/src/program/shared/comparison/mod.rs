//! Results compared, shown, and judged by conditions: for `ferrio compare`, and for kept runs.
//!
//! Must not know: how verdicts are reached, how results are stored. Start reading at [`answer`].

mod condition;
mod inputs;
mod markdown;
mod text;

use crate::ui::console::Console;
use crate::ui::exit::Exit;
use anyhow::anyhow;
use clap::Args;
use condition::{Condition, ConditionOutcome, ConditionResult};
use ferrio_formats::RunResult;
use ferrio_insight::compare::{Comparison, compare};
use ferrio_sys::output::{AtomicFile, ProtectedPaths};
use inputs::ResultSide;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The command in whose name messages are written, also those about kept runs.
pub(crate) const PROGRAM: &str = "ferrio compare";

/// The results of both sides.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(crate) struct ComparedResults {
    /// Results: the base first, then new ones; logs stand behind their report
    #[arg(value_name = "RESULT", required = true)]
    pub(crate) results: Vec<PathBuf>,
    /// Repeats of the new run; the results before it are repeats of the base
    #[arg(long, value_name = "RESULT", num_args = 1..)]
    pub(crate) against: Vec<PathBuf>,
}

/// How results are compared and shown.
#[derive(Debug, Clone, PartialEq, Args)]
pub(crate) struct CompareOptions {
    /// Changes that are certainly smaller than this count as none
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = percent)]
    pub(crate) threshold: f64,
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

/// Compares and shows; the exit code says what became of the conditions.
pub(crate) fn answer(results: &ComparedResults, options: &CompareOptions, console: &mut Console) -> ExitCode {
    match compare_all(results, options, console) {
        Ok(_) if console.has_failed => Exit::Failed.into(),
        Ok(ConditionOutcome::Met) => Exit::Found.into(),
        Ok(ConditionOutcome::Undecided) if !options.allow_unknown => Exit::Undecided.into(),
        Ok(_) => ExitCode::SUCCESS,
        Err(reason) => {
            console.error(&format!("{PROGRAM}: {reason}\n"));
            Exit::Failed.into()
        }
    }
}

/// Compares and shows; tells what became of the conditions.
fn compare_all(
    results: &ComparedResults,
    options: &CompareOptions,
    console: &mut Console,
) -> anyhow::Result<ConditionOutcome> {
    let comparisons = comparisons(results, options.threshold)?;
    let judged = options.fail_if.iter().map(|condition| condition.judge(&comparisons));
    let judged: Vec<ConditionResult> = judged.collect::<Result<_, _>>()?;
    let text = match () {
        () if options.json => document(&comparisons, &judged),
        () if options.markdown => markdown::markdown(&comparisons),
        () => text::text(&comparisons),
    };
    console.report(&text);
    if let Some(path) = &options.html {
        let kept = Arc::new(ProtectedPaths::inputs(results.results.iter().chain(&results.against)));
        write_page(path, &kept, &comparisons)?;
    }
    for condition in &judged {
        tell(condition, options.allow_unknown, console);
    }
    Ok(judged.iter().map(|condition| condition.outcome).max().unwrap_or(ConditionOutcome::NotMet))
}

/// Tells what became of a condition, beside the report.
fn tell(condition: &ConditionResult, allows_unknown: bool, console: &mut Console) {
    let ConditionResult { condition, outcome, jobs, unknown } = condition;
    if *outcome == ConditionOutcome::Met {
        console.error(&format!("{PROGRAM}: {condition}: met in {}\n", jobs.join(", ")));
    }
    if !unknown.is_empty() {
        let advice = match outcome {
            ConditionOutcome::Undecided if !allows_unknown => {
                "; more results of each side may (--against), and --allow-unknown lets it pass"
            }
            _ => "",
        };
        let unknown = unknown.join(", ");
        console.error(&format!("{PROGRAM}: {condition}: the results do not decide {unknown}{advice}\n"));
    }
}

/// Writes the page: whole, or not at all.
fn write_page(path: &Path, kept: &Arc<ProtectedPaths>, comparisons: &[Comparison]) -> anyhow::Result<()> {
    let page = ferrio_pictures::comparison::page(comparisons);
    let written = AtomicFile::create(path, kept).and_then(|file| file.write(page.as_bytes()));
    written.map_err(|error| anyhow!("cannot write {}: {}", path.display(), ferrio_units::error_text(&error)))
}

/// The comparisons that are wanted, at least one.
fn comparisons(sides: &ComparedResults, threshold: f64) -> anyhow::Result<Vec<Comparison>> {
    let first = inputs::read_sides(&sides.results)?;
    if !sides.against.is_empty() {
        let second = inputs::read_sides(&sides.against)?;
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
