//! What all commands show with: console, tables, progress, signals, exit codes.

pub(crate) mod arguments;
pub(crate) mod byte_size;
pub(crate) mod console;
pub(crate) mod csv_table;
pub(crate) mod described;
pub(crate) mod exit;
pub(crate) mod job_text;
pub(crate) mod machine_text;
pub(crate) mod own_options;
pub(crate) mod permits;
pub(crate) mod progress;
pub(crate) mod reporter;
pub(crate) mod runs_on_terminal;
pub(crate) mod signals;
pub(crate) mod step_bar;
pub(crate) mod stop_notice;
