//! A sink that keeps logs in memory.

use ferrio_stats::{HistogramRow, LogFile, LogId, LogKind, LogRow, LogSink};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Logs under a prefix, by worker number (0: shared) and kind.
pub(crate) type Logged = BTreeMap<(u32, LogKind), Log>;

/// One log.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    pub(crate) rows: Vec<LogRow>,
    pub(crate) histograms: Vec<HistogramRow>,
    pub(crate) is_closed: bool,
}

/// All logs of this process: tests run in parallel, each with its own prefixes.
static LOGS: Mutex<BTreeMap<PathBuf, Logged>> = Mutex::new(BTreeMap::new());

/// Takes the logs under a prefix.
pub(crate) fn take_logs(prefix: &str) -> Logged {
    LOGS.lock().unwrap().remove(Path::new(prefix)).unwrap_or_default()
}

/// Keeps all rows. A log whose prefix contains `full` refuses rows after the first call, one with `missing` cannot be
/// opened.
#[derive(Default)]
pub(crate) struct MemoryLogs {
    files: Vec<LogFile>,
    n_calls: usize,
}

impl MemoryLogs {
    fn with(&self, log: LogId, change: impl FnOnce(&mut Log)) {
        let file = &self.files[log.0];
        let mut logs = LOGS.lock().unwrap();
        let logged = logs.entry(file.prefix.clone()).or_default();
        change(logged.entry((file.worker_number.unwrap_or(0), file.kind)).or_default());
    }

    fn has(&self, log: LogId, word: &str) -> bool {
        self.files[log.0].prefix.to_string_lossy().contains(word)
    }
}

impl LogSink for MemoryLogs {
    fn open(&mut self, file: &LogFile) -> io::Result<LogId> {
        if file.prefix.to_string_lossy().contains("missing") {
            return Err(io::Error::from_raw_os_error(2));
        }
        self.files.push(file.clone());
        let log = LogId(self.files.len() - 1);
        self.with(log, |_| ());
        Ok(log)
    }

    fn rows(&mut self, log: LogId, rows: &[LogRow]) -> io::Result<()> {
        self.n_calls += 1;
        if self.has(log, "full") && self.n_calls > 1 {
            return Err(io::Error::from_raw_os_error(28));
        }
        self.with(log, |log| log.rows.extend_from_slice(rows));
        Ok(())
    }

    fn histogram(&mut self, log: LogId, row: &HistogramRow) -> io::Result<()> {
        self.with(log, |log| log.histograms.push(row.clone()));
        Ok(())
    }

    fn close(&mut self, log: LogId) -> io::Result<()> {
        self.with(log, |log| log.is_closed = true);
        Ok(())
    }

    fn name(&self, file: &LogFile) -> PathBuf {
        file.prefix.clone()
    }
}
