//! The page cache: dirty pages of the machine that wait to be written, pages that became dirty and were written during
//! the run, and pages of the jobs' files in the cache.
//!
//! Must not know: the jobs' I/O. Start reading at [`PageCacheProbe`].

use super::process_io::{CounterError, read_counters};
use super::{Begun, Probe, Site};
use ferrio_stats::{CacheCourse, Evidence, FileCache, PageCache, Reading};
use ferrio_sys::file_cache::cached_pages;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Duration;

/// Most files to look at, because each takes some microseconds.
const MAX_FILES: usize = 1_000;
/// Time after which files that do not answer (of a server that is gone, say) are left out.
const LIMIT: Duration = Duration::from_secs(1);
const COUNTS: &str = "/proc/vmstat";

/// Counts at the start, and the largest amount that waited to be written.
struct PageCacheProbe {
    before: Result<Counts, CounterError>,
    most_dirty: u64,
    files: Arc<Vec<PathBuf>>,
    files_before: Reading<FileCache>,
    /// The probe may open files to look at their cached pages.
    looks: bool,
}

/// Numbers of pages, by `/proc/vmstat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counts {
    dirty: u64,
    writeback: u64,
    dirtied: u64,
    written: u64,
}

pub(super) fn start(site: &Site<'_>, begun: &mut Begun) {
    let mut files: Vec<PathBuf> = site.with_files().flat_map(|(_, files)| files).cloned().collect();
    files.sort_unstable();
    files.dedup();
    let (before, looks) = (read(), site.control.looks_into_files);
    begun.probes.push(Box::new(PageCacheProbe {
        most_dirty: before.as_ref().map_or(0, |counts| counts.dirty),
        before,
        files_before: if looks { ask(&files) } else { not_asked() },
        files: Arc::new(files),
        looks,
    }));
}

impl Probe for PageCacheProbe {
    fn look(&mut self) {
        if let Ok(counts) = read() {
            self.most_dirty = self.most_dirty.max(counts.dirty);
        }
    }

    fn report(&self, evidence: &mut Evidence) {
        let course = self.before.clone().and_then(|before| Ok(course(&before, &read()?, self.most_dirty)));
        let files = match () {
            () if !self.looks => not_asked(),
            () if self.files.is_empty() => ask(&[]),
            () => self.ask_within_limit(),
        };
        evidence.page_cache =
            Some(PageCache { machine: course.into(), files_before: self.files_before.clone(), files });
    }
}

impl PageCacheProbe {
    /// Runs in a separate thread, so that nothing waits for a file that does not answer.
    fn ask_within_limit(&self) -> Reading<FileCache> {
        let (files, (sender, receiver)) = (Arc::clone(&self.files), mpsc::channel());
        let asking = std::thread::Builder::new().name("ferrio-cache".to_owned()).spawn(move || {
            let _ = ferrio_sys::signals::block_in_this_thread();
            let _ = sender.send(ask(&files));
        });
        let answer = asking.map_err(|error| error.to_string());
        let answer = answer.and_then(|_| receiver.recv_timeout(LIMIT).map_err(|_| "no answer in time".to_owned()));
        answer.unwrap_or_else(Reading::Missing)
    }
}

/// A run as a drop-in for fio opens no file that fio does not open.
fn not_asked() -> Reading<FileCache> {
    Reading::Missing("files are only opened for it with --record".to_owned())
}

fn page_bytes() -> u64 {
    ferrio_sys::system_info::page_bytes()
}

fn course(before: &Counts, now: &Counts, most_dirty: u64) -> CacheCourse {
    let bytes = |n_pages: u64| n_pages.saturating_mul(page_bytes());
    CacheCourse {
        dirty_before_bytes: bytes(before.dirty),
        dirty_most_bytes: bytes(most_dirty.max(now.dirty)),
        dirty_bytes: bytes(now.dirty),
        writeback_bytes: bytes(now.writeback),
        dirtied_bytes: bytes(now.dirtied.saturating_sub(before.dirtied)),
        written_bytes: bytes(now.written.saturating_sub(before.written)),
    }
}

