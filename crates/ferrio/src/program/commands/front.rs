//! The page of `ferrio` and `ferrio help`, and the error for an unknown command.
//!
//! Must not know: the effect of commands, the list of switches. Start reading at [`page`].

use crate::COMMANDS;
use crate::ui::console::Console;
use crate::ui::exit::Exit;
use anyhow::anyhow;
use ferrio_formats::native::{TEXT_WIDTH, wrap};
use ferrio_insight::{FindingRule, all_rules};
use ferrio_job::help::options::option_details;
use ferrio_job::suggest::did_you_mean;
use ferrio_manual::outputs::{self, SECTIONS};
use ferrio_manual::topics::{self, TOPICS};
use ferrio_units::Wording;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

/// Explanation of its use in place of fio.
const AS_FIO: &str = "\
In place of fio, with its job files, options and outputs:
  ferrio JOBFILE...
  ferrio --name=NAME --filename=FILE --rw=randread --size=1g --runtime=10 ...
  ferrio --cmdhelp[=OPTION]              the options of jobs, or one of them
  ferrio --enghelp[=ENGINE[,OPTION]]     the engines, or one of them
  ferrio --help                          this page and all switches

Words of the reports: ferrio help TOPIC
";
/// What stands above the sections about fio's outputs.
const LINES_OF_FIO: &str = "\
Lines of fio's outputs, and any word of them (ctx, \"IO depths\", rwts):
ferrio help LINE|WORD
";

/// The command `ferrio help`, for manual page and completions.
pub(crate) fn describe() -> clap::Command {
    let words =
        clap::Arg::new("words").value_name("COMMAND|TOPIC|OPTION|FINDING").num_args(0..).value_parser(help_words());
    clap::Command::new("ferrio help")
        .bin_name("ferrio help")
        .about("Explain a command, a word of the reports, an option or a finding")
        .arg(words.help("What is explained; without it, all commands are listed").hide_possible_values(true))
        .after_help("Exit code: 0; 2 where there is nothing of that name.")
}

/// What a shell may offer: commands, topics and findings.
fn help_words() -> Vec<&'static str> {
    let topics = TOPICS.iter().map(|topic| topic.name).chain(SECTIONS.iter().map(|section| section.page.name));
    COMMANDS.iter().map(|command| command.name).chain(topics).chain(all_rules().map(|rule| rule.id)).collect()
}

/// The page: the native commands first.
pub(crate) fn page() -> String {
    let mut text = format!("ferrio {}: measures storage\n\nCommands:\n", env!("CARGO_PKG_VERSION"));
    for command in COMMANDS {
        // A string takes everything.
        let _ = writeln!(text, "  {:<37}  {}", command.usage, command.summary);
    }
    text + "\n" + AS_FIO + &topics::list() + "\n" + LINES_OF_FIO + &outputs::list()
}

/// `ferrio help`: the page, the help of a command, a topic, or an option of jobs.
pub(crate) fn help(arguments: &[OsString]) -> ExitCode {
    let Some(wanted) = arguments.get(1).filter(|word| *word != "--help" && *word != "-h") else {
        Console::standard().info(&page());
        return ExitCode::SUCCESS;
    };
    if let Some(command) = COMMANDS.iter().find(|command| wanted == command.name && command.name != "help") {
        return (command.run)(&[wanted.clone(), OsString::from("--help")]);
    }
    // A topic or a line of an output may have several words.
    let words: Vec<&str> = arguments[1..].iter().map(|word| word.to_str().unwrap_or_default()).collect();
    match answer(&words.join(" ")) {
        Ok(text) => {
            Console::standard().info(&text);
            ExitCode::SUCCESS
        }
        Err(complaint) => {
            Console::standard().error(&complaint.to_string());
            Exit::Failed.into()
        }
    }
}

