//! The failure of a job.
//!
//! Must not know: words. Start reading at [`Failure`].

use crate::Note;
use ferrio_sys::errno;
use ferrio_sys::errno::EINTR;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// errno of a verification that found other data than was written.
pub const OTHER_DATA: i32 = ferrio_sys::errno::EILSEQ;

/// Causes of errors that their numbers tell, whatever the kernel writes in its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorCause {
    /// Verification found other data than was written.
    OtherData,
    /// The file system, or the user's share of it, is full.
    NoSpace,
    /// A file would be longer than a limit of the user or of the file system.
    FileTooLong,
    /// The target does not take such an I/O.
    NotTaken,
    NoRights,
    /// The process has as many files open as it may.
    TooManyOpen,
}

impl ErrorCause {
    /// `None`: the number does not tell.
    pub const fn of(errno: i32) -> Option<Self> {
        match errno {
            OTHER_DATA => Some(Self::OtherData),
            errno::ENOSPC | errno::EDQUOT => Some(Self::NoSpace),
            errno::EFBIG => Some(Self::FileTooLong),
            errno::EINVAL => Some(Self::NotTaken),
            errno::EMFILE => Some(Self::TooManyOpen),
            errno::EACCES | errno::EPERM | errno::EROFS => Some(Self::NoRights),
            _ => None,
        }
    }
}

/// The failure of a job: the errno for the exit code and the report, and where it came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// errno; never 0.
    pub errno: i32,
    /// Source file and line.
    pub place: String,
    pub step: FailedStep,
    /// An explanation for the user, if there is one.
    pub note: Option<Box<Note>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailedStep {
    /// No step: the run ended while the job was being set up.
    Stopped,
    /// A job has no size, and no files with a size.
    NoTarget,
    IoUnit,
    /// Another step, by its short name.
    Named(Cow<'static, str>),
    /// The same; the explanation says all, and no line about the failure follows it.
    Explained(Cow<'static, str>),
}

impl FailedStep {
    /// Its short name in reports.
    pub fn name(&self) -> &str {
        match self {
            Self::Stopped => "stopped",
            Self::NoTarget => "file_size",
            Self::IoUnit => "io_u error",
            Self::Named(name) | Self::Explained(name) => name,
        }
    }
}

impl From<&'static str> for FailedStep {
    fn from(name: &'static str) -> Self {
        Self::Named(Cow::Borrowed(name))
    }
}

impl From<String> for FailedStep {
    fn from(name: String) -> Self {
        Self::Named(Cow::Owned(name))
    }
}

impl Failure {
    /// A failure of a step, without an explanation. `place` is `file!():line!()`.
    pub fn new(errno: i32, place: impl Into<String>, step: impl Into<FailedStep>) -> Self {
        Self { errno, place: place.into(), step: step.into(), note: None }
    }

    /// The run ended while the job was being set up; this is no error of the job.
    pub fn stopped() -> Self {
        Self::new(EINTR, "", FailedStep::Stopped)
    }

    pub fn is_stopped(&self) -> bool {
        self.step == FailedStep::Stopped
    }

    /// Adds an explanation.
    #[must_use]
    pub fn explained(mut self, note: impl Into<Note>) -> Self {
        self.note = Some(Box::new(note.into()));
        self
    }
}
