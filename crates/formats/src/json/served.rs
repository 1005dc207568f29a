//! The document of the servers of `--client`: `client_stats` in place of `jobs`.
//!
//! Must not know: how servers are reached, how their jobs are summed. Start reading at [`render_served`].

use super::writer::JsonWriter;
use super::{Detail, disk, ferrio, job, pairs};
use crate::LocalTime;
use crate::clients::ServedRun;
use crate::view::FioView;

/// The parts of the document.
pub(crate) struct ServedParts<'a> {
    pub(crate) served: &'a [ServedRun<'a>],
    /// One for each server.
    pub(crate) views: &'a [FioView<'a>],
    /// The sum of their jobs.
    pub(crate) sum: Option<&'a FioView<'a>>,
    /// All of them as one run, for its findings and messages.
    pub(crate) together: &'a FioView<'a>,
}

/// One document with dates of a given zone.
pub(crate) fn render_served(parts: &ServedParts<'_>, detail: Detail, zone: &LocalTime) -> String {
    let record = &parts.together.record;
    JsonWriter::document(|writer| {
        writer.string("fio version", &record.version);
        writer.integer("timestamp", record.timestamp_ms / 1000);
        writer.string("time", &zone.ctime(record.timestamp_ms));
        global_options(writer, parts.served);
        writer.array("client_stats", |writer| {
            for (run, view) in parts.served.iter().zip(parts.views) {
                for block in &view.jobs {
                    writer.element(|writer| {
                        job::write(writer, view, block, job::JobPlace::Server, detail);
                        place(writer, run);
                    });
                }
            }
            let sum = parts.sum.zip(parts.served.last());
            for (view, run, block) in
                sum.iter().flat_map(|(view, run)| view.jobs.iter().map(move |job| (view, run, job)))
            {
                writer.element(|writer| {
                    job::write(writer, view, block, job::JobPlace::Server, detail);
                    place(writer, run);
                });
            }
        });
        writer.array("disk_util", |writer| {
            for (run, view) in parts.served.iter().zip(parts.views) {
                for device in view.disks.as_deref().unwrap_or_default() {
                    writer.element(|writer| {
                        disk::write_one(writer, device);
                        place(writer, run);
                    });
                }
            }
        });
        ferrio::write(writer, parts.together, detail);
    })
}

/// The host as it was written, and the port.
fn place(writer: &mut JsonWriter, run: &ServedRun<'_>) {
    writer.string("hostname", &run.address_host);
    writer.integer("port", run.port);
}

/// One server: an object, empty without options. Several: an element for each that has some.
fn global_options(writer: &mut JsonWriter, served: &[ServedRun<'_>]) {
    const KEY: &str = "global options";
    if let [only] = served {
        writer.object(KEY, |writer| pairs(writer, &only.record.global_options));
        return;
    }
    writer.array(KEY, |writer| {
        for run in served.iter().filter(|run| !run.record.global_options.is_empty()) {
            writer.element(|writer| {
                place(writer, run);
                pairs(writer, &run.record.global_options);
            });
        }
    });
}