/// The text about a topic or an option.
///
/// # Errors
/// There is none of that name; the text names near ones.
fn answer(name: &str) -> anyhow::Result<String> {
    let option = || option_details(name.trim_start_matches('-'), Wording::Fio);
    if let Some(text) = outputs::explain(name, TEXT_WIDTH) {
        let is_topic = topics::find(name).is_some();
        return Ok(match option() {
            Some(_) if is_topic => format!("{text}\nThe option of this name: ferrio help --{name}\n"),
            Some(details) => format!("{text}\nThe option of this name:\n{details}"),
            None => text,
        });
    }
    if let Some(rule) = all_rules().find(|rule| rule.id == name).or_else(|| rule_of_title(name)) {
        return Ok(finding(rule));
    }
    if let Some(text) = option().or_else(|| outputs::explain_copied(name, TEXT_WIDTH)) {
        return Ok(text);
    }
    let names = COMMANDS.iter().map(|command| command.name);
    let names = names.chain(TOPICS.iter().flat_map(|topic| topic.aliases.iter().copied().chain([topic.name])));
    let names = names.chain(SECTIONS.iter().map(|section| section.page.name)).chain(all_rules().map(|rule| rule.id));
    let mut text = format!("ferrio help: there is no command, topic, option or finding {name}");
    let mentions = mentions(name);
    if mentions.is_empty() {
        let near = did_you_mean(name, names);
        text += &near.map_or_else(|| "\n".to_owned(), |near| format!("; did you mean ferrio help {near}?\n"));
    } else {
        text += "; these texts speak of it:\n";
        for (topic, meaning) in mentions {
            // Infallible: writing to a String never fails.
            let _ = writeln!(text, "  ferrio help {topic:<24}  {meaning}");
        }
    }
    Err(anyhow!("{text}\nferrio help: all commands and words\n"))
}

/// The rule of a finding as a report shows it: `WRONG: The device did less than the jobs (a: read)`.
fn rule_of_title(text: &str) -> Option<&'static FindingRule> {
    let shown = text.split_once(": ").filter(|(word, _)| word.bytes().all(|byte| byte.is_ascii_uppercase()));
    let title = shown.map_or(text, |(_, title)| title).to_ascii_lowercase();
    all_rules().find(|rule| {
        let rest = title.strip_prefix(&rule.title.to_ascii_lowercase());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("))
    })
}

/// Most texts that are named for a word.
const MOST_MENTIONS: usize = 6;
/// A shorter word is in many texts.
const SHORTEST_WORD: usize = 3;

/// Topics and findings whose text has a word, with their meaning.
fn mentions(word: &str) -> Vec<(&'static str, &'static str)> {
    let wanted = word.to_lowercase();
    if wanted.chars().count() < SHORTEST_WORD {
        return Vec::new();
    }
    let has_word = |text: &str| {
        let text = text.to_lowercase();
        let mut found = text.match_indices(&wanted);
        found.any(|(at, _)| {
            let is_bound = |character: Option<char>| character.is_none_or(|character| !character.is_alphanumeric());
            is_bound(text[..at].chars().next_back()) && is_bound(text[at + wanted.len()..].chars().next())
        })
    };
    let topics =
        TOPICS.iter().filter(|topic| has_word(&topic.text(TEXT_WIDTH))).map(|topic| (topic.name, topic.meaning()));
    let rules = all_rules().filter(|rule| has_word(rule.title) || has_word(rule.what) || has_word(rule.why));
    topics.chain(rules.map(|rule| (rule.id, rule.title))).take(MOST_MENTIONS).collect()
}

fn finding(rule: &FindingRule) -> String {
    let mut text = format!("{}: {}\n", rule.id, rule.title);
    let example = rule.command();
    for (heading, paragraph) in [
        ("What it looks at", rule.what),
        ("Why it matters", rule.why),
        ("A run that gets it", &example),
        ("What to do", rule.cure),
    ] {
        // Infallible: writing to a String never fails.
        let _ = write!(text, "\n{heading}:\n{}", wrap(&paragraph.replace('`', ""), "  ", TEXT_WIDTH));
    }
    text
}

/// The complaint about a first argument that looks like a command, and is neither one nor a file.
pub(crate) fn no_command(arguments: &[OsString]) -> Option<String> {
    let word = arguments.get(1).filter(|word| is_word(word) && !Path::new(word).exists())?.to_str()?;
    let near = did_you_mean(word, COMMANDS.iter().map(|command| command.name));
    let meant = near.map_or_else(|| format!("\n{}", page()), |near| format!("did you mean ferrio {near}?\n"));
    Some(format!("ferrio: {word} is neither a command nor a job file; {meant}"))
}

