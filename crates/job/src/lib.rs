//! From arguments and job files to [`ferrio_spec::JobSpec`]: the option table, the parsers, the lowering.
//!
//! Must not know: engines' code, output formats; it prints nothing and never exits.
//! Start reading at [`parse`], then the option table ([`options`]). Oddities of fio in the meaning of options are in `compat`.
#![forbid(unsafe_code)]

pub mod beyond;
pub mod changes;
pub mod collector;
pub mod command_line;
mod compat;
mod contradiction;
mod cure;
pub mod debug;
pub mod diagnostic;
pub mod environment;
pub mod error;
pub mod explain;
pub mod help;
pub mod invocation;
pub mod job_file;
pub mod lower;
pub mod machine_tests;
pub mod message;
pub mod options;
pub mod origin;
pub mod profiles;
mod refusal;
pub mod refused_value;
pub mod showcmd;
pub mod suggest;
pub mod template;
#[cfg(test)]
mod testing;
pub mod value;

pub use command_line::parse::{parse, parse_template};
pub use diagnostic::{Diagnostic, DiagnosticKind};
pub use environment::{Environment, SystemEnvironment};
pub use invocation::{Invocation, Mode, UsageError};
pub use message::{Message, OutputStream, UserLine};
pub use template::Template;
