//! `ferrio(1)`: commands, switches, options, words.

use super::roff::escape;
use crate::outputs::SECTIONS;
use crate::sections::sections;
use crate::text::{bounds, status_lines, syntax};
use crate::topics::TOPICS;
use ferrio_job::command_line::switches::SWITCHES;
use ferrio_job::options::definition::OptionDef;
use std::fmt::Write as _;

const BEGINNING: &str = r".SH NAME
ferrio \- flexible I/O tester, a drop-in replacement for fio
.SH SYNOPSIS
.B ferrio
.RI [ switches ]
.RI [ job\-options ]
.RI [ job\-file ...]
.br
.B ferrio
.I command
.RI [ arguments ]
.SH DESCRIPTION
.B ferrio
does I/O as job files or the command line describe it, and reports bandwidth, rates and latencies.
It takes the arguments and job files of fio 3.42 and writes its outputs.
Called by the name
.B fio
it behaves as that program does. Its own commands audit the figures: they say where the evidence contradicts one.
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
measures the disk under a directory with four tests on a new file, which it removes, and needs no other arguments.
";

const VALUES: &str = r".SH VALUES
Sizes and numbers take the suffixes k, m, g, t and p, powers of 1024.
Times take d, h, m, s, ms and us; without a suffix they count the unit that is named beside the option.
Where values for read, write and trim are allowed, one value is for all, two are for reads and for the rest.
";

const END: &str = r".SH EXIT STATUS
The number of jobs that failed or were killed, and one more where outputs or logs could not be opened or written; 128 more when
SIGINT or SIGTERM ended the run; modulo 256. 1 for errors in arguments or job files; 0 if all is well.
.PP
Native commands other than
.BR ferrio\-run (1):
0 if all is well; 1 for a finding or a difference that was asked to fail; 2 if the command could not do it; 3 if the results do not decide.
.BR ferrio\-run (1)
counts failed jobs, and ends with 2 if nothing could be run.
.SH SIGNALS
SIGINT and SIGTERM end all jobs and print the report. SIGUSR1 prints a report and lets the jobs go on.
.SH FILES
.TP
.I $XDG_STATE_HOME/ferrio
(by default
.IR ~/.local/state/ferrio )
has the runs that are kept, and the last run on each target, so that a run which reads the same blocks again is known.
FERRIO_STATE=off keeps nothing.
.SH ENVIRONMENT
.TP
.B FERRIO_KEEP
Keeps each run for
.BR ferrio\-history (1):
1, or a name.
.TP
.B FERRIO_STATE
The directory of what is kept, or off.
.TP
.B FERRIO_WEB_TOKEN
The token of ferrio run \-\-web.
.TP
.B NO_COLOR
Texts have no colours.
";

/// The page. `commands` describe the native commands.
pub(super) fn text(commands: &[clap::Command], version: &str) -> String {
    let mut text = format!(".TH FERRIO 1 \"\" \"ferrio {}\" \"User Commands\"\n{BEGINNING}", escape(version));
    push_commands(&mut text, commands);
    text.push_str(".SH SWITCHES\n");
    push_switches(&mut text);
    text.push_str(VALUES);
    text.push_str(".SH JOB OPTIONS\n");
    for section in sections() {
        // Infallible here and below: writing to a String never fails.
        let _ = writeln!(text, ".SS \"{}\"", escape(&section.title));
        for def in section.options {
            push_option(&mut text, def);
        }
    }
    push_words(&mut text);
    push_outputs(&mut text);
    text.push_str(END);
    push_see_also(&mut text, commands);
    text
}

fn push_commands(text: &mut String, commands: &[clap::Command]) {
    text.push_str(".SH COMMANDS\n");
    for command in commands {
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(text, ".TP\n.B {}\n{}.", escape(command.get_name()), escape(&about));
    }
}

fn push_words(text: &mut String) {
    text.push_str(".SH WORDS OF THE REPORTS\n");
    for topic in TOPICS {
        let _ = writeln!(text, ".SS \"{}: {}\"", escape(topic.name), escape(topic.meaning()));
        let paragraphs: Vec<String> = topic.paragraphs().map(|paragraph| escape(&paragraph.replace('`', ""))).collect();
        let _ = writeln!(text, "{}", paragraphs.join("\n.PP\n"));
    }
}

/// The lines of fio's outputs and their words.
fn push_outputs(text: &mut String) {
    text.push_str(".SH LINES OF FIO'S OUTPUTS\n");
    let plain = |markdown: &str| escape(&markdown.replace('`', ""));
    for section in SECTIONS {
        let _ = writeln!(text, ".SS \"{}: {}\"", escape(section.page.name), escape(section.page.meaning()));
        let paragraphs: Vec<String> = section.paragraphs().map(plain).collect();
        let _ = writeln!(text, "{}", paragraphs.join("\n.PP\n"));
        for entry in section.entries() {
            let _ = writeln!(text, ".TP\n\\fB{}\\fR\n{}", escape(&entry.words.join(", ")), plain(entry.text));
        }
    }
}

fn push_see_also(text: &mut String, commands: &[clap::Command]) {
    let names = commands.iter().map(|command| format!(".BR {} (1)", escape(&command.get_name().replace(' ', "-"))));
    let _ = writeln!(text, ".SH SEE ALSO\n{},\n.BR fio (1)", names.collect::<Vec<_>>().join(",\n"));
}

/// Switches; those that fio has withdrawn are left out.
fn push_switches(text: &mut String) {
    for switch in SWITCHES.iter().filter(|switch| !switch.help.is_empty()) {
        let planned = if switch.is_built() { "" } else { " (planned)" };
        let (long, help) = (escape(switch.shown), escape(&switch.help.join(" ")));
        let short = switch.short().map_or_else(String::new, |letter| format!(", \\fB\\-{letter}\\fR"));
        let _ = writeln!(text, ".TP\n\\fB\\-\\-{long}\\fR{short}\n{help}{planned}.");
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_lines_are_only_those_we_write() {
        let known = [".TH ", ".SH ", ".SS ", ".B ", ".BI ", ".BR ", ".I ", ".IR ", ".RB ", ".RI ", ".PP", ".TP", ".br"];
        let text = text(&[clap::Command::new("ferrio quick").about("Measure")], "1.2.3");
        for line in text.lines().filter(|line| line.starts_with('.') || line.starts_with('\'')) {
            assert!(known.iter().any(|request| line.starts_with(request)), "{line}");
        }
    }

    #[test]
    fn switches_commands_and_words_have_entries() {
        let text = text(&[clap::Command::new("ferrio quick").about("Measure a disk")], "1.2.3");
        for switch in SWITCHES {
            assert_eq!(text.contains(&escape(switch.shown)), !switch.help.is_empty(), "{}", switch.name);
        }
        assert!(text.contains("\n\\fB\\-\\-record=file\\fR\n") && !text.contains('\0'), "{text}");
        assert!(text.contains(".TP\n.B ferrio quick\nMeasure a disk.\n"), "{text}");
        assert!(text.contains(".SS \"clat: completion latency\"\n"), "{text}");
        assert!(text.contains(".TP\n\\fBctx\\fR\ncontext switches: "), "{text}");
    }
}
