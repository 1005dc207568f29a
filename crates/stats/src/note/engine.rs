//! What an engine has to say beside its I/Os.
//!
//! Must not know: words beside the phrases that an engine has of its own. Start reading at [`EngineNote`].

use super::SystemError;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A remark or a refusal of an engine. Its phrases (`why`, `what`, `hint`) stand in the file of the engine, because an engine is
/// one file and one row of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum EngineNote {
    /// A private option has a value that the engine cannot use.
    BadOption {
        engine: Cow<'static, str>,
        option: Cow<'static, str>,
        value: String,
        why: String,
    },
    /// A step before the first I/O failed.
    Failed {
        engine: Cow<'static, str>,
        what: String,
        error: SystemError,
    },
    /// A target that the engine owns could not be made or opened.
    Target {
        /// What was to be done with it, a short name as `open(NAME)`.
        step: String,
        error: SystemError,
    },
    /// A target does not fit the engine, or the job does not fit the target.
    Unfit {
        /// Name of the target, where the line has it.
        file: Option<String>,
        /// What does not fit.
        what: String,
    },
    /// The job wants flexible data placement, and the engine does not carry its identifiers.
    NoPlacement {
        engine: Cow<'static, str>,
        /// Name of the first target.
        file: String,
        errno: i32,
    },
    /// The kernel refused a feature.
    Refused {
        engine: Cow<'static, str>,
        /// What was tried, with the option that asked for it.
        what: String,
        /// What the kernel said.
        error: SystemError,
        /// What the user can do; names the kernel release where that matters.
        hint: String,
    },
    /// How the engine will do its work.
    Mode {
        engine: Cow<'static, str>,
        /// A word for its way of working.
        mode: Cow<'static, str>,
        settings: Vec<(Cow<'static, str>, u64)>,
    },
    /// The program that the engine will run.
    Program {
        program: String,
        /// Its arguments, if there are any.
        arguments: Option<String>,
    },
    ProgramStarts {
        program: String,
        /// Its arguments, if there are any.
        arguments: Option<String>,
        /// The files that take what it prints: stdout, stderr.
        files: Option<[String; 2]>,
    },
    /// The program has ended with an exit code.
    ProgramFailed {
        program: String,
        code: i32,
    },
    ProgramKilled {
        program: String,
        signal: i32,
    },
}