/// Letters and dashes alone, which job files seldom have for a name.
fn is_word(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.iter().all(|byte| byte.is_ascii_alphabetic() || *byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(words: &[&str]) -> Option<String> {
        no_command(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn commands_come_before_what_fio_has() {
        let page = page();
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}: {page}"));
        for command in COMMANDS {
            assert!(place(command.usage) < place("In place of fio"), "{page}");
        }
        assert!(page.lines().all(|line| line.len() <= 80), "{page}");
    }

    /// A command has its own help under its name, so a topic of that name could not be read.
    #[test]
    fn no_topic_has_the_name_of_a_command() {
        for topic in TOPICS {
            let names = [&[topic.name], topic.aliases].concat();
            let shadowed = COMMANDS.iter().find(|command| names.contains(&command.name));
            assert_eq!(shadowed.map(|command| command.name), None);
        }
    }

    #[test]
    fn topics_and_options_are_explained() {
        assert!(answer("clat").unwrap().starts_with("clat: completion latency\n"));
        assert!(answer("steady state").unwrap().starts_with("steady-state: "));
        // An option that is no topic.
        for name in ["numjobs", "--numjobs"] {
            assert!(answer(name).unwrap().contains("             numjobs: "), "{name}");
        }
        let complaint = answer("percentlie").unwrap_err();
        assert!(complaint.to_string().contains("; did you mean ferrio help percentile?\n"), "{complaint}");
        let unknown = "ferrio help: there is no command, topic, option or finding zzzzzzzz\n\nferrio help: all commands and words\n";
        assert_eq!(answer("zzzzzzzz").unwrap_err().to_string(), unknown);
        assert!(page().contains("clat") && page().contains("steady-state"));
    }

    /// Expected: the fields of a line of an output, and the reference's numbers of terse fields.
    #[test]
    fn words_and_lines_of_fio_are_explained() {
        for (words, part) in [
            ("ctx", "context switches: "),
            ("IO depths", "io-depths: how many I/Os were in flight"),
            ("issued rwts", "reads, writes, trims, syncs"),
            ("Run status group 0 (all jobs):", "run-status-group: "),
            ("terse", "\n46       47       47       53       write KiB moved\n"),
            ("logs", "time, value, direction, block size"),
        ] {
            assert!(answer(words).is_ok_and(|text| text.contains(part)), "{words}");
        }
        assert!(page().contains("disk-stats") && help_words().contains(&"logs"));
    }

    /// A report and an option share some names.
    #[test]
    fn an_option_with_the_name_of_a_word_is_named() {
        let shown = answer("rw").unwrap();
        assert!(
            shown.starts_with("In start-line ") && shown.contains(&option_details("rw", Wording::Fio).unwrap()),
            "{shown}"
        );
        assert!(answer("runtime").unwrap().ends_with("\nThe option of this name: ferrio help --runtime\n"));
        assert_eq!(answer("--runtime").ok(), option_details("runtime", Wording::Fio));
    }

    /// The line that a report shows is what a reader copies.
    #[test]
    fn a_finding_is_found_by_its_title() {
        let rule = all_rules().find(|rule| rule.id == "device-did-less").unwrap();
        for shown in ["WRONG: The device did less than the jobs (a: read)", "the device did less than the jobs"] {
            assert_eq!(answer(shown).expect("a finding"), finding(rule));
        }
        assert!(answer("The device did less than").is_err());
    }

    #[test]
    fn texts_that_speak_of_a_word_are_named() {
        let shown = answer("flushes").unwrap_err();
        assert!(shown.to_string().contains("finding flushes; these texts speak of it:\n  ferrio help "), "{shown}");
        assert!(mentions("in").is_empty() && mentions("allocat").is_empty(), "whole words of some length");
        assert!(mentions("the").len() == MOST_MENTIONS);
        for (name, _) in mentions("device") {
            assert!(answer(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn a_misspelt_command_is_told_with_the_nearest() {
        assert!(complaint(&["ferrio", "qick"]).unwrap().ends_with("; did you mean ferrio quick?\n"));
        assert!(complaint(&["ferrio", "verfy", "--after-crash"]).unwrap().contains("did you mean ferrio verify?"));
        let other = complaint(&["ferrio", "something"]).unwrap();
        assert!(!other.contains("did you mean") && other.contains("ferrio quick"), "{other}");
    }

    #[test]
    fn what_may_be_a_job_file_is_left_to_who_reads_it() {
        let there = std::env::current_dir().unwrap();
        assert!(there.join("src").exists(), "the tests run in the directory of the crate");
        for word in ["qick.fio", "./qick", "jobs/qick", "qick1", "-", "--name=x", "", "src"] {
            assert_eq!(complaint(&["ferrio", word]), None, "{word}");
        }
        assert_eq!(complaint(&["ferrio"]), None);
    }
}
