//! Every accepted option has an effect: each field of a job's description is read by code outside the parser.
//!
//! A field counts as read when `.field`, or a pattern with `field`, occurs in code (not in tests) that is not the parser's. That a
//! field of the same name in another type can hide an omission is accepted: the check costs nothing and has no false alarms.
//! Start reading at [`Fields`].

use super::Finding;
use super::source::Source;
use proc_macro2::TokenTree;
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

/// The crate whose structs are the description of a job.
const SPEC: &str = "crates/spec/src/";
/// The crate that fills them, whose reading does not count.
const PARSER: &str = "crates/job/";

/// Fields that exist and names that are read, gathered file by file.
#[derive(Default)]
pub(super) struct Fields {
    declared: Vec<Declared>,
    /// The file that is being read.
    file: String,
    read: BTreeSet<String>,
}

/// A field of the description.
struct Declared {
    name: String,
    file: String,
    line: usize,
}

impl Fields {
    /// Records the fields that a file declares or reads.
    pub(super) fn take(&mut self, source: &Source<'_>) {
        if source.path.starts_with(SPEC) {
            source.path.clone_into(&mut self.file);
            self.visit_file(&source.syntax);
        }
        if source.path.starts_with("crates/") && source.path.contains("/src/") && !source.path.starts_with(PARSER) {
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
        Patterns { tests: &tests, read: &mut self.read }.visit_file(&source.syntax);
    }

    /// Fields that nothing reads.
    pub(super) fn unread(&self) -> impl Iterator<Item = Finding> {
        let unread = self.declared.iter().filter(|field| !self.read.contains(&field.name));
        unread.map(|Declared { name, file, line }| Finding {
            file: file.clone(),
            what: "unread-field",
            line: *line,
            count: 1,
            message: format!("{name} is set by the parser, but nothing outside of it reads it"),
        })
    }
}

impl<'ast> Visit<'ast> for Fields {
    /// A type whose name ends in `Def` is the row of a table, and no part of a job.
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        if !item.ident.to_string().ends_with("Def") {
            visit::visit_item_struct(self, item);
        }
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if let Some(name) = &field.ident {
            let line = name.span().start().line;
            self.declared.push(Declared { name: name.to_string(), file: self.file.clone(), line });
        }
        visit::visit_field(self, field);
    }
}

/// Names of fields in patterns.
struct Patterns<'a> {
    tests: &'a BTreeSet<usize>,
    read: &'a mut BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Patterns<'_> {
    fn visit_field_pat(&mut self, field: &'ast syn::FieldPat) {
        if let syn::Member::Named(name) = &field.member
            && !self.tests.contains(&name.span().start().line)
            && !matches!(*field.pat, syn::Pat::Wild(_))
        {
            self.read.insert(name.to_string());
        }
        visit::visit_field_pat(self, field);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "pub struct A {\n    pub used: u32,\n    pub lost: u32,\n}\npub enum B { C { inner: u32 } }\npub struct RowDef { help: u32 }\n";

    fn unread(reader_path: &str, reader: &str) -> Vec<usize> {
        let mut fields = Fields::default();
        for (path, text) in [("crates/spec/src/a.rs", SAMPLE), (reader_path, reader)] {
            fields.take(&Source::parse(path, text).expect("the sample parses"));
        }
        fields.unread().map(|finding| finding.line).collect()
    }

    #[test]
    fn a_field_that_nothing_reads_is_found() {
        assert_eq!(unread("crates/run/src/a.rs", "fn f(a: &A) -> u32 { a.used + a.b.inner }"), [3]);
        assert_eq!(
            unread("crates/run/src/a.rs", "fn f(a: &A) { let B::C { inner } = b; let A { used: n, lost: _ } = a; }"),
            [3]
        );
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
