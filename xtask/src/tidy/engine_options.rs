//! Every private option of an engine that counts as built is read by an engine or by the run.
//!
//! An option counts as read when a file of the crate `engine` or `run` names the module of its declaration and its constant, in code (not in
//! tests). That one engine's constant can hide another one of the same name in the same file is accepted.
//! Start reading at [`PrivateOptions`].

use super::Finding;
use super::source::Source;
use proc_macro2::TokenTree;
use std::collections::BTreeSet;

/// The declarations, one module an engine or family of engines.
const DECLARATIONS: &str = "crates/spec/src/engines/options/";
/// Files there that declare nothing.
const NO_DECLARATIONS: [&str; 3] = ["mod", "declaration", "typed"];
const READERS: [&str; 2] = ["crates/engine/src/", "crates/run/src/"];
/// Words of declarations that no engine reads: those of options that are not built, or whose values go elsewhere.
const NOT_READ: [&str; 4] = ["planned", "not_applicable", "untyped_word", "of_command_priority"];

/// Options that are declared, and names that are read, gathered file by file.
#[derive(Default)]
pub(super) struct PrivateOptions {
    declared: Vec<DeclaredOption>,
    /// By file of the reader: the names in its code.
    read: Vec<BTreeSet<String>>,
}

struct DeclaredOption {
    module: String,
    constant: String,
    file: String,
    line: usize,
}

impl PrivateOptions {
    /// Records the options that a file declares or reads.
    pub(super) fn take(&mut self, source: &Source<'_>) {
        if let Some(module) = source.path.strip_prefix(DECLARATIONS).and_then(|file| file.strip_suffix(".rs")) {
            self.take_declarations(source, module);
        }
        if READERS.iter().any(|reader| source.path.starts_with(reader)) && !source.path.ends_with("/tests.rs") {
            let tests = source.test_lines();
            let in_code = |token: &TokenTree| match token {
                TokenTree::Ident(name) if !tests.contains(&name.span().start().line) => Some(name.to_string()),
                _ => None,
            };
            self.read.push(source.tokens.iter().filter_map(in_code).collect());
        }
    }

    /// A declaration has the form `CONSTANT: TYPE = ...;`.
    fn take_declarations(&mut self, source: &Source<'_>, module: &str) {
        if NO_DECLARATIONS.contains(&module) {
            return;
        }
        let is_sign = |token: &TokenTree, sign| matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign);
        for statement in source.tokens.split(|token| is_sign(token, ';')) {
            let names = statement.iter().filter_map(|token| match token {
                TokenTree::Ident(name) => Some(name.to_string()),
                _ => None,
            });
            let names: BTreeSet<String> = names.collect();
            let is_other_item = ["const", "use"].iter().any(|word| names.contains(*word));
            if is_other_item || NOT_READ.iter().any(|word| names.contains(*word)) {
                continue;
            }
            let constant = statement.windows(2).find_map(|pair| match pair {
                [TokenTree::Ident(name), colon] if is_sign(colon, ':') && is_constant(&name.to_string()) => Some(name),
                _ => None,
            });
            if let Some(constant) = constant {
                self.declared.push(DeclaredOption {
                    module: module.to_owned(),
                    constant: constant.to_string(),
                    file: source.path.to_owned(),
                    line: constant.span().start().line,
                });
            }
        }
    }

    /// Options that no engine reads.
    pub(super) fn unread(&self) -> impl Iterator<Item = Finding> {
        let is_read = |option: &DeclaredOption| {
            self.read.iter().any(|names| names.contains(&option.module) && names.contains(&option.constant))
        };
        self.declared.iter().filter(move |option| !is_read(option)).map(|option| Finding {
            file: option.file.clone(),
            what: "unread-option",
            line: option.line,
            count: 1,
            message: format!("{} counts as built, but no engine reads it", option.constant),
        })
    }
}

fn is_constant(name: &str) -> bool {
    name.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &str = "use super::declaration::{flag, number};
const WORDS: &[Choice] = &[];
engine_options! {
    FIRST: bool = flag(\"first\", \"A: flag\");
    SECOND: i64 = number(\"second\", \"A number\", ANY).default(\"1\");
    LATER: bool = flag(\"later\", \"A flag\").planned();
    WORD: () = untyped_word(\"word\", \"A word\", WORDS);
}
";

    fn unread(reader: &str) -> Vec<usize> {
        let mut options = PrivateOptions::default();
        for (path, text) in [("crates/spec/src/engines/options/dummy.rs", DECLARED), ("crates/engine/src/a.rs", reader)]
        {
            options.take(&Source::parse(path, text).expect("the sample parses"));
        }
        options.unread().map(|finding| finding.line).collect()
    }

    #[test]
    fn an_option_that_no_engine_reads_is_found() {
        assert_eq!(unread("use options::dummy; fn f() { o.get(&dummy::FIRST); o.get(&dummy::SECOND); }"), [0; 0]);
        assert_eq!(unread("use options::dummy::FIRST; fn f() { o.get(&FIRST); }"), [5]);
        assert_eq!(unread("use options::other::{FIRST, SECOND};"), [4, 5]);
        assert_eq!(unread("#[cfg(test)]\nmod tests {\n use options::dummy::{FIRST, SECOND};\n}"), [4, 5]);
    }
}
