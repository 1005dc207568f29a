//! `--debug`: the groups of traces, and the form of their lines.
//!
//! Must not know: the sources of lines.

/// The groups, in the order of the reference.
pub const GROUPS: &[&str] = &[
    "process",
    "file",
    "io",
    "mem",
    "blktrace",
    "verify",
    "random",
    "parse",
    "diskutil",
    "job",
    "mutex",
    "profile",
    "time",
    "net",
    "rate",
    "compress",
    "steadystate",
    "helperthread",
    "zbd",
    "sprandom",
];

/// One line, without its end: group, thread, text.
pub fn line(group: &str, thread_id: u32, text: &str) -> String {
    format!("{group:<8} {thread_id:<5} {text}")
}
