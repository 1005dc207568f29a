//! Reports in the formats that were asked for, final ones and those on demand.
//!
//! Must not know: streams, how a format looks. Start reading at [`Reporter::report`].

use crate::ui::console::Console;
use ferrio_formats::clients::{self, ServedRun};
use ferrio_formats::terse::TerseVersion;
use ferrio_formats::{LocalTime, RenderOptions, fio_view, jsonl};
use ferrio_job::invocation::OutputSettings;
use ferrio_spec::{FormatKind, OutputFormats};
use ferrio_stats::RunRecord;
use std::borrow::Cow;

/// Turns records into text and hands it to the console.
pub(crate) struct Reporter {
    formats: OutputFormats,
    options: RenderOptions,
    /// Reports leave out what they tell about the machine.
    is_anonymous: bool,
}

impl Reporter {
    pub(crate) fn new(output: &OutputSettings) -> Self {
        let terse_version = TerseVersion::from_number(u32::from(output.terse_version)).unwrap_or_default();
        Self { is_anonymous: output.is_anonymous, ..Self::of_formats(output.formats.clone(), terse_version) }
    }

    pub(crate) fn of_formats(formats: OutputFormats, terse_version: TerseVersion) -> Self {
        let options = RenderOptions { terse_version, zone: LocalTime::system() };
        Self { formats, options, is_anonymous: false }
    }

    /// Text for people is written.
    pub(crate) fn writes_normal(&self) -> bool {
        self.formats.has(FormatKind::Text)
    }

    pub(crate) fn writes_records(&self) -> bool {
        self.formats.has(FormatKind::Records)
    }

    pub(crate) fn writes_json(&self) -> bool {
        self.formats.has(FormatKind::Document)
    }

    /// Writes a report in one piece. It carries the messages that were collected so far.
    pub(crate) fn report(&self, console: &mut Console, record: &RunRecord) {
        let mut record = Cow::Borrowed(record);
        let mut messages = console.messages().map_or_else(Cow::default, Cow::Borrowed);
        if self.is_anonymous {
            let masked = record.to_mut();
            masked.messages = messages.into_owned();
            masked.make_anonymous();
            messages = Cow::Owned(masked.messages.clone());
        }
        let mut view = fio_view(&record);
        view.messages = messages;
        let text = ferrio_formats::render(&view, &self.formats, &self.options);
        console.report(&text);
    }

    /// Writes the reports of servers, and of all of them together.
    pub(crate) fn report_served(&self, console: &mut Console, served: &[ServedRun<'_>], all: &RunRecord) {
        let mut together = fio_view(all);
        together.messages = console.messages().map_or_else(Cow::default, Cow::Borrowed);
        let text = clients::render(served, &together, &self.formats, &self.options);
        console.report(&text);
    }

    /// Writes the report of a server whose jobs still run, for people.
    pub(crate) fn report_status(&self, console: &mut Console, served: &ServedRun<'_>) {
        console.report(&clients::status_text(served, &self.options));
    }

    /// Writes the reports of an earlier run again, from its record.
    pub(crate) fn show_again(&self, console: &mut Console, record: &RunRecord) {
        let mut view = fio_view(record);
        if !self.formats.has_documents_alone() {
            // In that run these messages went to a stream of their own.
            view.messages = Cow::default();
        }
        let lines = if self.writes_records() { jsonl::render(record) } else { String::new() };
        console.report(&(lines + &ferrio_formats::render(&view, &self.formats, &self.options)));
    }
}