fn read() -> Result<Counts, CounterError> {
    read_counters(COUNTS, parse)
}

fn parse(text: &str) -> Option<Counts> {
    let count = |name: &str| {
        let counts = text.lines().filter_map(|line| line.split_once(' '));
        counts.filter(|(key, _)| *key == name).find_map(|(_, value)| value.trim().parse().ok())
    };
    Some(Counts {
        dirty: count("nr_dirty")?,
        writeback: count("nr_writeback")?,
        dirtied: count("nr_dirtied")?,
        written: count("nr_written")?,
    })
}

/// Counts the cached pages of these files. Files that give an error are left out; if all do, the reason stands for all.
fn ask(files: &[PathBuf]) -> Reading<FileCache> {
    let mut sum = FileCache { n_left_out: files.len().saturating_sub(MAX_FILES) as u64, ..FileCache::default() };
    let mut problem = None;
    for path in files.iter().take(MAX_FILES) {
        // Other kinds are not opened: a pipe would wait for its other end, and a device may do anything.
        let is_regular = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        let file = is_regular.then(|| File::open(path)).and_then(Result::ok);
        match file.map(|file| cached_pages(&file)) {
            Some(Ok(pages)) => {
                let bytes = |n_pages: u64| n_pages.saturating_mul(page_bytes());
                sum.n_files += 1;
                sum.cached_bytes += bytes(pages.n_cached);
                sum.dirty_bytes += bytes(pages.n_dirty);
                sum.writeback_bytes += bytes(pages.n_writeback);
                sum.evicted_bytes += bytes(pages.n_evicted);
            }
            Some(Err(error)) => {
                sum.n_left_out += 1;
                problem.get_or_insert_with(|| error.to_string());
            }
            None => sum.n_left_out += 1,
        }
    }
    match problem {
        Some(problem) if sum.n_files == 0 => Reading::Missing(problem),
        _ => Reading::Value(sum),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "nr_free_pages 9\nnr_dirty 10\nnr_writeback 2\nnr_writeback_temp 77\nnr_dirtied 300\nnr_written 200\n";

    #[test]
    fn counts_are_found_by_name() {
        let counts = Counts { dirty: 10, writeback: 2, dirtied: 300, written: 200 };
        assert_eq!(parse(TEXT), Some(counts));
        assert_eq!(parse("nr_dirty 10\n"), None);
        let later = Counts { dirty: 4, writeback: 0, dirtied: 305, written: 211 };
        let (page, course) = (page_bytes(), course(&counts, &later, 12));
        let bytes = [course.dirty_before_bytes, course.dirty_most_bytes, course.dirty_bytes];
        assert_eq!(bytes, [10 * page, 12 * page, 4 * page]);
        assert_eq!((course.dirtied_bytes, course.written_bytes), (5 * page, 11 * page));
    }

    #[test]
    fn files_of_every_kind_are_asked_or_left_out() {
        let path = std::env::temp_dir().join(format!("ferrio-cached-{}", std::process::id()));
        let n_pages = 3;
        std::fs::write(&path, vec![1; n_pages * page_bytes() as usize]).unwrap();
        let files = [path.clone(), PathBuf::from("/dev/null"), PathBuf::from("/no/such/file")];
        match ask(&files) {
            Reading::Value(cache) => {
                assert_eq!((cache.n_files, cache.n_left_out), (1, 2));
                assert_eq!(cache.cached_bytes, n_pages as u64 * page_bytes());
            }
            // The kernel is older than 6.5.
            Reading::Missing(reason) => assert!(reason.starts_with("cachestat"), "{reason}"),
        }
        std::fs::remove_file(&path).unwrap();
        assert_eq!(ask(&[]), Reading::Value(FileCache::default()));
    }
}
