//! Performance logs of fio and ferrio: `NAME_bw.1.log` and its family.
//!
//! Must not know: reports. Start reading at [`read`]. Source: reference, "Performance logs".

mod attach;
mod counted;
mod log_reader;
mod row;
mod row_source;
mod windows;

pub(crate) use attach::{alone, attach};

use crate::results::error::{ReadError, ReadErrorKind};
use crate::results::{LatencyKind, Quantity, ResultFile, SeriesLimits, TimeBase, TimeSeries};
use log_reader::LogReader;
use row_source::RowSource;
use std::io::BufRead;
use std::path::Path;

/// Longest line; a row of a histogram log with all buckets has 1,859 columns.
const MAX_LINE_BYTES: u64 = 64 << 10;
/// Ending of the names of compressed logs (`log_store_compressed`).
const COMPRESSED: &str = ".fz";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogContent {
    Values(Quantity),
    Histograms,
}

/// Endings of names, the longest first.
const ENDINGS: [(&str, LogContent); 6] = [
    ("_clat_hist", LogContent::Histograms),
    ("_slat", LogContent::Values(Quantity::Latency(LatencyKind::Submission))),
    ("_clat", LogContent::Values(Quantity::Latency(LatencyKind::Completion))),
    ("_iops", LogContent::Values(Quantity::Iops)),
    ("_lat", LogContent::Values(Quantity::Latency(LatencyKind::Total))),
    ("_bw", LogContent::Values(Quantity::Bandwidth)),
];

#[derive(Debug)]
pub(crate) struct PerformanceLog {
    file: String,
    /// The folder of its file, as it was given; logs of other folders are of other runs.
    folder: String,
    prefix: String,
    /// Number of the job, from 1; `None`: all jobs in one.
    number: Option<u32>,
    content: LogContent,
    /// Its rows are those of windows (`log_avg_msec`).
    has_windows: bool,
    series: Vec<TimeSeries>,
}

impl PerformanceLog {
    /// True if its times are those of the clock.
    fn has_clock(&self) -> bool {
        self.series.iter().any(|series| series.base == TimeBase::Wall)
    }

    /// Start and end of its figures, nanoseconds; `None`: it has none.
    fn reach_ns(&self) -> Option<(u64, u64)> {
        let reaches = self.series.iter().filter_map(|series| series.intervals.reach_ns());
        reaches.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// The better ones of logs of the same latency first: a row for each I/O, histograms, windows.
    fn rank(&self) -> u8 {
        match self.content {
            LogContent::Histograms => 1,
            LogContent::Values(_) if self.has_windows => 2,
            LogContent::Values(_) => 0,
        }
    }
}

/// True if the name of a file is that of a log.
pub(crate) fn has_name_of_log(path: &Path) -> bool {
    parse_name(path).is_some()
}

fn parse_name(path: &Path) -> Option<(String, Option<u32>, LogContent)> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(COMPRESSED).unwrap_or(name).strip_suffix(".log")?;
    let (name, number) = match name.rsplit_once('.').map(|(name, number)| (name, number.parse())) {
        Some((name, Ok(number))) => (name, Some(number)),
        _ => (name, None),
    };
    let named =
        |(ending, content): &(&str, LogContent)| Some((name.strip_suffix(ending)?.to_owned(), number, *content));
    ENDINGS.iter().find_map(named)
}

/// Reads a log, row by row. Its times count from 1970 (`log_unix_epoch`) or from the start of its job.
pub(crate) fn read(file: &ResultFile, limits: SeriesLimits) -> Result<PerformanceLog, ReadError> {
    let path = file.path();
    let (prefix, number, content) = parse_name(path).ok_or_else(|| ReadErrorKind::LogName.of(path))?;
    let mut source = RowSource::open(file)?;
    let mut log = LogReader::new(content, limits);
    let start = source.reader.fill_buf().map_err(|error| file.system(&error))?;
    let form = log.look_at(start).map_err(|(index, kind)| file.at_line(index as u64 + 1, kind));
    // Of a compressed log that is none, the first rows may be broken.
    let read_rows = || {
        form?;
        let mut line = Vec::new();
        for number in 1.. {
            if !file.read_line(&mut source.reader, &mut line, number, MAX_LINE_BYTES)? {
                break;
            }
            log.add(line.trim_ascii_end()).map_err(|kind| file.at_line(number, kind))?;
        }
        Ok(())
    };
    let outcome = read_rows();
    source.finish(path)?;
    outcome?;
    let folder = file.folder();
    let has_windows = log.has_windows();
    Ok(PerformanceLog { file: file.name(), folder, prefix, number, content, has_windows, series: log.into_series() })
}
