//! Nothing is accepted and then ignored: every field of a job's description is read by something that is not the parser.
//!
//! A field counts as read when `.field` occurs in code (not in tests) of another crate. That a field of the same name in
//! another type can hide an omission is accepted: the check costs nothing and has no false alarms.
//! Start reading at [`Fields`].

use super::Finding;
use super::source::Source;
use proc_macro2::TokenTree;
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

/// The file whose structs are the description of a job.
const SPEC_FILE: &str = "crates/job/src/spec.rs";
/// The crate that fills them, whose reading does not count.
const PARSER: &str = "crates/job/";

/// Fields that exist and names that are read, gathered file by file.
#[derive(Default)]
pub(super) struct Fields {
    declared: Vec<(String, usize)>,
    read: BTreeSet<String>,
}

impl Fields {
    /// Takes what a file declares or reads.
    pub(super) fn take(&mut self, source: &Source<'_>) {
        if source.path == SPEC_FILE {
            self.visit_file(&source.syntax);
        } else if source.path.starts_with("crates/")
            && source.path.contains("/src/")
            && !source.path.starts_with(PARSER)
        {
            self.take_reads(source);
        }
    }

    fn take_reads(&mut self, source: &Source<'_>) {
        let tests = source.test_lines();
        let is_module_of_tests = source.path.ends_with("/tests.rs") || source.path.contains("/tests/");
        if is_module_of_tests {
            return;
        }
        for pair in source.tokens.windows(2) {
            if let [TokenTree::Punct(dot), TokenTree::Ident(name)] = pair
                && dot.as_char() == '.'
                && !tests.contains(&name.span().start().line)
            {
                self.read.insert(name.to_string());
            }
        }
    }

    /// Fields that nothing reads.
    pub(super) fn unread(&self) -> impl Iterator<Item = Finding> {
        let unread = self.declared.iter().filter(|(name, _)| !self.read.contains(name));
        unread.map(|(name, line)| Finding {
            file: SPEC_FILE.to_owned(),
            what: "unread-field",
            line: *line,
            count: 1,
            message: format!("{name} is set by the parser, but nothing outside of it reads it"),
        })
    }
}

impl<'ast> Visit<'ast> for Fields {
    fn visit_field(&mut self, field: &'ast syn::Field) {
        if let Some(name) = &field.ident {
            self.declared.push((name.to_string(), name.span().start().line));
        }
        visit::visit_field(self, field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: &str = "pub struct A {\n    pub used: u32,\n    pub lost: u32,\n}\npub enum B { C { inner: u32 } }\n";

    fn unread(reader_path: &str, reader: &str) -> Vec<usize> {
        let mut fields = Fields::default();
        for (path, text) in [(SPEC_FILE, SPEC), (reader_path, reader)] {
            fields.take(&Source::parse(path, text).expect("the sample parses"));
        }
        fields.unread().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_field_that_nothing_reads_is_found() {
        assert_eq!(unread("crates/run/src/a.rs", "fn f(a: &A) -> u32 { a.used + a.b.inner }"), [3]);
    }

    #[test]
    fn the_parser_tests_and_words_do_not_count() {
        let all = "fn f(a: &A) { a.used; a.lost; a.inner; }";
        assert_eq!(unread("crates/run/src/a.rs", all), [0; 0]);
        assert_eq!(unread("crates/job/src/a.rs", all), [2, 3, 5]);
        assert_eq!(unread("crates/run/src/a/tests.rs", all), [2, 3, 5]);
        assert_eq!(unread("crates/run/tests/a.rs", all), [2, 3, 5]);
        assert_eq!(unread("crates/run/src/a.rs", &format!("#[cfg(test)]\nmod tests {{\n{all}\n}}")), [2, 3, 5]);
        assert_eq!(unread("crates/run/src/a.rs", "// a.used\nfn used() { lost(); }"), [2, 3, 5]);
    }
}
