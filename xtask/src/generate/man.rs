//! docs/ferrio.1: the manual page.

use super::sections::sections;
use super::text::{GENERATED, bounds, status_lines, syntax};
use ferrio_job::options::definition::OptionDef;
use std::fmt::Write as _;

const BEGINNING: &str = r#".TH FERRIO 1 "" "ferrio" "User Commands"
.SH NAME
ferrio \- flexible I/O tester
.SH SYNOPSIS
.B ferrio
.RI [ switches ]
.RI [ job-options ]
.RI [ job-file ...]
.br
.B ferrio quick
.RI [ options ]
.RI [ directory ]
.br
.B ferrio verify \-\-after\-crash
.RI [ switches ]
.RI [ job-options ]
.RI [ job-file ...]
.br
.B ferrio help
.RI [ command ]
.SH DESCRIPTION
.B ferrio
does I/O as job files or the command line describe it, and reports bandwidth, rates and latencies.
It takes the arguments and job files of fio 3.42 and writes its outputs.
Called by the name
.B fio
it behaves as that program does.
.PP
A job is begun by
.BI \-\-name= NAME
on the command line, or by a section
.RI [ NAME ]
of a job file. Options before the first job, or in a section
.RB [ global ],
hold for all jobs that follow. A job writes over what it writes to: a device named by
.B filename
loses its contents when the job writes or trims.
.PP
.B ferrio quick
measures the disk under a directory with four tests on a new file, which it removes, and needs no other arguments;
.B ferrio quick \-\-help
explains it.
.PP
.B ferrio verify \-\-after\-crash
reads the journal that a job kept (verify_crash_log) and its files after a power cut, and says whether all that was synced is
there.
"#;

const VALUES: &str = r".SH VALUES
Sizes and numbers take the suffixes k, m, g, t and p, powers of 1024.
Times take d, h, m, s, ms and us; without a suffix they count the unit that is named beside the option.
Where values for read, write and trim are allowed, one value is for all, two are for reads and for the rest.
";

const END: &str = r".SH EXIT STATUS
The number of jobs that failed or were killed, and one more where outputs or logs could not be opened or written; 128 more when
SIGINT or SIGTERM ended the run; modulo 256. 1 for errors in arguments or job files; 0 when all is well.
.SH SIGNALS
SIGINT and SIGTERM end all jobs and print the report. SIGUSR1 prints a report and lets the jobs go on.
.SH FILES
The documents CONFORMANCE.md and docs/options.md of the source say what works and what every option means.
.SH SEE ALSO
.BR fio (1)
";

/// The document.
pub(super) fn render() -> String {
    let mut text = format!(".\\\" {GENERATED}\n{BEGINNING}");
    text.push_str(".SH SWITCHES\n");
    super::switches::push_man(&mut text);
    text.push_str(VALUES);
    text.push_str(".SH JOB OPTIONS\n");
    for section in sections() {
        // Infallible here and below: writing to a String never fails.
        let _ = writeln!(text, ".SS \"{}\"", escape(&section.title));
        for def in section.options {
            push_option(&mut text, def);
        }
    }
    text.push_str(END);
    text
}

fn push_option(text: &mut String, def: &OptionDef) {
    let names: Vec<String> = def.names().map(|name| format!("\\fB{}\\fR", escape(name))).collect();
    let _ = write!(text, ".TP\n{}\n{}.", names.join(", "), escape(def.help.trim_end_matches('.')));
    text.push('\n');
    if !def.long_help.is_empty() {
        let _ = writeln!(text, "{}", escape(def.long_help.trim()));
    }
    let _ = writeln!(text, ".br\n{}", escape(&value_sentence(def)));
    if let Some(words) = words(def) {
        let _ = writeln!(text, "{}", escape(&words));
    }
    for line in status_lines(def.status) {
        let _ = writeln!(text, "{}", escape(&line));
    }
}

fn value_sentence(def: &OptionDef) -> String {
    let range = Some(bounds(def.kind)).filter(|range| !range.is_empty()).map(|range| format!("; {range}"));
    let default = def.default.map(|default| format!("; default {default}"));
    format!("Value: {}{}{}.", syntax(def.kind), range.unwrap_or_default(), default.unwrap_or_default())
}

fn words(def: &OptionDef) -> Option<String> {
    let choices = def.kind.choices().filter(|choices| !choices.is_empty())?;
    Some(format!("Words: {}.", choices.iter().map(|choice| choice.word).collect::<Vec<_>>().join(", ")))
}

/// Escapes characters that have a meaning in roff: backslashes, hyphens, and a control character at the start of a
/// line.
pub(super) fn escape(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-");
    let lines: Vec<String> = escaped.lines().map(|line| protect_start(line.trim_start())).collect();
    lines.join("\n")
}

fn protect_start(line: &str) -> String {
    if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roff_reads_nothing_of_ours_as_its_own() {
        assert_eq!(escape("a-b\\c"), "a\\-b\\ec");
        assert_eq!(escape(".x\n'y\n z"), "\\&.x\n\\&'y\nz");
    }

    #[test]
    fn control_lines_are_only_those_we_write() {
        let known = [".TH ", ".SH ", ".SS ", ".B ", ".BI ", ".BR ", ".RB ", ".RI ", ".PP", ".TP", ".br", ".\\\" "];
        let text = render();
        for line in text.lines().filter(|line| line.starts_with('.') || line.starts_with('\'')) {
            assert!(known.iter().any(|request| line.starts_with(request)), "{line}");
        }
    }
}
