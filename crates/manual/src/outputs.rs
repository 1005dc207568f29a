//! The words of fio's outputs, line by line: report, progress line, terse, logs, JSON.
//!
//! Each section is a file of Markdown in `outputs/`, which is the source of `ferrio help WORD` and of the annotated report in
//! the book. Must not know: options, commands, how an output is written. Start reading at [`SECTIONS`] and [`explain`].

use crate::topics::{self, Topic};
use std::fmt::Write as _;

pub const JOB_FILE: &str = include_str!("../outputs/report.fio");
/// What ferrio printed in the place of fio, with `--eta=always --idle-prof=percpu`.
pub const REPORT: &str = include_str!("../outputs/report.txt");

/// A line of an output, or several that belong together.
#[derive(Debug)]
pub struct OutputSection {
    /// Its page; the other names are those with which its line begins, in small letters with dashes. Words have one line each in its
    /// file (``- `word`, `word`: text``).
    pub page: Topic,
    /// A part of the line of [`REPORT`] at which it begins; empty if it is not there.
    pub mark: &'static str,
}

/// Words that are explained together.
#[derive(Debug, Clone)]
pub struct OutputWords {
    pub words: Vec<&'static str>,
    /// Their meaning, as Markdown.
    pub text: &'static str,
}

/// A row of the table: the file has the name of the section.
macro_rules! section {
    ($name:literal, $mark:literal $(, $alias:literal)*) => {
        OutputSection {
            page: Topic {
                name: $name,
                aliases: &[$($alias),*],
                source: include_str!(concat!("../outputs/", $name, ".md")),
            },
            mark: $mark,
        }
    };
}

/// All sections, those of the report in its order.
pub const SECTIONS: &[OutputSection] = &[
    section!("start-line", "(g=0)"),
    section!("progress", "[m(2)]", "progress-line", "eta-line"),
    section!("job-line", "groupid="),
    section!("direction-line", "read: IOPS="),
    section!("latency-lines", "slat (usec)"),
    section!("percentile-lines", "clat percentiles"),
    section!("sample-lines", "bw (  KiB/s)"),
    section!("latency-buckets", "lat (usec)   :"),
    section!("sync-lines", "fsync/fdatasync", "fsync/fdatasync/sync-file-range/syncfs", "syncfs"),
    section!("cpu-line", "cpu  ", "cpu"),
    section!("io-depths", "IO depths"),
    section!("issued-rwts", "issued rwts"),
    section!("errors-line", "errors  ", "errors"),
    section!("latency-target", "latency   :", "latency"),
    section!("steadystate-line", "steadystate  :", "steadystate"),
    section!("run-status-group", "Run status group"),
    section!("disk-stats", "Disk stats"),
    section!("cpu-idleness", "CPU idleness"),
    section!("block-lifetime", "", "block-lifetime-percentiles"),
    section!("units", "", "unit"),
    section!("terse", "", "minimal"),
    section!("logs", "", "log", "log-columns"),
    section!("json-keys", "", "json-key", "keys"),
];

impl OutputSection {
    /// What holds for the whole of it, in paragraphs of Markdown.
    pub fn paragraphs(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.page.source.lines().skip(1).filter(|line| !line.is_empty() && !line.starts_with("- "))
    }

    pub fn entries(&self) -> impl Iterator<Item = OutputWords> + use<> {
        self.page.source.lines().filter_map(entry)
    }

    /// The whole section as text, in lines of at most `width` columns, without a line break at its end.
    pub fn text(&self, width: usize) -> String {
        let mut text = format!("{}: {}", self.page.name, self.page.meaning());
        for paragraph in self.paragraphs() {
            // Infallible here and below: writing to a String never fails.
            let _ = write!(text, "\n\n{}", textwrap::fill(&plain(paragraph), width));
        }
        text.push('\n');
        for entry in self.entries() {
            let _ = write!(text, "\n{}", entry.lines(width));
        }
        if self.page.name == "terse" {
            text = format!("{text}\n{}", crate::terse::table());
        }
        text.trim_end().to_owned()
    }

    fn has_name(&self, name: &str) -> bool {
        let name = normal(name);
        self.page.name == name || self.page.aliases.contains(&name.as_str())
    }

