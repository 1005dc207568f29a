//! The output formats: their names, and their combinations.
//!
//! Must not know: how a format looks (`ferrio-formats`). Start reading at [`OUTPUT_FORMATS`], then [`OutputFormats`].

use std::collections::BTreeSet;

#[derive(Debug, Clone, Copy)]
pub struct OutputFormatDef {
    pub format: OutputFormat,
    pub name: &'static str,
    /// Its other names.
    pub aliases: &'static [&'static str],
    pub kind: FormatKind,
    /// Description in one line.
    pub help: &'static str,
}

/// Kind of a format's readers; several formats of a run are written in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FormatKind {
    /// Lines for programs, written during the run.
    Records,
    /// Lines for programs, possibly with other lines in between.
    Lines,
    /// A document for programs. Of several formats of this kind the last in the table has all that the others have, and is
    /// written alone.
    Document,
    Text,
}

/// Makes the enumeration and the tables from one row each: name, word, other words, kind, help.
macro_rules! output_formats {
    ($first:ident, $first_word:literal, $first_aliases:expr, $first_kind:ident, $first_help:literal;
     $($format:ident, $word:literal, $aliases:expr, $kind:ident, $help:literal;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum OutputFormat {
            #[doc = concat!("`", $first_word, "`.")]
            $first,
            $(#[doc = concat!("`", $word, "`.")] $format,)*
        }

        /// All formats, in the order of the enumeration.
        pub const OUTPUT_FORMATS: &[OutputFormatDef] = &[
            OutputFormatDef {
                format: OutputFormat::$first,
                name: $first_word,
                aliases: $first_aliases,
                kind: FormatKind::$first_kind,
                help: $first_help,
            },
            $(OutputFormatDef {
                format: OutputFormat::$format,
                name: $word,
                aliases: $aliases,
                kind: FormatKind::$kind,
                help: $help,
            },)*
        ];

        pub const OUTPUT_FORMAT_NAMES: &str = concat!($first_word $(, ", ", $word)*);
    };
}

output_formats! {
    Normal, "normal", &[], Text, "text for people";
    Terse, "terse", &["minimal", "csv"], Lines, "one line of fields between semicolons for each job";
    Json, "json", &[], Document, "one JSON document for each report";
    JsonPlus, "json+", &[], Document, "JSON with the histograms of latencies";
    Jsonl, "jsonl", &[], Records, "a line of JSON for each interval and job, while the run goes on (ferrio help jsonl)";
}

impl OutputFormat {
    /// Its row of the table.
    pub fn def(self) -> &'static OutputFormatDef {
        &OUTPUT_FORMATS[self as usize]
    }

    /// The format of a name or alias of the table.
    pub fn from_name(name: &str) -> Option<Self> {
        let is_named = |def: &&OutputFormatDef| def.name == name || def.aliases.contains(&name);
        OUTPUT_FORMATS.iter().find(is_named).map(|def| def.format)
    }
}

/// The formats that a run is reported in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutputFormats(BTreeSet<OutputFormat>);

impl Default for OutputFormats {
    fn default() -> Self {
        Self::from_iter([OutputFormat::Normal])
    }
}

impl FromIterator<OutputFormat> for OutputFormats {
    fn from_iter<T: IntoIterator<Item = OutputFormat>>(formats: T) -> Self {
        Self(formats.into_iter().collect())
    }
}

impl OutputFormats {
    pub fn add(&mut self, format: OutputFormat) {
        self.0.insert(format);
    }

    pub fn has(&self, kind: FormatKind) -> bool {
        self.0.iter().any(|format| format.def().kind == kind)
    }

    /// True if documents or records are written and text for people is not, so that no other text may be between them.
    pub fn has_documents_alone(&self) -> bool {
        (self.has(FormatKind::Document) || self.has(FormatKind::Records)) && !self.has(FormatKind::Text)
    }

    /// The formats that are written, in order.
    pub fn written(&self) -> Vec<OutputFormat> {
        let is_document = |format: &OutputFormat| format.def().kind == FormatKind::Document;
        let document = self.0.iter().copied().filter(is_document).max();
        let mut written: Vec<_> =
            self.0.iter().copied().filter(|format| !is_document(format)).chain(document).collect();
        written.sort_by_key(|format| format.def().kind);
        written
    }
}

#[cfg(test)]
mod tests {
    use super::OutputFormat::{Json, JsonPlus, Jsonl, Normal, Terse};
    use super::*;

    #[test]
    fn names_are_unique() {
        let names: Vec<&str> =
            OUTPUT_FORMATS.iter().flat_map(|def| def.aliases.iter().copied().chain([def.name])).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for name in names {
            assert!(OutputFormat::from_name(name).is_some());
        }
        assert_eq!(OutputFormat::from_name("xml"), None);
        assert_eq!(
            OUTPUT_FORMAT_NAMES.split(", ").collect::<Vec<_>>(),
            OUTPUT_FORMATS.iter().map(|def| def.name).collect::<Vec<_>>()
        );
    }

    // The order of the parts, and which part json+ takes the place of, are those of fio 3.41.
    #[test]
    fn several_formats_have_their_order() {
        let written = |formats: &[OutputFormat]| formats.iter().copied().collect::<OutputFormats>().written();
        assert_eq!(written(&[Normal, Json, Terse]), [Terse, Json, Normal]);
        assert_eq!(written(&[JsonPlus, Json, Normal, Jsonl]), [Jsonl, JsonPlus, Normal]);
        assert!(OUTPUT_FORMATS.iter().enumerate().all(|(index, def)| def.format as usize == index));
    }
}
