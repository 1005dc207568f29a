//! Where an option was written.
//!
//! Must not know: options, files' contents.

use std::fmt;
use std::sync::Arc;

/// Where an option was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    CommandLine,
    File {
        /// The file as it was named; `stdin` for `-`.
        path: Arc<str>,
        /// Line, counted from 1.
        line: usize,
        /// First byte of the text in that line, counted from 1.
        column: usize,
    },
}

impl Origin {
    /// File, line and column; `None` on the command line, where the text itself says where.
    pub fn with_column(&self) -> Option<String> {
        match self {
            Self::CommandLine => None,
            Self::File { path, line, column } => Some(format!("{path}:{line}:{column}")),
        }
    }

    /// Start of a message about the option: file, line and column, or `command line`.
    pub fn place(&self) -> String {
        self.with_column().unwrap_or_else(|| self.to_string())
    }
}

/// File and line, or `command line`.
impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine => formatter.write_str("command line"),
            Self::File { path, line, .. } => write!(formatter, "{path}:{line}"),
        }
    }
}
