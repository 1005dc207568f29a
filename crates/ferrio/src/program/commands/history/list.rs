//! `ferrio history list`.
//!
//! Must not know: how runs are stored. Start reading at [`list`].

use crate::shared::keeping::existing;
use crate::ui::console::Console;
use clap::Args;
use ferrio::history::{KeptFigures, StoredRun};
use ferrio_formats::LocalTime;
use ferrio_formats::native::{ColumnLayout, DOUBT_MARK, NOTHING};
use ferrio_stats::Metric;
use ferrio_units::humanize::duration_text;
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

/// The columns before the figures.
const BEFORE: [&str; 6] = ["run", "name", "began", "length", "job", ""];
/// The figures of a job and direction.
const SHOWN: [Metric; 3] = [Metric::Bandwidth, Metric::Iops, Metric::P99];
const N_COLUMNS: usize = BEFORE.len() + SHOWN.len() + 1;
const ON_THE_LEFT: [usize; 5] = [1, 2, 4, 5, N_COLUMNS - 1];
/// Longer names are cut, so that the table keeps its columns.
const MAX_NAME: usize = 20;
/// Further jobs and directions of a run are counted, not shown.
const MAX_FIGURES: usize = 4;

/// Shows the kept runs.
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
    let headings = BEFORE.into_iter().chain(SHOWN.map(Metric::heading)).chain(["findings"]);
    let mut all: Vec<Vec<String>> = vec![headings.map(str::to_owned).collect()];
    all.extend(runs.iter().flat_map(|run| rows(run, &zone)));
    let layout = ColumnLayout::of(&all, |column| ON_THE_LEFT.contains(&column));
    all.iter().map(|row| layout.line(row)).collect()
}

fn rows(run: &StoredRun, zone: &LocalTime) -> Vec<Vec<String>> {
    let summary = &run.summary;
    let began = summary.began_ms.map_or_else(|| "unknown".to_owned(), |began_ms| zone.minute(began_ms));
    let name = run.name.as_deref().map_or_else(|| "-".to_owned(), cut);
    let length = duration_text(summary.duration_ns as f64);
    let mut rows: Vec<Vec<String>> = summary.figures.iter().take(MAX_FIGURES).map(figures).collect();
    if rows.is_empty() {
        rows.push(empty());
        rows[0][4] = summary.jobs.first().map(|job| cut(job)).unwrap_or_default();
    }
    for (place, cell) in rows[0].iter_mut().zip([run.number.to_string(), name, began, length]) {
        *place = cell;
    }
    summary.verdict.word().clone_into(&mut rows[0][N_COLUMNS - 1]);
    if summary.figures.len() > MAX_FIGURES {
        let mut more = empty();
        more[4] = format!("and {} more", summary.figures.len() - MAX_FIGURES);
        rows.push(more);
    }
    rows
}

fn empty() -> Vec<String> {
    vec![String::new(); N_COLUMNS]
}

/// The cells for the figures of one job and direction.
fn figures(figures: &KeptFigures) -> Vec<String> {
    let mut row = empty();
    row[4] = cut(&figures.job);
    row[5] = escape_name(&figures.direction);
    for (place, metric) in row[BEFORE.len()..].iter_mut().zip(SHOWN) {
        let mark = if metric == Metric::P99 && figures.is_p99_doubtful { DOUBT_MARK } else { "" };
        *place = figures.figure(metric).map_or_else(|| NOTHING.to_owned(), |value| metric.cell(value) + mark);
    }
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
