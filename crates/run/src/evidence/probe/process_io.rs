//! The kernel's I/O accounts of the run's processes (`/proc/PID/io`). They show whether a job's I/O reached the storage
//! or ended in the page cache.
//!
//! Must not know: the jobs' I/O. Start reading at [`ProcessIoProbe`].

use super::{Begun, Probe, Site};
use ferrio_stats::{Evidence, IoCounters, ProcessIo, WorkerIo};
use std::fs::File;
use std::io;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// The account of this process, to which the kernel adds that of each child when this process waits for the child.
const OWN: &str = "/proc/self/io";

/// Counters at the start, and the counters of workers at their ends.
struct ProcessIoProbe {
    before: Result<IoCounters, CounterError>,
    workers: Vec<WorkerIo>,
}

pub(super) fn start(_: &Site<'_>, begun: &mut Begun) {
    begun.probes.push(Box::new(ProcessIoProbe { before: read(OWN), workers: Vec::new() }));
}

impl Probe for ProcessIoProbe {
    fn worker_ends(&mut self, number: u32, pid: u32, is_thread: bool) {
        // The counts of a thread are part of those of this process.
        if !is_thread {
            let counters = read(&format!("/proc/{pid}/io")).into();
            self.workers.push(WorkerIo { number, pid, counters });
        }
    }

    fn report(&self, evidence: &mut Evidence) {
        let total = self.before.clone().and_then(|before| Ok(since(&read(OWN)?, &before)));
        evidence.process_io = Some(ProcessIo { total: total.into(), workers: self.workers.clone() });
    }
}

/// Bytes that the kernel has read from storage for the caller so far, which is a worker. After its end nobody else may read that without
/// rights. Other threads that read for a worker count with its process; for a worker that is a thread they are not told apart from those of
/// other workers. `None`: not counted.
pub(crate) fn own_read_bytes(is_thread: bool) -> Option<u64> {
    let path = if is_thread { "/proc/thread-self/io" } else { OWN };
    // Without an allocation, because a ramp ends in the middle of the I/O.
    let mut text = [0; 512];
    let n_bytes = File::open(path).ok()?.read(&mut text).ok()?;
    Some(parse(std::str::from_utf8(&text[..n_bytes]).ok()?)?.read_bytes)
}

fn read(path: &str) -> Result<IoCounters, CounterError> {
    read_counters(path, parse)
}

fn parse(text: &str) -> Option<IoCounters> {
    let counter = |name: &str| {
        let values = text.lines().filter_map(|line| line.split_once(':'));
        values.filter(|(key, _)| *key == name).find_map(|(_, value)| value.trim().parse().ok())
    };
    Some(IoCounters {
        rchar: counter("rchar")?,
        wchar: counter("wchar")?,
        read_bytes: counter("read_bytes")?,
        write_bytes: counter("write_bytes")?,
        cancelled_write_bytes: counter("cancelled_write_bytes")?,
    })
}

fn since(now: &IoCounters, before: &IoCounters) -> IoCounters {
    IoCounters {
        rchar: now.rchar.saturating_sub(before.rchar),
        wchar: now.wchar.saturating_sub(before.wchar),
        read_bytes: now.read_bytes.saturating_sub(before.read_bytes),
        write_bytes: now.write_bytes.saturating_sub(before.write_bytes),
        cancelled_write_bytes: now.cancelled_write_bytes.saturating_sub(before.cancelled_write_bytes),
    }
}

/// Why counters are not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum CounterError {
    /// Their file cannot be read.
    #[error("{}: {why}", path.display())]
    Unreadable {
        path: PathBuf,
        /// The answer of the system.
        why: String,
    },
    /// Their file has another form than it has on the kernels that are known.
    #[error("{} is not understood", .0.display())]
    NotUnderstood(PathBuf),
}

pub(super) fn read_counters<T>(
    path: impl AsRef<Path>,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<T, CounterError> {
    let path = path.as_ref();
    let unreadable = |error: io::Error| CounterError::Unreadable { path: path.to_owned(), why: error.to_string() };
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    parse(&text).ok_or_else(|| CounterError::NotUnderstood(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "rchar: 10\nwchar: 20\nsyscr: 1\nsyscw: 2\nread_bytes: 30\nwrite_bytes: 40\ncancelled_write_bytes: 5\n";

    #[test]
    fn counters_are_found_by_name() {
        let read = IoCounters { rchar: 10, wchar: 20, read_bytes: 30, write_bytes: 40, cancelled_write_bytes: 5 };
        assert_eq!(parse(TEXT), Some(read));
        assert_eq!(parse("rchar: 10\n"), None);
        assert_eq!(parse(&TEXT.replace("40", "forty")), None);
    }

    #[test]
    fn what_cannot_be_read_has_a_reason() {
        let missing = read("/proc/0/io").unwrap_err().to_string();
        assert!(missing.starts_with("/proc/0/io: "), "{missing}");
    }
}
