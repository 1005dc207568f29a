//! Files and records that several commands read or write.

pub(crate) mod audited_text;
pub(crate) mod bandwidth_logs;
pub(crate) mod comparison;
mod copy_line;
pub(crate) mod engine_checks;
pub(crate) mod engine_choice;
pub(crate) mod engine_library;
pub(crate) mod examined;
pub(crate) mod hosts;
pub(crate) mod hosts_report;
pub(crate) mod inputs;
pub(crate) mod keeping;
pub(crate) mod own_directory;
pub(crate) mod protected_files;
pub(crate) mod records;
pub(crate) mod repeat_options;
pub(crate) mod serving;
pub(crate) mod user_config;
