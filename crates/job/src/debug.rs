//! `--debug`: which groups of traces are asked for.
//!
//! Must not know: who traces what.

use crate::message::Messages;

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

/// Groups to trace, and the job they are limited to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DebugSettings {
    /// Bit n is set when group n of [`GROUPS`] is traced.
    pub mask: u32,
    /// `job:N`: trace only this job number.
    pub job_number: Option<u32>,
}

impl DebugSettings {
    /// Adds the groups of `--debug=list`; unknown ones are reported and left out, as in the reference.
    pub fn add(&mut self, list: &str, messages: &mut Messages) {
        for group in list.split(',') {
            if let Some(number) = group.strip_prefix("job:").and_then(|text| text.parse().ok()) {
                self.job_number = Some(number);
                messages.out(format!("fio: set debug jobno {number}"));
            } else if group == "all" {
                self.mask = (1 << GROUPS.len()) - 1;
                messages.out("fio: set all debug options");
            } else if let Some(index) = GROUPS.iter().position(|known| *known == group) {
                self.mask |= 1 << index;
                messages.out(format!("fio: set debug option {group}"));
            } else {
                messages.err(format!("fio: debug mask {group} not found"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Stream;

    // Lines as fio 3.33 prints them.
    #[test]
    fn groups_add_up() {
        let (mut settings, mut messages) = (DebugSettings::default(), Messages::new());
        settings.add("process,foo,io", &mut messages);
        settings.add("job:3", &mut messages);
        assert_eq!(settings, DebugSettings { mask: 0b101, job_number: Some(3) });
        let lines = messages.into_vec();
        assert_eq!(lines[0], (Stream::Stdout, "fio: set debug option process\n".to_owned()));
        assert_eq!(lines[1], (Stream::Stderr, "fio: debug mask foo not found\n".to_owned()));
        assert_eq!(lines[3], (Stream::Stdout, "fio: set debug jobno 3\n".to_owned()));
    }
}
