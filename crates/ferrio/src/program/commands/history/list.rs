//! `ferrio history list`.
//!
//! Must not know: how runs are stored. Start reading at [`list`].

use crate::shared::kept_runs::existing;
use crate::ui::console::Console;
use clap::Args;
use ferrio::history::{KeptFigures, StoredRun};
use ferrio_formats::LocalTime;
use ferrio_formats::native::DOUBT_MARK;
use ferrio_units::humanize::{duration_text, thousands, three_digits};
use ferrio_units::terminal_text::escape_name;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(super) struct ListRequest {
    /// List only runs of this name, and of the sweep of this name
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// List at most this many runs
    #[arg(long, short = 'n', value_name = "N")]
    limit: Option<usize>,
}

const HEADINGS: [&str; N_COLUMNS] = ["run", "name", "began", "length", "job", "", "MB/s", "IOPS", "p99", "findings"];
const N_COLUMNS: usize = 10;
/// Columns whose values are on the right.
const ON_THE_RIGHT: [usize; 5] = [0, 3, 6, 7, 8];
/// Longer names are cut, so that the table keeps its columns.
const MAX_NAME: usize = 20;
/// Further jobs and directions of a run are counted, not shown.
const MAX_FIGURES: usize = 4;

/// Shows the kept runs.
///
/// # Errors
/// In words: the history cannot be used.
pub(super) fn list(request: &ListRequest, console: &mut Console) -> anyhow::Result<()> {
    let mut runs = existing()?.map_or_else(|| Ok(Vec::new()), |history| history.list())?;
    runs.retain(|run| request.name.as_deref().is_none_or(|name| is_called(run, name)));
    runs.truncate(request.limit.unwrap_or(usize::MAX));
    console.report(&if runs.is_empty() { "No run is kept.\n".to_owned() } else { table(&runs) });
    Ok(())
}

/// The run has this name, or is at a point of the sweep of this name.
fn is_called(run: &StoredRun, name: &str) -> bool {
    let rest = run.name.as_deref().and_then(|own| own.strip_prefix(name));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Runs as a table, one row for each job and direction.
pub(super) fn table(runs: &[StoredRun]) -> String {
    let zone = LocalTime::system();
    let rows: Vec<[String; N_COLUMNS]> =
        std::iter::once(HEADINGS.map(str::to_owned)).chain(runs.iter().flat_map(|run| rows(run, &zone))).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..N_COLUMNS).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if ON_THE_RIGHT.contains(&column) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        text.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        text.push('\n');
    }
    text
}

fn rows(run: &StoredRun, zone: &LocalTime) -> Vec<[String; N_COLUMNS]> {
    let summary = &run.summary;
    let began = summary.began_ms.map_or_else(|| "unknown".to_owned(), |began_ms| zone.minute(began_ms));
    let name = run.name.as_deref().map_or_else(|| "-".to_owned(), cut);
    let length = duration_text(summary.duration_ns as f64);
    let mut rows: Vec<[String; N_COLUMNS]> = summary.figures.iter().take(MAX_FIGURES).map(figures).collect();
    if rows.is_empty() {
        rows.push(empty());
        rows[0][4] = summary.jobs.first().map(|job| cut(job)).unwrap_or_default();
    }
    let [first_run, first_name, first_began, first_length, ..] = &mut rows[0];
    (*first_run, *first_name, *first_began, *first_length) = (run.number.to_string(), name, began, length);
    summary.verdict.word().clone_into(&mut rows[0][N_COLUMNS - 1]);
    if summary.figures.len() > MAX_FIGURES {
        let mut more = empty();
        more[4] = format!("and {} more", summary.figures.len() - MAX_FIGURES);
        rows.push(more);
    }
    rows
}

fn empty() -> [String; N_COLUMNS] {
    std::array::from_fn(|_| String::new())
}

/// The cells for the figures of one job and direction.
fn figures(figures: &KeptFigures) -> [String; N_COLUMNS] {
    let mut row = empty();
    let (rate, mark) = (figures.ios_per_sec, if figures.is_p99_doubtful { DOUBT_MARK } else { "" });
    row[4] = cut(&figures.job);
    row[5] = escape_name(&figures.direction);
    row[6] = if figures.direction == "sync" { "-".to_owned() } else { three_digits(figures.bytes_per_sec / 1e6) };
    row[7] = if rate < 9.995 { three_digits(rate) } else { thousands(rate.round() as u64) };
    row[8] = figures.p99_ns.map_or_else(|| "-".to_owned(), |p99_ns| format!("{}{mark}", duration_text(p99_ns as f64)));
    row
}

/// A name for the table: in one line, and not too long.
fn cut(name: &str) -> String {
    let name = escape_name(name);
    if name.chars().count() <= MAX_NAME {
        return name;
    }
    name.chars().take(MAX_NAME - 3).collect::<String>() + "..."
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio::history::{KeptVerdict, RunSummary, StoredForm};

    fn run(number: i64, name: Option<&str>, jobs: &[&str]) -> StoredRun {
        let figures = |job: &&str| KeptFigures {
            job: (*job).to_owned(),
            direction: "read".to_owned(),
            ios_per_sec: 12_345.6,
            bytes_per_sec: 50.5e6,
            p99_ns: Some(120_000),
            ..KeptFigures::default()
        };
        let summary = RunSummary {
            duration_ns: 1_000_000_000,
            figures: jobs.iter().map(figures).collect(),
            verdict: KeptVerdict::Nothing,
            ..RunSummary::default()
        };
        let form = StoredForm::Record;
        StoredRun {
            number,
            name: name.map(str::to_owned),
            kept_ms: 0,
            summary,
            form,
            origin: String::new(),
            stored_bytes: 1,
        }
    }

    #[test]
    fn a_row_is_a_job_and_direction() {
        let runs =
            [run(12, Some("nightly"), &["a"]), run(3, None, &["a", "b\u{1b}[2J", "c", "d", "e"]), run(1, None, &[])];
        let text = table(&runs);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 1 + 5 + 1, "{text}");
        assert!(lines[1].starts_with(" 12  nightly  unknown") && lines[1].ends_with("nothing"), "{text}");
        assert!(lines[1].contains("50.5") && lines[1].contains("12,346"), "{text}");
        assert!(lines[3].trim_start().starts_with("b\\x1b[2J "), "{text}");
        assert_eq!(lines[6].trim(), "and 1 more");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(cut(&"x".repeat(30)), "x".repeat(17) + "...");
        assert_eq!(cut(&"x".repeat(20)), "x".repeat(20));
    }
}
