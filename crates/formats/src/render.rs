//! The writers of all output formats. A new format is a file and a line here, and a row of `OUTPUT_FORMATS` in
//! `ferrio-spec`.
//!
//! Must not know: how a format looks. Start reading at [`render`].

use crate::terse::TerseVersion;
use crate::view::FioView;
use crate::{LocalTime, json, normal, terse};
use ferrio_spec::{OutputFormat, OutputFormats};

/// Settings for formats, beside the results.
#[derive(Debug, Clone)]
pub struct RenderOptions {
    /// Layout of terse output.
    pub terse_version: TerseVersion,
    pub zone: LocalTime,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self { terse_version: TerseVersion::default(), zone: LocalTime::system() }
    }
}

/// The report in all requested formats.
pub fn render(view: &FioView<'_>, formats: &OutputFormats, options: &RenderOptions) -> String {
    formats.written().into_iter().map(|format| render_one(view, format, options)).collect()
}

fn render_one(view: &FioView<'_>, format: OutputFormat, options: &RenderOptions) -> String {
    match format {
        OutputFormat::Normal => normal::render_in(view, &options.zone),
        OutputFormat::Terse => terse::render(view, options.terse_version),
        OutputFormat::Json => json::render_in(view, json::Detail::Plain, &options.zone),
        OutputFormat::JsonPlus => json::render_in(view, json::Detail::WithBins, &options.zone),
        // Records were written during the run.
        OutputFormat::Jsonl => String::new(),
    }
}
