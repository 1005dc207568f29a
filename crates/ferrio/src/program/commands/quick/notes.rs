//! Remarks about a run of `ferrio quick` itself: its file, its engine, and what it could not check. What speaks against a figure is a
//! finding, which the rules of `ferrio_insight` make from the record of each test.
//!
//! Must not know: how figures came about, how remarks are laid out. Start reading at [`find`].

use super::conditions::Conditions;
use super::test_figures::TestFigures;
use ferrio_insight::FEW_SAMPLES;
use ferrio_stats::Finding;
use ferrio_units::humanize::bytes_text;
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::PathBuf;

/// A file below this size may fit into the device's cache.
const SMALL_FILE_BYTES: u64 = 1 << 30;

pub(super) use ferrio_formats::native::DOUBT_MARK;

/// Explanation of the mark.
pub(super) const DOUBT_LEGEND: &str =
    "Fewer than 10 I/Os took longer than this, so take it as a hint; a larger --seconds helps.";

/// Something that the user should know about the run.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum QuickNote {
    /// The file system refuses direct I/O.
    Buffered {
        file_system: String,
    },
    /// No disk is known, so nothing can be checked.
    Unchecked {
        file_system: String,
    },
    NoIo {
        test: &'static str,
    },
    /// The file is smaller than planned.
    Cut {
        bytes: u64,
    },
    Small {
        bytes: u64,
    },
    /// A better engine was not to be had.
    Engine {
        taken: &'static str,
        refusals: Vec<String>,
    },
    /// Files of earlier runs were found.
    Leftovers {
        paths: Vec<PathBuf>,
    },
}

/// All remarks, those first that weigh most.
pub(super) fn find(conditions: &Conditions, tests: &[TestFigures], leftovers: Vec<PathBuf>) -> Vec<QuickNote> {
    let mut notes = Vec::new();
    notes.extend(about_evidence(conditions));
    notes.extend(tests.iter().filter(|test| test.n_ios == 0).map(|test| QuickNote::NoIo { test: test.name }));
    notes.extend(about_size(conditions));
    if !conditions.engine_refusals.is_empty() {
        notes.push(QuickNote::Engine { taken: conditions.engine, refusals: conditions.engine_refusals.clone() });
    }
    if !leftovers.is_empty() {
        notes.push(QuickNote::Leftovers { paths: leftovers });
    }
    notes
}

fn about_evidence(conditions: &Conditions) -> Option<QuickNote> {
    let file_system = conditions.file_system.clone();
    match () {
        () if conditions.is_memory => None,
        () if !conditions.is_direct => Some(QuickNote::Buffered { file_system }),
        () => conditions.device.is_none().then_some(QuickNote::Unchecked { file_system }),
    }
}

fn about_size(conditions: &Conditions) -> Option<QuickNote> {
    let bytes = conditions.file_bytes;
    if conditions.is_cut {
        return Some(QuickNote::Cut { bytes });
    }
    (bytes < SMALL_FILE_BYTES && !conditions.is_memory).then_some(QuickNote::Small { bytes })
}

/// The findings of all tests as sentences, the worst first: those of one rule are one sentence, with the explanation for the first of
/// its tests.
pub(super) fn sentences(findings: &[Finding]) -> Vec<String> {
    let mut rules: Vec<(&Finding, Vec<&str>)> = Vec::new();
    // The mark in the table says the same.
    for finding in findings.iter().filter(|finding| finding.id != FEW_SAMPLES.id) {
        let tests = finding.jobs.iter().map(String::as_str);
        match rules.iter_mut().find(|(first, _)| first.id == finding.id) {
            Some((_, all)) => all.extend(tests),
            None => rules.push((finding, tests.collect())),
        }
    }
    rules.sort_by_key(|(first, _)| first.severity);
    let sentence = |(first, tests): (&Finding, Vec<&str>)| {
        let word = first.severity.word().to_uppercase();
        let explained = if tests.len() > 1 { format!("{}: ", tests[0]) } else { String::new() };
        let of_tests = if tests.is_empty() { String::new() } else { format!(" ({})", tests.join(", ")) };
        format!("{word}: {}{of_tests}. {explained}{} [{}]", first.title, first.explanation, first.id)
    };
    rules.into_iter().map(sentence).collect()
}

