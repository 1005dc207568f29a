//! Why an engine cannot be used as asked.
//!
//! Must not know: single engines. Start reading at [`EngineError`].

use ferrio_spec::Secrecy;
use ferrio_spec::engines::options::TABLES;
use std::io;

/// Why an engine cannot be used as asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A private option has a value that the engine cannot use.
    #[error("{engine}: option {option}={value}: {why}")]
    BadOption {
        engine: &'static str,
        option: &'static str,
        value: String,
        /// The allowed values or conditions.
        why: String,
    },
    /// A step before the first I/O failed.
    #[error("{engine}: {what}: {source}")]
    Failed {
        engine: &'static str,
        /// The step, a short name.
        step: &'static str,
        /// The failed step and its object.
        what: String,
        source: io::Error,
    },
    /// A target that the engine owns could not be made or opened.
    #[error("{step}: {source}")]
    Target {
        /// The failed operation, as a short name such as `open(NAME)`.
        step: String,
        source: ferrio_sys::Error,
    },
    /// A target does not fit the engine, or the job does not fit the target.
    #[error("{what}")]
    Unfit {
        /// The step, a short name.
        step: &'static str,
        /// What does not fit.
        what: String,
        /// The line begins with the name of the target.
        is_named: bool,
        errno: i32,
    },
    /// The kernel refused a feature.
    #[error("{engine}: {what} failed: {source}; {hint}")]
    Refused {
        engine: &'static str,
        /// The failed attempt, with the option that requested it.
        what: String,
        /// What the kernel said.
        source: io::Error,
        /// What the user can do; names the kernel release where that matters.
        hint: String,
    },
}

impl EngineError {
    /// A private option has a value that the engine cannot use.
    pub(crate) fn bad_option(
        engine: &'static str,
        option: &'static str,
        value: &(impl ToString + ?Sized),
        why: impl Into<String>,
    ) -> Self {
        let mut defs = TABLES.iter().flat_map(|table| table.options);
        let secrecy = defs.find(|def| def.name == option).map_or(Secrecy::Open, |def| def.secrecy);
        Self::BadOption { engine, option, value: secrecy.shown(&value.to_string()).into_owned(), why: why.into() }
    }

    /// A library that the engine needs cannot be opened.
    pub fn no_library(engine: &'static str, error: &ferrio_sys::Error) -> Self {
        let source = io::Error::new(io::ErrorKind::Unsupported, error.to_string());
        Self::Failed { engine, step: "dlopen", what: "a library cannot be opened".to_owned(), source }
    }

    /// The name of the step that failed, for variants that have one.
    pub fn step(&self) -> Option<&'static str> {
        match self {
            Self::Failed { step, .. } | Self::Unfit { step, .. } => Some(step),
            _ => None,
        }
    }

    /// The errno behind it; EINVAL for bad options.
    pub fn errno(&self) -> i32 {
        match self {
            Self::BadOption { .. } => 22,
            Self::Unfit { errno, .. } => *errno,
            Self::Target { source, .. } => source.errno().unwrap_or(5),
            Self::Refused { source, .. } | Self::Failed { source, .. } => source.raw_os_error().unwrap_or(22),
        }
    }
}
