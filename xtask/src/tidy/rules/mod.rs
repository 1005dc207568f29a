//! The rules for Rust files: one table, one function a rule.
//!
//! A new rule is one function plus one line in [`RULES`], with a test that shows a violation.

mod docs;
mod engines;
mod findings;
mod form;
mod lints;
mod outputs;
mod parts;
mod types;
mod unsafety;
mod words;

use super::Finding;
use super::source::Source;

/// A rule: returns its findings in one file.
type Rule = fn(&Source<'_>) -> Vec<Finding>;

const RULES: &[Rule] = &[
    docs::echoing_doc,
    engines::compared_name,
    findings::named_elsewhere,
    form::file_length,
    form::function_length,
    form::opening_doc,
    form::forbidden_macro,
    lints::lint_exception,
    outputs::opened_elsewhere,
    parts::misplaced_use,
    parts::command_in_command,
    types::wide_type,
    types::scattered_type,
    unsafety::forbid_attribute,
    unsafety::unsafe_place,
    unsafety::safety_comment,
    words::sentence,
    words::unnamed_subject,
];

/// Findings of all rules in a file.
pub(super) fn check(source: &Source<'_>) -> Vec<Finding> {
    RULES.iter().flat_map(|rule| rule(source)).collect()
}

#[cfg(test)]
fn lines_found(rule: Rule, path: &str, text: &str) -> Vec<usize> {
    let source = Source::parse(path, text).expect("the sample parses");
    rule(&source).iter().map(|finding| finding.line).collect()
}
