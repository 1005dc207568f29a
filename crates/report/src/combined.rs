//! Several formats in one run.
//!
//! Must not know: how a format looks. Start reading at [`render`].

use crate::{FORMATS, OutputFormat, RenderOptions};
use ferrio_stats::RunResult;
use std::collections::BTreeSet;

/// The report in all wanted formats: terse, then JSON, then the one for people, whatever the order they were asked for.
/// `json+` replaces `json`.
pub fn render(result: &RunResult, wanted: &BTreeSet<OutputFormat>, options: &RenderOptions) -> String {
    let is_shown = |format: OutputFormat| {
        let replaced = format == OutputFormat::Json && wanted.contains(&OutputFormat::JsonPlus);
        wanted.contains(&format) && !replaced
    };
    let shown = FORMATS.iter().filter(|definition| is_shown(definition.format));
    shown.map(|definition| (definition.render)(result, options)).collect()
}
