//! Why a file gives no result.
//!
//! Must not know: how errors are shown. Start reading at [`ReadError`].

use std::path::PathBuf;

/// A file that cannot be read, or that is no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ReadError {
    pub path: PathBuf,
    /// The line in which the error was noticed, from 1; `None`: it is about the whole file.
    pub line: Option<u64>,
    pub kind: ReadErrorKind,
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(formatter, ":{line}")?;
        }
        write!(formatter, ": {}", self.kind)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadErrorKind {
    /// The system refused to read the file.
    #[error("it cannot be read: {0}")]
    System(String),
    /// It is a folder, a pipe or a device.
    #[error("it is no regular file: results are read from files alone")]
    NoFile,
    /// A line is longer than any of a result.
    #[error("it has more than {0} bytes: no result has such a line")]
    LongLine(u64),
    /// The file is of none of the known kinds.
    #[error(
        "it is no result: neither a report (JSON, normal text, terse) nor a performance log of fio or ferrio, nor a record of ferrio"
    )]
    Unknown,
    #[error("it is empty")]
    Empty,
    /// The JSON is damaged or incomplete, or a value has the wrong type.
    #[error("its JSON cannot be read: {0}")]
    Json(String),
    /// The JSON is right and is something else than a report.
    #[error("it is JSON without the key \"jobs\": no report of fio or ferrio")]
    NoReport,
    /// A report is larger than any that is read.
    #[error("it has more than {0} bytes: no report is that large")]
    TooLarge(u64),
    /// It has more of something than is shown.
    #[error("it has {found} {what}, and at most {most} are read")]
    TooMany { what: &'static str, found: usize, most: usize },
    #[error("{name} is {value}, which is impossible")]
    Impossible { name: String, value: String },
    /// A line of a report in text is damaged.
    #[error("the line is {text:?}, and {what} are expected as fio prints them")]
    Text {
        what: &'static str,
        /// The line, its first 80 characters.
        text: String,
    },
    #[error("it is the text of fio before 3.0, which is not read; its JSON (--output-format=json) is")]
    TextOfFio2,
    /// A line of terse output has not the fields of its version.
    #[error("it has {0} fields that are not those of its terse version (2 to 5)")]
    TerseFields(usize),
    /// A row of a log has a column that is no number in the allowed range.
    #[error("column {column} is {text:?}, and a whole number from 0 is expected")]
    Column {
        /// Number of the column, from 1.
        column: usize,
        /// The column's text, its first 40 characters.
        text: String,
    },
    /// A row of a log has too few or too many columns.
    #[error("it has {0} columns, which no performance log has")]
    Columns(usize),
    /// The name of a log does not say what it holds.
    #[error(
        "its name does not say what it logs: it has to end in _bw.log, _iops.log, _lat.log, _slat.log, _clat.log or _clat_hist.log, with the number of the job before .log or without"
    )]
    LogName,
    #[error("it cannot be inflated: {0}")]
    Compressed(String),
    /// A record is damaged or of another version.
    #[error("{0}")]
    Record(String),
}

impl ReadErrorKind {
    pub(crate) fn of(self, path: &std::path::Path) -> ReadError {
        ReadError { path: path.to_owned(), line: None, kind: self }
    }
}
