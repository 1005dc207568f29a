//! Reasons to doubt a figure, in a sentence each.
//!
//! Must not know: how figures came about, how notes are laid out. Start reading at [`find`].

use super::conditions::Conditions;
use super::figures::TestFigures;
use ferrio_units::glance::{bytes_text, three_digits};
use serde::{Serialize, Serializer};
use std::fmt;
use std::path::PathBuf;

/// A mean depth below this share of the wanted one is worth a note.
const DEPTH_SHARE: f64 = 0.75;
/// If the disk moved less than this share of a direct test's bytes, a cache served some of them.
const DEVICE_SHARE: f64 = 0.9;
/// A file below this size may fit into the device's cache.
const SMALL_FILE_BYTES: u64 = 1 << 30;

pub(super) use ferrio_report::native::DOUBT_MARK;

/// A reason for doubt, or something that the user should know.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum QuickNote {
    /// The file system is in memory.
    InMemory { file_system: String },
    /// The file system refuses direct I/O.
    Buffered { file_system: String },
    /// The disk did less than the test says.
    CacheAnswered { test: &'static str, moved_bytes: u64, device_bytes: u64 },
    /// The disk is a file behind the page cache.
    Loop { device: String },
    /// No disk is known, so nothing can be checked.
    Unchecked { file_system: String },
    /// A test has no I/O.
    NoIo { test: &'static str },
    /// Marked percentiles rest on few I/Os.
    FewSamples { tests: Vec<(&'static str, u64)> },
    /// Fewer I/Os were in flight than wanted.
    DepthNotReached { test: &'static str, wanted: u32, mean: f64 },
    /// The file is smaller than planned.
    Cut { bytes: u64 },
    /// The file is small.
    Small { bytes: u64 },
    /// A better engine was not to be had.
    Engine { taken: &'static str, refusals: Vec<String> },
    /// Files of earlier runs were found.
    Leftovers { paths: Vec<PathBuf> },
}

/// All notes, those first that weigh most.
pub(super) fn find(conditions: &Conditions, tests: &[TestFigures], leftovers: Vec<PathBuf>) -> Vec<QuickNote> {
    let mut notes = Vec::new();
    notes.extend(about_cache(conditions, tests));
    notes.extend(tests.iter().filter(|test| test.n_ios == 0).map(|test| QuickNote::NoIo { test: test.name }));
    let is_doubtful = |test: &&TestFigures| test.n_ios > 0 && test.latencies.iter().any(|latency| latency.is_doubtful);
    let few: Vec<_> = tests.iter().filter(is_doubtful).map(|test| (test.name, test.n_ios)).collect();
    if !few.is_empty() {
        notes.push(QuickNote::FewSamples { tests: few });
    }
    notes.extend(tests.iter().filter_map(|test| about_depth(conditions, test)));
    notes.extend(about_size(conditions));
    if !conditions.engine_refusals.is_empty() {
        notes.push(QuickNote::Engine { taken: conditions.engine, refusals: conditions.engine_refusals.clone() });
    }
    if !leftovers.is_empty() {
        notes.push(QuickNote::Leftovers { paths: leftovers });
    }
    notes
}

fn about_cache(conditions: &Conditions, tests: &[TestFigures]) -> Vec<QuickNote> {
    let file_system = conditions.file_system.clone();
    if conditions.is_memory {
        return vec![QuickNote::InMemory { file_system }];
    }
    if !conditions.is_direct {
        return vec![QuickNote::Buffered { file_system }];
    }
    let Some(device) = &conditions.device else { return vec![QuickNote::Unchecked { file_system }] };
    if device.is_cached {
        return vec![QuickNote::Loop { device: device.name.clone() }];
    }
    let contradiction = |test: &TestFigures| {
        let device_bytes = test.device_bytes?;
        let is_less = (device_bytes as f64) < test.bytes as f64 * DEVICE_SHARE;
        is_less.then_some(QuickNote::CacheAnswered { test: test.name, moved_bytes: test.bytes, device_bytes })
    };
    tests.iter().filter_map(contradiction).collect()
}

/// Buffered I/O is done when it is issued: there a low depth says nothing.
fn about_depth(conditions: &Conditions, test: &TestFigures) -> Option<QuickNote> {
    let is_low = test.mean_depth < f64::from(test.wanted_depth) * DEPTH_SHARE;
    let is_worth_it = conditions.is_direct && is_low && test.n_ios > 0;
    is_worth_it.then_some(QuickNote::DepthNotReached {
        test: test.name,
        wanted: test.wanted_depth,
        mean: test.mean_depth,
    })
}

fn about_size(conditions: &Conditions) -> Option<QuickNote> {
    let bytes = conditions.file_bytes;
    if conditions.is_cut {
        return Some(QuickNote::Cut { bytes });
    }
    (bytes < SMALL_FILE_BYTES && !conditions.is_memory).then_some(QuickNote::Small { bytes })
}

impl QuickNote {
    /// The mark in the table that the note explains.
    pub(super) fn mark(&self) -> Option<&'static str> {
        matches!(self, Self::FewSamples { .. }).then_some(DOUBT_MARK)
    }
}

impl fmt::Display for QuickNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InMemory { file_system } => {
                write!(f, "BUFFERED: {file_system} is in memory. These are figures of memory, not of a disk.")
            }
            Self::Buffered { file_system } => write!(
                f,
                "BUFFERED: {file_system} takes no direct I/O here, so the figures include the page cache: reads and \
                 writes that never reached the device count in full."
            ),
            Self::CacheAnswered { test, moved_bytes, device_bytes } => write!(
                f,
                "{test}: the job moved {}, but the device only {}. A cache answered the rest; the figures are not \
                 those of the device.",
                bytes_text(*moved_bytes),
                bytes_text(*device_bytes)
            ),
            Self::Loop { device } => write!(
                f,
                "{device} is a loop device that goes through the page cache: data that never reached the disk under it \
                 counts in full."
            ),
            Self::Unchecked { file_system } => write!(
                f,
                "No disk is known under {file_system}: whether a cache answered (of a server, a host, or the file \
                 system's own) cannot be checked."
            ),
            Self::NoIo { test } => write!(f, "{test}: not one I/O completed in time. Try a larger --seconds."),
            Self::FewSamples { tests } => few_samples(f, tests),
            Self::DepthNotReached { test, wanted, mean } => write!(
                f,
                "{test}: {wanted} I/Os were to be in flight, on average {} were. The device or the CPU may have had \
                 more to give.",
                three_digits(*mean)
            ),
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

fn few_samples(f: &mut fmt::Formatter<'_>, tests: &[(&str, u64)]) -> fmt::Result {
    let list: Vec<String> = tests.iter().map(|(test, n_ios)| format!("{test}: {n_ios}")).collect();
    write!(
        f,
        "Fewer than 10 I/Os took longer than this, so take it as a hint; a larger --seconds helps. I/Os in all: {}.",
        list.join(", ")
    )
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
    use super::super::figures::tests::plain;
    use super::*;

    fn notes_of(conditions: &Conditions, test: TestFigures) -> Vec<QuickNote> {
        find(conditions, &[test], vec![])
    }

    #[test]
    fn nothing_to_note() {
        assert_eq!(notes_of(&on_disk(), plain("test")), []);
    }

    #[test]
    fn the_figures_of_a_cache_are_called_so() {
        let (moved_bytes, device_bytes) = (409_600_000, 368_639_999);
        let test = TestFigures { device_bytes: Some(device_bytes), ..plain("test") };
        assert_eq!(notes_of(&on_disk(), test), [QuickNote::CacheAnswered { test: "test", moved_bytes, device_bytes }]);
        let test = TestFigures { device_bytes: Some(368_640_000), ..plain("test") };
        assert_eq!(notes_of(&on_disk(), test), []);
        let test = TestFigures { device_bytes: None, ..plain("test") };
        assert_eq!(notes_of(&on_disk(), test), []);
    }

    #[test]
    fn buffered_is_said_first_and_in_capitals() {
        let mut conditions = Conditions { is_direct: false, file_bytes: 1 << 24, ..on_disk() };
        let test = TestFigures { mean_depth: 0.5, device_bytes: Some(0), ..plain("test") };
        let notes = notes_of(&conditions, test.clone());
        let file_system = "ext4".to_owned();
        assert_eq!(
            notes,
            [QuickNote::Buffered { file_system: file_system.clone() }, QuickNote::Small { bytes: 1 << 24 }]
        );
        assert!(notes[0].to_string().starts_with("BUFFERED: ") && notes[0].to_string().contains("page cache"));
        conditions.is_memory = true;
        assert_eq!(notes_of(&conditions, test), [QuickNote::InMemory { file_system }]);
    }

    #[test]
    fn a_loop_device_may_be_a_cache() {
        let mut conditions = on_disk();
        if let Some(device) = &mut conditions.device {
            (device.name, device.is_cached) = ("loop0".to_owned(), true);
        }
        assert_eq!(notes_of(&conditions, plain("test")), [QuickNote::Loop { device: "loop0".to_owned() }]);
    }

    #[test]
    fn depth_samples_and_silence() {
        let test = TestFigures { mean_depth: 47.9, ..plain("test") };
        assert_eq!(notes_of(&on_disk(), test), [QuickNote::DepthNotReached { test: "test", wanted: 64, mean: 47.9 }]);
        let mut test = plain("test");
        test.latencies[2].is_doubtful = true;
        assert_eq!(notes_of(&on_disk(), test), [QuickNote::FewSamples { tests: vec![("test", 100_000)] }]);
        let test = TestFigures { n_ios: 0, bytes: 0, mean_depth: 0.0, ..plain("test") };
        assert_eq!(notes_of(&on_disk(), test), [QuickNote::NoIo { test: "test" }]);
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
