//! docs/findings/: one page per rule, and the list of them.
//!
//! Start reading at [`pages`].

use super::text::GENERATED;
use ferrio_insight::{FindingRule, SUBJECTS, all_rules};
use std::fmt::Write as _;

const INTRODUCTION: &str = "\
# Findings

After a run ferrio compares its figures with what the kernel has counted, and says where the evidence contradicts them.
`ferrio run` prints findings beneath its table, `ferrio check` finds what options and files alone show before a run, and every JSON
document has them under `ferrio.findings`. In the place of fio nothing is printed.

Behind its title a finding names the jobs that it is about, and the direction if it is about the figures of one direction only:
`(a, b: read)` is about the reads of two jobs, and their writes are not in doubt. In JSON `direction` is `read`, `write` (with its
syncs), `trim` or `none`.

A rule never guesses: where the evidence is missing there is no finding, and the report names what was not examined. Severities:
`wrong` (a figure is not what it says), `misleading` (a figure is right and easily taken for another), `note` (something to know).

| rule | severity | what it finds |
|---|---|---|
";

const EVIDENCE: &str = "
## Evidence that may be missing

Rules that are not in this table need only what every run has. Of the others the report says which could not look, and why
(`Not examined: ...`). The last column says what a user without rights does not see; reports of such runs name it.

| evidence | rules | not seen without root |
|---|---|---|
";

/// The list of all rules.
pub(super) fn index() -> String {
    let mut text = format!("<!-- {GENERATED} -->\n{INTRODUCTION}");
    for rule in all_rules() {
        // Infallible here and below: writing to a String never fails.
        let _ = writeln!(text, "| [{id}]({id}.md) | {} | {} |", rule.severity.word(), rule.title, id = rule.id);
    }
    text.push_str(EVIDENCE);
    for subject in SUBJECTS {
        let rules: Vec<String> = subject.rules().map(|rule| format!("[{id}]({id}.md)", id = rule.id)).collect();
        let without_root = if subject.without_root.is_empty() { "nothing" } else { subject.without_root };
        let _ = writeln!(text, "| {} | {} | {without_root} |", subject.name, rules.join(", "));
    }
    text
}

/// Path and text of the page of each rule.
pub(super) fn pages() -> impl Iterator<Item = (String, String)> {
    all_rules().map(|rule| (format!("docs/findings/{}.md", rule.id), page(rule)))
}

fn page(rule: &FindingRule) -> String {
    let FindingRule { id, title, severity, what, why, cure, yields_to, .. } = rule;
    let stronger: Vec<String> = yields_to.iter().map(|id| format!("[{id}]({id}.md)")).collect();
    let yields = if stronger.is_empty() {
        String::new()
    } else {
        format!(
            "\n## Where another finding says more\n\nNothing of this is reported for a job with one of these findings: {}.\n",
            stronger.join(", ")
        )
    };
    format!(
        "<!-- {GENERATED} -->\n# {title}\n\nRule `{id}`, severity `{}`.\n\n## What it looks at\n\n{what}\n\n## Why it matters\n\n\
         {why}\n\n## A run that gets it\n\n    {}\n\n## What to do\n\n{cure}\n{yields}",
        severity.word(),
        rule.command()
    )
}
