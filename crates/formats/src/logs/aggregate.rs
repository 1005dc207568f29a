//! Logs of the bandwidth of all jobs together (`--bandwidth-log`): a file for each direction, written as samples come.
//!
//! Must not know: the source of the samples. Start reading at [`AggregateLogs`].
//! Facts: reference "Performance logs", aggregate.

use super::{LogEncoder, OpenLog};
use ferrio_stats::{LogColumns, LogRow};
use ferrio_sys::output::{self, OutputStart, ProtectedPaths};
use ferrio_units::{DataDirection, PerDirection};
use std::io;
use std::path::{Path, PathBuf};

/// The open logs. A log that cannot be opened or written is reported once and takes no more rows.
pub struct AggregateLogs {
    logs: PerDirection<Option<OpenLog>>,
    text: Vec<u8>,
}

impl AggregateLogs {
    /// Makes `PREFIX-read_bw.log`, `PREFIX-write_bw.log` and `PREFIX-trim_bw.log`, all empty. The second part of the
    /// result has the errors.
    pub fn create(prefix: &Path, kept: &ProtectedPaths) -> (Self, Vec<(PathBuf, io::Error)>) {
        let mut errors = Vec::new();
        let mut create = |direction| match output::open(&path(prefix, direction), OutputStart::Empty, kept) {
            Ok(file) => {
                let encoder = LogEncoder::of_text(LogColumns::default());
                Some(OpenLog { file, is_shared: false, end: 0, encoder })
            }
            Err(error) => {
                errors.push((path(prefix, direction), error));
                None
            }
        };
        let logs = PerDirection(DataDirection::ALL.map(&mut create));
        (Self { logs, text: Vec::new() }, errors)
    }

    /// Writes a row to each log: milliseconds since the start of the run, and KiB a second, even if that is 0.
    ///
    /// # Errors
    /// The first of the logs that cannot be written; it ends with a whole row.
    pub fn rows(&mut self, time_ms: u64, kib_per_sec: &PerDirection<u64>) -> io::Result<()> {
        let mut result = Ok(());
        for direction in DataDirection::ALL {
            let place = &mut self.logs[direction];
            let Some(log) = place else { continue };
            let row = LogRow::of_window(time_ms, direction, kib_per_sec[direction], 0);
            self.text.clear();
            let written = log.encoder.rows(&[row], &mut self.text).and_then(|()| log.append(&self.text));
            if let Err(error) = written {
                *place = None;
                result = result.and(Err(error));
            }
        }
        result
    }
}

fn path(prefix: &Path, direction: DataDirection) -> PathBuf {
    let word = match direction {
        DataDirection::Read => "read",
        DataDirection::Write => "write",
        DataDirection::Trim => "trim",
    };
    let mut path = prefix.to_owned().into_os_string();
    path.push(format!("-{word}_bw.log"));
    PathBuf::from(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    // Expected: rows that fio 3.41 writes for a job that reads and writes.
    #[test]
    fn a_row_a_direction_in_files_of_their_own() {
        let directory = std::env::temp_dir().join(format!("ferrio-aggregate-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let prefix = directory.join("agg");
        std::fs::write(directory.join("agg-read_bw.log"), "of an earlier run").unwrap();
        let (mut logs, errors) = AggregateLogs::create(&prefix, &ProtectedPaths::default());
        assert!(errors.is_empty());
        logs.rows(500, &PerDirection([817, 819, 0])).unwrap();
        logs.rows(999, &PerDirection([1026, 0, 0])).unwrap();
        let read = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap();
        assert_eq!(read("agg-read_bw.log"), "500, 817, 0, 0, 0\n999, 1026, 0, 0, 0\n");
        assert_eq!(read("agg-write_bw.log"), "500, 819, 1, 0, 0\n999, 0, 1, 0, 0\n");
        assert_eq!(read("agg-trim_bw.log"), "500, 0, 2, 0, 0\n999, 0, 2, 0, 0\n");
        std::fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn what_cannot_be_opened_or_written_is_told_and_left_alone() {
        let (mut logs, errors) = AggregateLogs::create(Path::new("/dev/null/agg"), &ProtectedPaths::default());
        assert_eq!(errors.len(), 3);
        logs.rows(500, &PerDirection::all(1)).expect("nothing is left to fail");
        let full = File::options().write(true).open("/dev/full").unwrap();
        let encoder = LogEncoder::of_text(LogColumns::default());
        logs.logs[DataDirection::Read] = Some(OpenLog { file: full, is_shared: false, end: 0, encoder });
        assert_eq!(logs.rows(500, &PerDirection::all(1)).unwrap_err().kind(), io::ErrorKind::StorageFull);
        logs.rows(1000, &PerDirection::all(1)).expect("told once");
    }
}
