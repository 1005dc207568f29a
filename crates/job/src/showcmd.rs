//! `--showcmd`: a job file written as the command line that means the same.
//!
//! Must not know: the meaning of options.

/// A command line being written.
#[derive(Debug, Clone)]
pub struct CommandLine {
    text: String,
    has_job: bool,
}

impl CommandLine {
    /// Only the program.
    pub fn new() -> Self {
        Self { text: "fio ".to_owned(), has_job: false }
    }

    /// Adds a section with its options, canonical name and text. Defaults that follow a job need a name of their own:
    /// without it they would belong to that job.
    pub fn section(&mut self, is_global: bool, name: &str, options: &[(String, String)]) {
        if !is_global || (self.has_job && !options.is_empty()) {
            self.push("name", if is_global { "global" } else { name });
        }
        self.has_job |= !is_global;
        for (name, value) in options {
            self.push(name, value);
        }
    }

    /// The whole line, with its end.
    pub fn finish(mut self) -> String {
        self.text.push('\n');
        self.text
    }

    fn push(&mut self, name: &str, value: &str) {
        let quoted = match (name, value) {
            (_, "") => String::new(),
            ("description", _) if !value.contains(['"', '$', '`', '\\']) => format!("=\"{value}\""),
            _ if is_plain(value) => format!("={value}"),
            _ => format!("='{}'", value.replace('\'', "'\\''")),
        };
        self.text.extend([format!("--{name}{quoted} ")]);
    }
}

impl Default for CommandLine {
    fn default() -> Self {
        Self::new()
    }
}

/// True when the text needs no quotes in a shell.
fn is_plain(value: &str) -> bool {
    value.chars().all(|symbol| symbol.is_alphanumeric() || "_-+=%^.,:/@~".contains(symbol)) && !value.starts_with('~')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    // Expected value: the line that fio prints for the same file.
    #[test]
    fn sections_become_options() {
        let mut line = CommandLine::new();
        line.section(true, "global", &options(&[("ioengine", "psync"), ("size", "1m"), ("bs", "64k")]));
        line.section(false, "writer", &options(&[("rw", "write")]));
        line.section(false, "reader", &options(&[("stonewall", ""), ("rw", "read"), ("numjobs", "2")]));
        let expected = "fio --ioengine=psync --size=1m --bs=64k --name=writer --rw=write --name=reader --stonewall \
                        --rw=read --numjobs=2 \n";
        assert_eq!(line.finish(), expected);
    }

    #[test]
    fn values_are_quoted_where_a_shell_would_change_them() {
        for (name, value, expected) in [
            ("description", "hello world", "--description=\"hello world\" "),
            ("description", "a\"b", "--description='a\"b' "),
            ("filename", "a b", "--filename='a b' "),
            ("filename", "it's", "--filename='it'\\''s' "),
            ("filename", "/dev/nvme0n1:/x", "--filename=/dev/nvme0n1:/x "),
            ("bs", " 4k", "--bs=' 4k' "),
            ("thread", "", "--thread "),
        ] {
            let mut line = CommandLine { text: String::new(), has_job: false };
            line.push(name, value);
            assert_eq!(line.text, expected);
        }
    }

    #[test]
    fn later_defaults_do_not_fall_to_the_job_before() {
        let mut line = CommandLine::new();
        line.section(false, "a", &[]);
        line.section(true, "global", &options(&[("rw", "write")]));
        line.section(false, "b", &[]);
        assert_eq!(line.finish(), "fio --name=a --name=global --rw=write --name=b \n");
    }
}
