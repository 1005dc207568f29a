//! JSON (`--output-format=json`, and `json+` with the histograms).
//!
//! Must not know: threads, engines, other formats. Start reading at [`render`]; the other files of the folder are parts
//! of the document, and `writer` defines the layout.

mod block_states;
mod direction;
mod disk;
mod ferrio;
pub(crate) mod form;
mod idleness;
mod job;
mod latency;
mod probes;
pub(crate) mod reader;
mod response;
mod served;
mod servers;
mod steady_state;
mod total;
mod writer;

pub(crate) use served::{ServedParts, render_served};
pub use steady_state::steady_texts;

use crate::LocalTime;
use crate::view::FioView;
use writer::JsonWriter;

/// Contents of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Detail {
    /// Percentiles only.
    Plain,
    /// Percentiles and histograms (`json+`).
    WithBins,
}

/// One document, in the system's time zone, with a newline at its end.
pub fn render(result: &FioView<'_>, detail: Detail) -> String {
    render_in(result, detail, &LocalTime::system())
}

/// One document with dates of a given zone.
pub fn render_in(result: &FioView<'_>, detail: Detail, zone: &LocalTime) -> String {
    JsonWriter::document(|writer| {
        writer.string("fio version", &result.record.version);
        writer.integer("timestamp", result.record.timestamp_ms / 1000);
        writer.integer("timestamp_ms", result.record.timestamp_ms);
        writer.string("time", &zone.ctime(result.record.timestamp_ms));
        options(writer, "global options", &result.record.global_options);
        writer.array("jobs", |writer| {
            for job in &result.jobs {
                writer.element(|writer| job::write(writer, result, job, job::JobPlace::Here, detail));
            }
        });
        disk::write(writer, result.disks.as_deref().unwrap_or_default());
        if let Some(idleness) = result.record.idleness() {
            idleness::write(writer, idleness);
        }
        ferrio::write(writer, result, detail);
    })
}

/// Writes options as they were given, and no key if there are none. An option given twice has its key twice.
fn options(writer: &mut JsonWriter, key: &str, given: &[(String, String)]) {
    if given.is_empty() {
        return;
    }
    writer.object(key, |writer| pairs(writer, given));
}

fn pairs(writer: &mut JsonWriter, given: &[(String, String)]) {
    for (name, value) in given {
        writer.string(name, value);
    }
}
