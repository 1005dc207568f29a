//! Reports in the formats that were asked for, final ones and those on demand.
//!
//! Must not know: streams, how a format looks. Start reading at [`Reporter::report`].

use crate::console::Console;
use ferrio_job::invocation::{Formats, OutputSettings};
use ferrio_report::terse::TerseVersion;
use ferrio_report::{LocalTime, OutputFormat, RenderOptions, combined};
use ferrio_stats::RunResult;
use std::collections::BTreeSet;

/// Turns results into text and hands it to the console.
pub(crate) struct Reporter {
    formats: BTreeSet<OutputFormat>,
    options: RenderOptions,
}

impl Reporter {
    pub(crate) fn new(output: &OutputSettings) -> Self {
        let terse_version = TerseVersion::from_number(u32::from(output.terse_version)).unwrap_or_default();
        Self {
            formats: formats_of(output.formats),
            options: RenderOptions { terse_version, zone: LocalTime::system() },
        }
    }

    /// Text for people is written.
    pub(crate) fn writes_normal(&self) -> bool {
        self.formats.contains(&OutputFormat::Normal)
    }

    /// Records are written.
    pub(crate) fn writes_records(&self) -> bool {
        self.formats.contains(&OutputFormat::Jsonl)
    }

    /// JSON documents are written.
    pub(crate) fn writes_json(&self) -> bool {
        self.formats.contains(&OutputFormat::Json) || self.formats.contains(&OutputFormat::JsonPlus)
    }

    /// Writes a report in one piece. It carries the messages that were collected so far.
    pub(crate) fn report(&self, console: &mut Console, result: &RunResult) {
        let text = match console.messages().filter(|messages| !messages.is_empty()) {
            None => combined::render(result, &self.formats, &self.options),
            Some(messages) => {
                let result = RunResult { messages: messages.clone(), ..result.clone() };
                combined::render(&result, &self.formats, &self.options)
            }
        };
        console.report(&text);
    }
}

fn formats_of(formats: Formats) -> BTreeSet<OutputFormat> {
    let Formats { normal, terse, json, json_plus, jsonl } = formats;
    let wanted = [
        (normal, OutputFormat::Normal),
        (terse, OutputFormat::Terse),
        (json, OutputFormat::Json),
        (json_plus, OutputFormat::JsonPlus),
        (jsonl, OutputFormat::Jsonl),
    ];
    wanted.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, format)| format).collect()
}
