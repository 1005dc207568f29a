//! What job files may do beyond I/O on files of their directory: nothing, unless `--allow` permits it. Options on the command line are the
//! user's own.
//!
//! Must not know: which options do more than I/O. Start reading at [`Permits::refusal`].

use crate::ui::own_options;
use anyhow::anyhow;
use clap::Args;
use ferrio_job::beyond::{Beyond, BeyondKind};
use ferrio_job::changes::ReadonlyChange;
use ferrio_job::invocation::Invocation;
use ferrio_job::origin::Origin;
use std::ffi::OsString;
use std::fmt::Write as _;

/// The option, for messages.
pub(crate) const ALLOW: &str = "--allow";

// What job files may do.
#[derive(Debug, Args)]
pub(crate) struct AllowOptions {
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', value_parser = kind, help = "What job files may do beyond I/O on files below this directory: programs (run some, as exec_prerun does), libraries (load some, as ioengine=PATH does), outside (write to other files and to devices). Options on the command line need no permission")]
    allow: Vec<BeyondKind>,
}

fn kind(word: &str) -> anyhow::Result<BeyondKind> {
    let kind = BeyondKind::ALL.into_iter().find(|kind| kind.word() == word.trim());
    kind.ok_or_else(|| anyhow!("there are {}", BeyondKind::ALL.map(BeyondKind::word).join(", ")))
}

/// What stands above the changes that need no permission.
const CHANGES_HEADING: &str = "Beside the I/O, in this directory or on the machine (--readonly refuses it):\n";

/// The author of the command line, as opposed to that of the job files that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Author {
    User,
    /// It stands in a file too, such as the plan of a sweep.
    File,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Permits(Vec<BeyondKind>);

impl Permits {
    /// Takes `--allow` out of the arguments.
    ///
    /// # Errors
    /// It has no value, or an unknown one.
    pub(crate) fn take(words: &mut Vec<OsString>) -> anyhow::Result<Self> {
        own_options::take::<AllowOptions>(words).map(|options| Self(options.allow))
    }

    /// All is permitted, because it was looked at before.
    pub(crate) fn all() -> Self {
        Self(BeyondKind::ALL.to_vec())
    }

    /// True if something is permitted.
    pub(crate) fn are_some(&self) -> bool {
        !self.0.is_empty()
    }

    /// Why jobs are not run that do more than is permitted, one line for each option and one with the cure; `None`: they may run.
    pub(crate) fn refusal(&self, invocation: &Invocation, author: Author) -> Option<String> {
        let (lines, kinds) = self.refused(invocation, author)?;
        Some(format!("{lines}job files may not do that unasked: {ALLOW}={kinds} permits it for this run"))
    }

    /// A line for each option that is not permitted, and the words of what they do.
    fn refused(&self, invocation: &Invocation, author: Author) -> Option<(String, String)> {
        let beyond = invocation.beyond(|origin| *origin != Origin::CommandLine || author == Author::File);
        let refused: Vec<&Beyond> = not_here(&beyond).filter(|one| !self.0.contains(&one.kind)).collect();
        let kinds: Vec<&str> = BeyondKind::ALL
            .into_iter()
            .filter(|kind| refused.iter().any(|one| one.kind == *kind))
            .map(BeyondKind::word)
            .collect();
        let lines: String = refused.iter().map(|one| line(one) + "\n").collect();
        (!kinds.is_empty()).then(|| (lines, kinds.join(",")))
    }
}

/// Why a command line of fio with `--safe` is not run: its job files would do more than those of native commands may; `None`: it may run.
pub(crate) fn safe_refusal(invocation: &Invocation) -> Option<String> {
    if !invocation.is_safe {
        return None;
    }
    match Permits::default().refused(invocation, Author::User) {
        Some((lines, _)) => Some(lines + "with --safe job files may not do that: leave it out if you trust them"),
        None => readonly_refusal(invocation, Author::User),
    }
}

/// Why jobs are not run under `--readonly` that only read and change something nevertheless, a line for each option and one with the cure;
/// `None`: they may run.
pub(crate) fn readonly_refusal(invocation: &Invocation, author: Author) -> Option<String> {
    let lines: String = readonly_changes(invocation, author).map(|line| line + "\n").collect();
    let cure = "with --readonly job files may change nothing: give on the command line what you want to have";
    (!lines.is_empty()).then(|| lines + cure)
}

/// What job files change under `--readonly`, a line for each option.
pub(crate) fn readonly_changes(invocation: &Invocation, author: Author) -> impl Iterator<Item = String> {
    let changes = invocation
        .changes
        .iter()
        .filter(move |one| invocation.readonly && (one.origin != Origin::CommandLine || author == Author::File));
    changes.map(change_line)
}

fn change_line(one: &ReadonlyChange) -> String {
    format!("{}: {} {}", one.origin, one.option, one.deed)
}

/// What job files do beyond I/O on their targets: what stands on the command line is no news.
pub(crate) fn of_files(invocation: &Invocation) -> Vec<Beyond> {
    invocation.beyond(|origin| *origin != Origin::CommandLine)
}

/// What `ferrio check` says first of job files that do more than I/O on their targets; empty of others.
pub(crate) fn shown(beyond: &[Beyond], changes: &[ReadonlyChange]) -> String {
    let permitted = format!("Beyond I/O on files of this directory ({ALLOW} of ferrio run):\n");
    let beyond_lines: Vec<String> = not_here(beyond).map(line).collect();
    let change_lines = other_changes(beyond, changes).map(change_line).collect();
    let mut text = String::new();
    for (heading, lines) in [(permitted.as_str(), beyond_lines), (CHANGES_HEADING, change_lines)] {
        if !lines.is_empty() {
            text.push_str(heading);
            // Writing to a text cannot fail.
            for line in lines {
                _ = writeln!(text, "  {line}");
            }
            text.push('\n');
        }
    }
    text
}

/// What of the changes is no permission, and so not said there.
fn other_changes<'a>(beyond: &'a [Beyond], changes: &'a [ReadonlyChange]) -> impl Iterator<Item = &'a ReadonlyChange> {
    let is_other = |one: &&ReadonlyChange| {
        let is_said = not_here(beyond).any(|other| other.origin == one.origin && other.option == one.option);
        one.origin != Origin::CommandLine && !is_said
    };
    changes.iter().filter(is_other)
}

/// The same for programs: kind, place and option.
pub(crate) fn listed(beyond: &[Beyond]) -> serde_json::Value {
    let one = |one: &Beyond| serde_json::json!({ "kind": one.kind.word(), "place": one.origin.to_string(), "option": one.option });
    not_here(beyond).map(one).collect()
}

/// The other changes for programs: place, option and what it does.
pub(crate) fn listed_changes(beyond: &[Beyond], changes: &[ReadonlyChange]) -> serde_json::Value {
    let one = |one: &ReadonlyChange| serde_json::json!({ "place": one.origin.to_string(), "option": one.option, "does": one.deed });
    other_changes(beyond, changes).map(one).collect()
}

fn line(one: &Beyond) -> String {
    format!("{}: {} {}", one.origin, one.option, one.kind.deed())
}

/// Without what is written below this directory, by a path from the root.
fn not_here(beyond: &[Beyond]) -> impl Iterator<Item = &Beyond> {
    let here = std::env::current_dir().ok();
    beyond.iter().filter(move |one| !here.as_ref().is_some_and(|here| one.is_within(here)))
}
