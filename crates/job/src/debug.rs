//! `--debug`: the groups of traces that the user wants.
//!
//! Must not know: which code writes traces of which group.

use crate::message::{OutputStream, UserLine, UserMessages};
use ferrio_spec::debug::GROUPS;

/// Groups to trace, and the only job to trace (if one is given).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DebugSettings {
    /// Bit n is set when group n of [`GROUPS`] is traced.
    pub mask: u32,
    /// `job:N`: once this job has started, counted from 0, trace only it.
    pub job_number: Option<u32>,
}

impl DebugSettings {
    /// Adds the groups of `--debug=list`; unknown ones are reported and skipped, as in fio. The line about the new
    /// setting goes to `stream`.
    pub fn add(&mut self, list: &str, stream: OutputStream, messages: &mut UserMessages) {
        let say = |messages: &mut UserMessages, text: String| messages.raw(stream, UserLine::named(text + "\n"));
        for group in list.split(',') {
            if group == "job" || group.starts_with("job:") {
                match group.strip_prefix("job:").and_then(|text| text.parse().ok()) {
                    Some(number) => {
                        self.job_number = Some(number);
                        say(messages, format!("set debug jobno {number}"));
                    }
                    None => messages.err(UserLine::named("missing job number")),
                }
            } else if group == "all" {
                self.mask = (1 << GROUPS.len()) - 1;
                say(messages, "set all debug options".to_owned());
            } else if let Some(index) = GROUPS.iter().position(|known| *known == group) {
                self.mask |= 1 << index;
                say(messages, format!("set debug option {group}"));
            } else {
                messages.err(UserLine::named(format!("debug mask {group} not found")));
            }
        }
        messages.traces_parse = self.has("parse");
    }

    pub fn has(&self, group: &str) -> bool {
        GROUPS.iter().position(|known| *known == group).is_some_and(|index| self.mask & (1 << index) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Expected values: lines as fio 3.41 prints them.
    #[test]
    fn groups_add_up() {
        let (mut settings, mut messages) = (DebugSettings::default(), UserMessages::new());
        settings.add("process,foo,io", OutputStream::Terminal, &mut messages);
        settings.add("job:3", OutputStream::Trace, &mut messages);
        settings.add("job", OutputStream::Trace, &mut messages);
        assert_eq!(settings, DebugSettings { mask: 0b101, job_number: Some(3) });
        let lines = messages.into_vec();
        assert_eq!(lines[0], (OutputStream::Terminal, UserLine::named("set debug option process\n")));
        assert_eq!(lines[1], (OutputStream::Stderr, UserLine::named("debug mask foo not found\n")));
        assert_eq!(lines[3], (OutputStream::Trace, UserLine::named("set debug jobno 3\n")));
        assert_eq!(lines[4], (OutputStream::Stderr, UserLine::named("missing job number\n")));
    }
}
