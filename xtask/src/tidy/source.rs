//! A Rust file, read once for all rules: lines, tokens, syntax tree.
//!
//! Must not know: the rules.

use super::Finding;
use anyhow::Result;
use proc_macro2::{Ident, TokenStream, TokenTree};
use std::collections::BTreeSet;

/// A parsed file.
pub(super) struct Source<'a> {
    /// Path from the root of the repository, with `/`.
    pub(super) path: &'a str,
    /// Its lines; line `n` of a span is `lines[n - 1]`.
    pub(super) lines: Vec<&'a str>,
    /// All tokens, groups flattened, comments gone, bodies of macros included.
    pub(super) tokens: Vec<TokenTree>,
    pub(super) syntax: syn::File,
}

impl<'a> Source<'a> {
    pub(super) fn parse(path: &'a str, text: &'a str) -> Result<Self> {
        let stream: TokenStream = text.parse().map_err(|error| anyhow::anyhow!("{error}"))?;
        let mut tokens = Vec::new();
        flatten(stream.clone(), &mut tokens);
        Ok(Self { path, lines: text.lines().collect(), tokens, syntax: syn::parse2(stream)? })
    }

    pub(super) fn finding(&self, what: &'static str, line: usize, count: usize, message: String) -> Finding {
        Finding { file: self.path.to_owned(), what, line, count, message }
    }

    /// Is the file or line range marked as a table?
    pub(super) fn is_table(&self, first: usize, last: usize) -> bool {
        let last = last.min(self.lines.len());
        first >= 1 && first <= last && self.lines[first - 1..last].iter().any(|line| line.trim() == "// tidy: table")
    }

    /// The crate's directory: `crates/sys`, `xtask`, `fuzz`.
    pub(super) fn crate_directory(&self) -> String {
        let n_parts = if self.path.starts_with("crates/") { 2 } else { 1 };
        self.path.split('/').take(n_parts).collect::<Vec<_>>().join("/")
    }

    /// Lines of the inline modules that are compiled for tests only.
    pub(super) fn test_lines(&self) -> BTreeSet<usize> {
        let mut lines = BTreeSet::new();
        for item in &self.syntax.items {
            if let syn::Item::Mod(module) = item
                && let Some((brace, _)) = &module.content
                && module.attrs.iter().any(is_cfg_test)
            {
                lines.extend(module.mod_token.span.start().line..=brace.span.close().end().line);
            }
        }
        lines
    }
}

fn is_cfg_test(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg") && attribute.parse_args::<Ident>().is_ok_and(|what| what == "test")
}

/// Tokens one after another. An opening bracket is kept as its (whole) group, before what is inside.
fn flatten(stream: TokenStream, tokens: &mut Vec<TokenTree>) {
    for tree in stream {
        tokens.push(tree.clone());
        if let TokenTree::Group(group) = tree {
            flatten(group.stream(), tokens);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_module_is_found() {
        let text = "fn a() {}\n\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n#[cfg(unix)]\nmod c {\n}\n";
        let source = Source::parse("crates/x/src/a.rs", text).expect("parses");
        assert_eq!(source.test_lines().into_iter().collect::<Vec<_>>(), [4, 5, 6]);
    }

    #[test]
    fn the_crate_is_the_second_part_below_crates() {
        let directory = |path| Source::parse(path, "").expect("parses").crate_directory();
        assert_eq!(directory("crates/sys/src/a/b.rs"), "crates/sys");
        assert_eq!(directory("xtask/src/main.rs"), "xtask");
    }
}
