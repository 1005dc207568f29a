//! `ferrio history export`: runs as CSV or JSON, or the stored result of one.
//!
//! Must not know: how runs are stored. Start reading at [`export`].

use crate::shared::keeping::{existing, found, opened};
use crate::ui::console::Console;
use crate::ui::csv_table::decimal;
use anyhow::anyhow;
use clap::{ArgGroup, Args};
use ferrio::history::{HistoryPlace, KeptFigures, StoredRun};
use ferrio_sys::output::{AtomicFile, ProtectedPaths};
use ferrio_units::csv_field;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(group = ArgGroup::new("form").required(true))]
pub(super) struct ExportRequest {
    /// The runs; without any: all
    #[arg(value_name = "RUN")]
    runs: Vec<String>,
    /// Headline figures, a line for each job and direction
    #[arg(long, group = "form")]
    csv: bool,
    /// All facts about the runs, with headline figures
    #[arg(long, group = "form")]
    json: bool,
    /// The result of one run, as it was kept or imported
    #[arg(long, group = "form", requires = "output")]
    original: bool,
    /// Write to this file
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Names of the columns. Units are last in a name.
const HEADER: &str = "run,name,began_ms,duration_ns,host,program,findings,job,direction,ios,bytes,bytes_per_sec,ios_per_sec,mean_ns,\
                      p50_ns,p99_ns";
const N_FIGURES: usize = 9;

/// Exports runs.
///
/// # Errors
/// In words: a run is not there, or the file cannot be written.
pub(super) fn export(request: &ExportRequest, console: &mut Console) -> anyhow::Result<()> {
    if request.original {
        let [word] = &request.runs[..] else {
            return Err(anyhow!("--original needs one run: several results are no file"));
        };
        let history = opened()?;
        let content = found(&history, word).and_then(|run| history.content(run.number).map_err(anyhow::Error::from))?;
        return request.output.as_deref().map_or(Ok(()), |path| write(path, &content));
    }
    let runs = runs(request)?;
    let text = if request.csv { csv(&runs) } else { document(&runs) };
    if let Some(path) = &request.output {
        return write(path, text.as_bytes());
    }
    console.report(&text);
    Ok(())
}

fn runs(request: &ExportRequest) -> anyhow::Result<Vec<StoredRun>> {
    if request.runs.is_empty() {
        return existing()?.map_or_else(|| Ok(Vec::new()), |history| history.list()).map_err(anyhow::Error::from);
    }
    let history = opened()?;
    request.runs.iter().map(|word| found(&history, word)).collect()
}

/// Writes a file: whole, or not at all.
fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    // The history itself is no place for it.
    let kept = ProtectedPaths::inputs(HistoryPlace::of_user().map(|place| place.path().to_owned()));
    let written = AtomicFile::create(path, &Arc::new(kept)).and_then(|file| file.write(content));
    written.map_err(|error| anyhow!("cannot write {}: {}", path.display(), ferrio_units::error_text(&error)))
}

fn csv(runs: &[StoredRun]) -> String {
    let mut text = format!("{HEADER}\n");
    for run in runs {
        let summary = &run.summary;
        let of_run = [
            run.number.to_string(),
            csv_field(run.name.as_deref().unwrap_or_default()),
            summary.began_ms.map(|began_ms| began_ms.to_string()).unwrap_or_default(),
            summary.duration_ns.to_string(),
            csv_field(&summary.host),
            csv_field(&summary.program),
            summary.verdict.word().to_owned(),
        ]
        .join(",");
        let of_figures = summary.figures.iter().map(|figures| format!("{of_run},{}\n", cells(figures).join(",")));
        text.extend(of_figures);
        if summary.figures.is_empty() {
            text.extend([of_run, ",".repeat(N_FIGURES), "\n".to_owned()]);
        }
    }
    text
}

fn cells(figures: &KeptFigures) -> [String; N_FIGURES] {
    let latency = |latency_ns: Option<u64>| latency_ns.map(|latency_ns| latency_ns.to_string()).unwrap_or_default();
    [
        csv_field(&figures.job),
        csv_field(&figures.direction),
        figures.n_ios.to_string(),
        figures.bytes.to_string(),
        decimal(figures.bytes_per_sec),
        decimal(figures.ios_per_sec),
        figures.mean_ns.map(decimal).unwrap_or_default(),
        latency(figures.p50_ns),
        latency(figures.p99_ns),
    ]
}

fn document(runs: &[StoredRun]) -> String {
    let runs: Vec<Value> = runs.iter().map(one).collect();
    let document = json!({ "version": ferrio::session::VERSION, "runs": runs });
    format!("{document:#}\n")
}

fn one(run: &StoredRun) -> Value {
    let summary = &run.summary;
    json!({
        "run": run.number,
        "name": run.name,
        "kept_ms": run.kept_ms,
        "began_ms": summary.began_ms,
        "duration_ns": summary.duration_ns,
        "host": summary.host,
        "program": summary.program,
        "jobs": summary.jobs,
        "targets": summary.targets,
        "command_line": summary.command_line,
        "findings": summary.verdict.word(),
        "figures": summary.figures,
        "form": run.form.word(),
        "imported_from": (!run.origin.is_empty()).then_some(&run.origin),
        "stored_bytes": run.stored_bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ferrio::history::{RunSummary, StoredForm};

    #[test]
    fn every_line_has_the_fields_of_the_header() {
        let figures = KeptFigures {
            job: "a,\"b\"".to_owned(),
            direction: "read".to_owned(),
            n_ios: 3,
            bytes: 4096,
            bytes_per_sec: 1.5,
            ios_per_sec: 2.0,
            mean_ns: Some(4.5),
            p50_ns: Some(4),
            p99_ns: None,
            is_p99_doubtful: false,
        };
        let run = |figures: Vec<KeptFigures>| StoredRun {
            number: 7,
            name: Some("n".to_owned()),
            kept_ms: 2,
            summary: RunSummary {
                began_ms: Some(1),
                duration_ns: 5,
                host: "h".to_owned(),
                figures,
                ..RunSummary::default()
            },
            form: StoredForm::Record,
            origin: String::new(),
            stored_bytes: 1,
        };
        let text = csv(&[run(vec![figures]), run(Vec::new())]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], HEADER);
        assert_eq!(lines[1], "7,n,1,5,h,,not examined,\"a,\"\"b\"\"\",read,3,4096,1.500,2.000,4.500,4,");
        assert_eq!(lines[2], "7,n,1,5,h,,not examined,,,,,,,,,");
        // The name of the job has a comma in quotes.
        let n_commas = HEADER.matches(',').count();
        assert_eq!([1, 2].map(|line: usize| lines[line].matches(',').count()), [n_commas + 1, n_commas]);
    }
}
