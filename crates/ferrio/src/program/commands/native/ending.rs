//! The end of a run of a native command, on one host or many: its report, and the files and the history that have it.
//!
//! Must not know: how runs are made. Start reading at [`Ending::show`].

use crate::shared::audited_text::report_text;
use crate::shared::hosts_report;
use crate::shared::keeping::Keeping;
use crate::shared::records::EventLog;
use crate::ui::console::Console;
use crate::ui::csv_table::csv_table;
use crate::ui::exit;
use crate::ui::reporter::Reporter;
use anyhow::anyhow;
use ferrio::live::frame::FinalReports;
use ferrio::session::{SessionOutcome, VERSION};
use ferrio_formats::jsonl;
use ferrio_formats::native::{drawn_runtimes, headlines, note_text, totals};
use ferrio_formats::record_file;
use ferrio_stats::{Audit, RunRecord};
use ferrio_sys::output::{AtomicFile, ProtectedPaths};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// How a run is reported.
pub(super) struct ShownAs {
    pub(super) form: ReportForm,
    pub(super) is_debug: bool,
    pub(super) is_anonymous: bool,
    pub(super) started_at: Instant,
}

/// The form of a report in one piece.
pub(super) enum ReportForm {
    /// A table and findings, for people.
    Text,
    /// ferrio's own document.
    Json,
    /// A table with commas.
    Csv,
    /// In formats of fio.
    Fio(Reporter),
}

impl ReportForm {
    pub(super) fn of(json: bool, csv: bool) -> Self {
        match (json, csv) {
            (true, _) => Self::Json,
            (false, true) => Self::Csv,
            (false, false) => Self::Text,
        }
    }
}

/// What is to be done with the outcome of a run.
pub(super) struct Ending {
    pub(super) shown: ShownAs,
    /// The first signal that wanted the end of the run.
    pub(super) signal: Option<i32>,
    pub(super) files: OpenFiles,
    pub(super) keeping: Option<Keeping>,
    /// The lines of jsonl.
    pub(super) course: Option<EventLog>,
}

impl Ending {
    /// Reports a run that is over: as the last lines of jsonl, or in one piece. Returns the exit code, and the reports if they are wanted
    /// elsewhere.
    pub(super) fn show(
        self,
        mut outcome: SessionOutcome,
        wants_reports: bool,
        console: &mut Console,
    ) -> (u8, Option<FinalReports>) {
        let Self { shown, signal, files, keeping, course } = self;
        if let Some(error) = outcome.not_remembered.as_ref().filter(|_| shown.is_debug) {
            console.trace(&format!("the run is not remembered: {error}\n"));
        }
        if let Some(messages) = console.messages() {
            messages.clone_into(&mut outcome.run.record.messages);
        }
        if shown.is_anonymous {
            outcome.run.record.make_anonymous();
        }
        let OpenFiles { page, record: record_file } = files;
        let record = &outcome.run.record;
        let mut told = Vec::new();
        match course {
            Some(mut course) => {
                console.report(&jsonl::audit(record.audit.as_ref().unwrap_or(&Audit::default())));
                let exit = exit::exit_number(&outcome, signal, console);
                course.end(console, exit, signal, shown.started_at.elapsed());
                told = course.told;
            }
            None => show_in_one_piece(&shown.form, record, console),
        }
        let is_wanted = wants_reports || page.is_some();
        let html = is_wanted.then(|| ferrio_pictures::page::page(&[ferrio_formats::of_record(record)]));
        if let (Some(page), Some(html)) = (page, &html) {
            page.write(html.as_bytes(), console);
        }
        if let Some(keeping) = &keeping {
            keeping.keep(record, console);
        }
        let reports = html.filter(|_| wants_reports).map(|page| FinalReports { document: document(record), page });
        if let Some(file) = record_file {
            let stored = &mut outcome.run.record;
            console.all_messages().clone_into(&mut stored.messages);
            stored.course = told;
            file.write(&record_file::encode(stored), console);
        }
        (exit::exit_number(&outcome, signal, console), reports)
    }
}

/// A file for the end of the run, which is open before it.
struct OpenFile {
    program: &'static str,
    /// What it shall have, for messages.
    content: &'static str,
    path: PathBuf,
    file: AtomicFile,
}

impl OpenFile {
    /// One for the option that was given, if it was.
    fn create(
        program: &'static str,
        content: &'static str,
        path: Option<PathBuf>,
        kept: &Arc<ProtectedPaths>,
    ) -> anyhow::Result<Option<Self>> {
        let Some(path) = path else { return Ok(None) };
        match AtomicFile::create(&path, kept) {
            Ok(file) => Ok(Some(Self { program, content, path, file })),
            Err(error) => Err(anyhow!(Self::error(content, &path, &error))),
        }
    }

    fn write(self, bytes: &[u8], console: &mut Console) {
        if let Err(error) = self.file.write(bytes) {
            console.error(&format!("{}: {}\n", self.program, Self::error(self.content, &self.path, &error)));
            console.has_failed = true;
        }
    }

    fn error(content: &str, path: &Path, error: &std::io::Error) -> String {
        format!("cannot write the {content} {}: {}", path.display(), ferrio_units::error_text(error))
    }
}

/// The files of `--html` and `--record`.
pub(super) struct OpenFiles {
    page: Option<OpenFile>,
    record: Option<OpenFile>,
}

impl OpenFiles {
    pub(super) fn create(
        program: &'static str,
        page: Option<PathBuf>,
        record: Option<PathBuf>,
        kept: &Arc<ProtectedPaths>,
    ) -> anyhow::Result<Self> {
        let page = OpenFile::create(program, "page", page, kept)?;
        Ok(Self { page, record: OpenFile::create(program, "record", record, kept)? })
    }

    /// A record is wanted.
    pub(super) fn has_record(&self) -> bool {
        self.record.is_some()
    }
}

fn show_in_one_piece(form: &ReportForm, record: &RunRecord, console: &mut Console) {
    match form {
        ReportForm::Text => console.report(&report_text(record)),
        ReportForm::Json => console.report(&document(record)),
        ReportForm::Csv => console.report(&csv_table(&[ferrio_formats::of_record(record)])),
        ReportForm::Fio(reporter) => reporter.report(console, record),
    }
}

/// The report as JSON.
fn document(record: &RunRecord) -> String {
    let messages: Vec<String> =
        record.messages.kept().iter().map(|message| note_text(&message.note).trim().to_owned()).collect();
    let mut document = json!({
        "version": VERSION,
        "timestamp_ms": record.timestamp_ms,
        "elapsed_ns": record.elapsed_ns,
        "global_options": record.global_options,
        "jobs": headlines(record),
        "findings": record.audit.as_ref().map(|audit| &audit.findings),
        "unexamined": record.audit.as_ref().map(|audit| &audit.unexamined),
        "accounts": record.audit.as_ref().and_then(|audit| audit.accounts.as_ref()),
        "n_rules": record.audit.as_ref().map(|audit| audit.n_rules),
        "provenance": record.provenance.as_ref().map(|provenance| provenance.to_document()),
        "messages": messages,
    });
    let (totals, runtimes) = (totals(record), drawn_runtimes(record));
    if !totals.is_empty() {
        document["total"] = json!(totals);
    }
    if !runtimes.is_empty() {
        document["drawn_runtimes"] = json!(runtimes);
    }
    if !record.hosts().is_empty() {
        document["fleet"] = json!(hosts_report::together_document(record));
        document["hosts"] = json!(hosts_report::documents(record));
    }
    format!("{document:#}\n")
}