impl fmt::Display for QuickNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffered { file_system } => {
                write!(f, "{file_system} takes no direct I/O here, so all I/O goes through the page cache.")
            }
            Self::Unchecked { file_system } => write!(
                f,
                "No disk is known under {file_system}: whether a cache answered (of a server, a host, or the file \
                 system's own) cannot be checked."
            ),
            Self::NoIo { test } => write!(f, "{test}: not one I/O completed in time. Try a larger --seconds."),
            Self::Cut { bytes } => {
                write!(
                    f,
                    "The file has only {}: writing more would have taken too long. --size=... forces a size.",
                    bytes_text(*bytes)
                )
            }
            Self::Small { bytes } => {
                write!(f, "The file has only {}: a cache inside the device may hold all of it.", bytes_text(*bytes))
            }
            Self::Engine { taken, refusals } => {
                write!(f, "Engine {taken} was taken because others are not available: {}.", refusals.join("; "))
            }
            Self::Leftovers { paths } => {
                let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
                write!(
                    f,
                    "Left behind by a run that was killed (remove it), or in use by one that goes on (then the \
                     figures are wrong): {}",
                    paths.join(", ")
                )
            }
        }
    }
}

/// In JSON a note is its sentence.
impl Serialize for QuickNote {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::conditions::tests::on_disk;
    use super::super::test_figures::tests::plain;
    use super::*;
    use ferrio_stats::Severity;

    fn notes_of(conditions: &Conditions, test: TestFigures) -> Vec<QuickNote> {
        find(conditions, &[test], vec![])
    }

    #[test]
    fn nothing_to_note() {
        assert_eq!(notes_of(&on_disk(), plain("test")), []);
        let none = TestFigures { n_ios: 0, bytes: 0, ..plain("test") };
        assert_eq!(notes_of(&on_disk(), none), [QuickNote::NoIo { test: "test" }]);
    }

    #[test]
    fn a_file_system_without_direct_io_is_named() {
        let mut conditions = Conditions { is_direct: false, file_bytes: 1 << 24, ..on_disk() };
        let file_system = "ext4".to_owned();
        assert_eq!(
            notes_of(&conditions, plain("test")),
            [QuickNote::Buffered { file_system }, QuickNote::Small { bytes: 1 << 24 }]
        );
        // A rule speaks about these.
        conditions.is_memory = true;
        assert_eq!(notes_of(&conditions, plain("test")), []);
    }

    #[test]
    fn findings_of_one_rule_are_one_sentence() {
        let finding = |id: &str, severity, test: &str| Finding {
            hosts: Vec::new(),
            id: id.to_owned(),
            title: format!("Title of {id}"),
            severity,
            jobs: vec![test.to_owned()],
            direction: None,
            evidence: vec![],
            explanation: format!("Measured in {test}."),
            cure: "Do it.".to_owned(),
            page: String::new(),
        };
        let findings = [
            finding("deep", Severity::Misleading, "one"),
            finding("few-samples", Severity::Note, "one"),
            finding("deep", Severity::Misleading, "two"),
            finding("cached", Severity::Wrong, "two"),
        ];
        assert_eq!(
            sentences(&findings),
            [
                "WRONG: Title of cached (two). Measured in two. [cached]",
                "MISLEADING: Title of deep (one, two). one: Measured in one. [deep]"
            ]
        );
    }

    #[test]
    fn file_engine_and_leftovers() {
        let conditions = Conditions {
            is_cut: true,
            device: None,
            engine: "libaio",
            engine_refusals: vec!["io_uring: no".to_owned()],
            ..on_disk()
        };
        let notes = find(&conditions, &[], vec![PathBuf::from("/data/.ferrio-quick-1.tmp")]);
        let texts: Vec<String> = notes.iter().map(QuickNote::to_string).collect();
        assert_eq!(texts.len(), 4, "{texts:?}");
        let beginnings =
            ["No disk is known under ext4", "The file has only 4 GiB", "Engine libaio was taken", "Left behind"];
        for (text, beginning) in texts.iter().zip(beginnings) {
            assert!(text.starts_with(beginning), "{text}");
        }
        assert!(texts[2].ends_with("io_uring: no.") && texts[3].ends_with("/data/.ferrio-quick-1.tmp"));
    }
}
