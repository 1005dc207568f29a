//! Whole runs of the binary, many of them beside the peer (Debian's fio, with `FERRIO_PEER=1`).
//!
//! Start reading at `support`, then at the test that failed.
#![forbid(unsafe_code)]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

#[path = "../support/mod.rs"]
mod support;

mod after_crash;
mod around_jobs;
mod bad_settings;
mod browser;
mod byte_values;
mod clean_runs;
mod combinations;
mod compare;
mod control;
mod cures;
mod debug;
mod devices;
mod differential;
mod documents;
mod draws;
mod engines_cpuio;
mod engines_e4defrag;
mod engines_exec;
mod engines_net;
mod engines_page_fault;
mod engines_splice;
mod findings;
mod findings_course;
mod findings_device;
mod findings_failures;
mod findings_host;
mod findings_limits;
mod findings_stacks;
mod findings_work;
mod front;
mod generators;
mod guest;
mod interruptions;
mod json_stream;
mod jsonl;
mod limits;
mod logs;
mod named_targets;
mod option_values;
mod outline;
mod outputs;
mod pages;
mod pairs;
mod patterns;
mod plots;
mod precision;
mod profiles;
mod provenance;
mod published;
mod random_jobs;
mod readers;
mod refusals;
mod replays;
mod reports;
mod rings;
mod saved_records;
mod sequential_zones;
mod shapes;
mod signals;
mod small_programs;
mod sprandom;
mod stories;
mod streams;
mod stuck;
mod surroundings;
mod system_calls;
mod targets;
mod terminal;
mod times;
mod traces;
mod verify;
mod verify_beside;
mod verify_damage;
mod verify_only;
mod verify_rounds;
mod verify_state;
mod verify_timed;
mod verify_trims;
mod zones;