    fn entry_of(&self, name: &str) -> Option<OutputWords> {
        self.entries().find(|entry| entry.words.iter().any(|word| normal(word) == normal(name)))
    }

    /// The line of [`REPORT`] at which it begins, from 0.
    pub fn line_of_report(&self) -> Option<usize> {
        REPORT.lines().position(|line| !self.mark.is_empty() && line.contains(self.mark))
    }
}

impl OutputWords {
    /// The words and their meaning, indented, in lines of at most `width` columns.
    fn lines(&self, width: usize) -> String {
        let text = format!("{}: {}", self.words.join(", "), plain(self.text));
        textwrap::fill(&text, textwrap::Options::new(width).initial_indent("  ").subsequent_indent("      "))
    }
}

/// The words of a line ``- `word`, `word`: text``; `None` if it is no such line.
fn entry(line: &'static str) -> Option<OutputWords> {
    let (words, text) = line.strip_prefix("- `")?.split_once("`: ")?;
    Some(OutputWords { words: words.split("`, `").collect(), text })
}

fn plain(markdown: &str) -> String {
    markdown.replace('`', "")
}

/// The explanation of a word or a line of the outputs by its name (`ctx`, `IO depths`, `issued rwts`): the topic of that name, the
/// section, and the words of other sections. Lines have at most `width` columns, with a line break at the end of each. `None` if
/// nothing has that name.
pub fn explain(name: &str, width: usize) -> Option<String> {
    let topic = topics::find(name).map(|topic| topic.text(width));
    let (here, others): (Vec<&OutputSection>, Vec<&OutputSection>) =
        SECTIONS.iter().partition(|section| section.has_name(name));
    let whole = here.into_iter().map(|section| section.text(width));
    let words = others.into_iter().filter_map(|section| {
        let place = textwrap::fill(&format!("In {} ({}):", section.page.name, section.page.meaning()), width);
        Some(format!("{place}\n{}", section.entry_of(name)?.lines(width)))
    });
    let parts: Vec<String> = topic.into_iter().chain(whole).chain(words).collect();
    (!parts.is_empty()).then(|| parts.join("\n\n") + "\n")
}

/// The explanation of a word as it was copied from an output, with what stands beside it there: a value, brackets, a colon, numbers
/// (`err= 0`, `lat (usec)   :`, `Run status group 0 (all jobs):`, `99.00th=[ 4015]`). Otherwise as [`explain`].
pub fn explain_copied(text: &str, width: usize) -> Option<String> {
    copied_names(text).iter().find_map(|name| explain(name, width))
}

/// The names that a copied text may mean, the longest first.
fn copied_names(text: &str) -> Vec<String> {
    let text = text.trim();
    // `>=64` is a label.
    let value_at = text.match_indices('=').map(|(at, _)| at).find(|at| *at > 0 && !text[..*at].ends_with('>'));
    let before_value = value_at.map_or(text, |at| &text[..at]);
    let label = before_value.trim_end_matches([' ', ':', ',']).trim_start_matches(['[', '(', '|', ' ']);
    let without_brackets = label.split('(').next().unwrap_or_default().trim_end_matches([' ', ':', ']', ')']);
    let without_numbers =
        without_brackets.trim_matches(|character: char| character.is_ascii_digit() || ". %/".contains(character));
    let before_numbers =
        without_brackets.split(|character: char| character.is_ascii_digit()).next().unwrap_or_default();
    let with_equals = value_at.map(|_| format!("{label}="));
    let mut names = Vec::new();
    for name in with_equals
        .into_iter()
        .chain([label, without_brackets, without_numbers, before_numbers.trim()].map(str::to_owned))
    {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The names of all sections, as lines of a page.
pub fn list() -> String {
    topics::name_lines(SECTIONS.iter().map(|section| section.page.name))
}

/// Small letters, with dashes between words. A letter of the progress line is another word than its capital.
fn normal(name: &str) -> String {
    if name.chars().count() == 1 { name.to_owned() } else { name.to_ascii_lowercase().replace([' ', '_'], "-") }
}

#[cfg(test)]
mod tests;
