//! `ferrio history show`.
//!
//! Must not know: how runs are stored. Start reading at [`show`].

use crate::shared::audited_text::report_text;
use crate::shared::examined;
use crate::shared::inputs;
use crate::shared::keeping::{found, opened};
use crate::ui::console::Console;
use anyhow::anyhow;
use clap::Args;
use ferrio::history::{StoredForm, StoredRun};
use ferrio_formats::LocalTime;
use ferrio_formats::native::{TEXT_WIDTH, wrap};
use ferrio_formats::record_file;
use ferrio_stats::RunRecord;
use ferrio_units::humanize::duration_text;
use ferrio_units::terminal_text::escape_name;
use std::fmt::Write as _;

/// What is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub(super) struct ShowRequest {
    /// The run: its number, its name, last, last-1, ...
    #[arg(value_name = "RUN", default_value = "last")]
    run: String,
}

/// Shows one run.
///
/// # Errors
/// In words: there is no such run, or it cannot be read.
pub(super) fn show(request: &ShowRequest, console: &mut Console) -> anyhow::Result<()> {
    let history = opened()?;
    let run = found(&history, &request.run)?;
    let content = history.content(run.number)?;
    let record = record(&run, content)?;
    console.report(&format!("{}\n{}", heading(&run), report_text(&record)));
    Ok(())
}

/// The record of a kept run with its audit; of an imported report as far as that tells it.
fn record(run: &StoredRun, content: Vec<u8>) -> anyhow::Result<RunRecord> {
    if run.form == StoredForm::Record {
        let mut record = record_file::decode(&content).map_err(|error| anyhow!("run {}: {error}", run.number))?;
        if record.audit.is_none() {
            ferrio::session::audit(&mut record);
        }
        return Ok(record);
    }
    let results = ferrio_formats::read_files(&[inputs::file_of(run, content)])?;
    let result = results.first().ok_or_else(|| anyhow!("run {}: it has no result", run.number))?;
    Ok(examined::record_of(result))
}

/// What is known of the run beside its figures.
fn heading(run: &StoredRun) -> String {
    let (summary, zone) = (&run.summary, LocalTime::system());
    let name = run.name.as_deref().map(|name| format!(", {}", escape_name(name))).unwrap_or_default();
    let mut text = format!("Run {}{name}\n", run.number);
    let began = summary
        .began_ms
        .map(|began_ms| format!("{} for {}", zone.minute(began_ms), duration_text(summary.duration_ns as f64)));
    let imported = format!("{} on {}", run.origin, zone.minute(run.kept_ms));
    let lines = [
        ("began", began.unwrap_or_default()),
        ("imported", if run.origin.is_empty() { String::new() } else { imported }),
        ("host", summary.host.clone()),
        ("program", summary.program.clone()),
        ("targets", summary.targets.join(", ")),
        ("command", summary.command_line.join(" ")),
    ];
    for (what, value) in lines.iter().filter(|(_, value)| !value.is_empty()) {
        let line = wrap(&escape_name(value), &format!("  {what:<8}  "), TEXT_WIDTH);
        // A string takes everything.
        let _ = write!(text, "{line}");
    }
    text
}
