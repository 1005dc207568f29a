//! The table of the output formats. A new one is a file and a row here.
//!
//! Must not know: how a format looks. Start reading at [`FORMATS`].

use crate::terse::TerseVersion;
use crate::{LocalTime, json, normal, terse};
use ferrio_stats::RunResult;

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutputFormat {
    /// Records, a line each, while the run goes on.
    Jsonl,
    /// Fields between semicolons.
    Terse,
    /// JSON.
    Json,
    /// JSON with histograms.
    JsonPlus,
    /// For people.
    Normal,
}

/// What formats need beside the results.
#[derive(Debug, Clone)]
pub struct RenderOptions {
    /// Layout of terse output.
    pub terse_version: TerseVersion,
    /// Time zone of dates.
    pub zone: LocalTime,
}

impl Default for RenderOptions {
    fn default() -> Self {
        Self { terse_version: TerseVersion::default(), zone: LocalTime::system() }
    }
}

/// A row of [`FORMATS`].
#[derive(Debug, Clone, Copy)]
pub struct FormatDef {
    /// Which format.
    pub format: OutputFormat,
    /// Its name in `--output-format`.
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    /// What it is, in one line.
    pub help: &'static str,
    /// Turns results into text; empty for records, which are written while the run goes on.
    pub render: fn(&RunResult, &RenderOptions) -> String,
}

/// All formats, in the order in which several of them are written.
pub const FORMATS: [FormatDef; 5] = [
    FormatDef {
        format: OutputFormat::Jsonl,
        name: "jsonl",
        aliases: &[],
        help: "a line of JSON for each interval and job, while the run goes on (docs/jsonl.md)",
        render: |_, _| String::new(),
    },
    FormatDef {
        format: OutputFormat::Terse,
        name: "terse",
        aliases: &["minimal", "csv"],
        help: "one line of fields between semicolons for each job",
        render: |result, options| terse::render(result, options.terse_version),
    },
    FormatDef {
        format: OutputFormat::Json,
        name: "json",
        aliases: &[],
        help: "one JSON document for each report",
        render: |result, options| json::render_in(result, json::Detail::Plain, &options.zone),
    },
    FormatDef {
        format: OutputFormat::JsonPlus,
        name: "json+",
        aliases: &[],
        help: "JSON with the histograms of latencies",
        render: |result, options| json::render_in(result, json::Detail::WithBins, &options.zone),
    },
    FormatDef {
        format: OutputFormat::Normal,
        name: "normal",
        aliases: &[],
        help: "text for people",
        render: |result, options| normal::render_in(result, &options.zone),
    },
];

impl OutputFormat {
    /// The format of a name or alias of [`FORMATS`].
    pub fn from_name(name: &str) -> Option<Self> {
        let is_named = |definition: &&FormatDef| definition.name == name || definition.aliases.contains(&name);
        FORMATS.iter().find(is_named).map(|definition| definition.format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique() {
        let names: Vec<&str> =
            FORMATS.iter().flat_map(|definition| definition.aliases.iter().copied().chain([definition.name])).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for name in names {
            assert!(OutputFormat::from_name(name).is_some());
        }
        assert_eq!(OutputFormat::from_name("xml"), None);
    }

    #[test]
    fn rows_are_in_the_order_of_the_enum() {
        assert!(FORMATS.windows(2).all(|pair| pair[0].format < pair[1].format));
    }
}
