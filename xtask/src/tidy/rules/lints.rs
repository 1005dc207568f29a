//! Lints that are switched off in the code: each one is counted, by crate, so that code may move between its files.

use super::super::Finding;
use super::super::source::Source;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{Attribute, Meta, Token};

/// `unsafe_code` marks the modules that may contain unsafe code; the rules of `unsafety` check it.
const STRUCTURAL: &str = "unsafe_code";

/// Lints that integration tests may allow for helper functions; `clippy.toml` allows them in test functions.
const ALLOWED_IN_TESTS: &[&str] = &["clippy::unwrap_used", "clippy::print_stdout", "clippy::print_stderr"];

/// Every lint named in an `allow` or `expect`, also below `cfg_attr`.
pub(super) fn lint_exception(source: &Source<'_>) -> Vec<Finding> {
    let mut collector = Collector(Vec::new());
    collector.visit_file(&source.syntax);
    let is_test = source.path.contains("/tests/");
    let named = collector.0.into_iter().filter(|(_, lint)| !(is_test && ALLOWED_IN_TESTS.contains(&lint.as_str())));
    named
        .map(|(line, lint)| Finding {
            file: source.crate_directory(),
            what: "lint-exception",
            line,
            count: 1,
            message: format!("{lint} is switched off in {}", source.path),
        })
        .collect()
}

struct Collector(Vec<(usize, String)>);

impl<'ast> Visit<'ast> for Collector {
    fn visit_attribute(&mut self, node: &'ast Attribute) {
        self.take(&node.meta);
        visit::visit_attribute(self, node);
    }
}

impl Collector {
    fn take(&mut self, meta: &Meta) {
        let Meta::List(list) = meta else { return };
        let inner = || list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).unwrap_or_default();
        if meta.path().is_ident("cfg_attr") {
            inner().iter().skip(1).for_each(|attribute| self.take(attribute));
        } else if meta.path().is_ident("allow") || meta.path().is_ident("expect") {
            for lint in inner() {
                let Meta::Path(path) = lint else { continue };
                let name = path.segments.iter().map(|part| part.ident.to_string()).collect::<Vec<_>>().join("::");
                if name != STRUCTURAL {
                    self.0.push((list.delimiter.span().open().start().line, name));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines_found;
    use super::*;

    #[test]
    fn each_lint_counts_once() {
        let text = "#![allow(dead_code)]\n#[expect(clippy::a, clippy::b, reason = \"r\")]\nfn a() {}\n";
        assert_eq!(lines_found(lint_exception, "crates/x/src/a.rs", text), [1, 2, 2]);
    }

    #[test]
    fn attributes_of_statements_and_below_cfg_attr_count() {
        let text = "fn a() {\n    #[allow(unused)]\n    let b = 1;\n}\n#[cfg_attr(test, allow(unused))]\nfn c() {}\n";
        assert_eq!(lines_found(lint_exception, "crates/x/src/a.rs", text), [2, 5]);
    }

    #[test]
    fn the_place_of_unsafe_code_is_another_rule() {
        let text = "#![expect(unsafe_code, reason = \"maps a ring\")]\n";
        assert_eq!(lines_found(lint_exception, "crates/engine/src/a.rs", text), [0; 0]);
    }

    #[test]
    fn integration_tests_may_print_and_unwrap() {
        let text = "#![expect(clippy::unwrap_used, clippy::print_stderr, clippy::a, reason = \"tests\")]\n";
        assert_eq!(lines_found(lint_exception, "crates/x/tests/a.rs", text), [1]);
        assert_eq!(lines_found(lint_exception, "crates/x/src/a.rs", text), [1, 1, 1]);
    }

    #[test]
    fn the_count_is_kept_by_crate() {
        let source = Source::parse("crates/x/src/deep/a.rs", "#[allow(unused)]\nfn a() {}").expect("parses");
        assert_eq!(lint_exception(&source)[0].file, "crates/x");
    }
}
