//! Rules about `unsafe`: the modules that may contain it, and the comment that justifies each use.
//!
//! Clippy requires the comment too; this rule reads the whole source, including code for other platforms.

use super::super::Finding;
use super::super::source::Source;
use proc_macro2::{Delimiter, TokenTree};
use syn::AttrStyle;

/// The crate whose trade is unsafe code.
const FLOOR: &str = "crates/sys/";
/// The crate whose modules may ask for it, one by one.
const ENGINES: &str = "crates/engine/";

/// Every crate but the two forbids unsafe code at its root.
pub(super) fn forbid_attribute(source: &Source<'_>) -> Vec<Finding> {
    let is_root = source.path.ends_with("/src/lib.rs") || source.path.ends_with("/src/main.rs");
    let may_have_it = source.path.starts_with(FLOOR) || source.path.starts_with(ENGINES);
    if !is_root || may_have_it || has_inner_attribute(source, &["forbid"]) {
        return Vec::new();
    }
    vec![source.finding("forbid-unsafe", 1, 1, "the crate does not open with #![forbid(unsafe_code)]".to_owned())]
}

/// `unsafe` outside of the floor and of the modules that say that they have it, and why.
pub(super) fn unsafe_place(source: &Source<'_>) -> Vec<Finding> {
    let is_named = source.path.starts_with(ENGINES) && has_inner_attribute(source, &["expect", "allow"]);
    if source.path.starts_with(FLOOR) || is_named {
        return Vec::new();
    }
    let lines = unsafe_tokens(source).map(|(line, _)| line);
    lines.map(|line| source.finding("unsafe-place", line, 1, "unsafe may not stand in this file".to_owned())).collect()
}

/// Unsafe blocks and impls without a `// SAFETY:` directly above.
pub(super) fn safety_comment(source: &Source<'_>) -> Vec<Finding> {
    let needy = unsafe_tokens(source).filter(|(_, next)| match next {
        Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
        Some(TokenTree::Ident(word)) => word == "impl",
        _ => false,
    });
    let bare = needy.filter(|&(line, _)| !is_argued(&source.lines, line));
    bare.map(|(line, _)| source.finding("safety-comment", line, 1, "unsafe without `// SAFETY:` above".to_owned()))
        .collect()
}

/// True if there is an inner `level(unsafe_code)`; for `expect` and `allow`, only with a reason.
fn has_inner_attribute(source: &Source<'_>, levels: &[&str]) -> bool {
    source.syntax.attrs.iter().any(|attribute| {
        let level = levels.iter().find(|level| attribute.path().is_ident(level));
        let syn::Meta::List(list) = &attribute.meta else { return false };
        let words: Vec<String> = list.tokens.clone().into_iter().map(|token| token.to_string()).collect();
        let has = |word: &str| words.iter().any(|other| other == word);
        matches!(attribute.style, AttrStyle::Inner(_))
            && has("unsafe_code")
            && level.is_some_and(|level| *level == "forbid" || has("reason"))
    })
}

/// Line of every `unsafe`, with the token after it.
fn unsafe_tokens<'s>(source: &'s Source<'_>) -> impl Iterator<Item = (usize, Option<&'s TokenTree>)> {
    source.tokens.iter().enumerate().filter_map(|(index, token)| match token {
        TokenTree::Ident(word) if word == "unsafe" => Some((word.span().start().line, source.tokens.get(index + 1))),
        _ => None,
    })
}

/// Looks upward from the line of an `unsafe`, over the beginning of its statement and attributes, for the comment.
fn is_argued(lines: &[&str], line: usize) -> bool {
    if lines[line - 1].contains("// SAFETY:") {
        return true;
    }
    for text in lines[..line - 1].iter().rev().map(|text| text.trim()) {
        if text.starts_with("//") {
            if text.contains("SAFETY:") {
                return true;
            }
        } else if !text.starts_with("#[") && (text.is_empty() || text.ends_with([';', '{', '}', ','])) {
            return false;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::lines_found;
    use super::*;

    const UNSAFE: &str = "fn a() {\n    // SAFETY: cannot fail.\n    unsafe { b() }\n}\n";

    #[test]
    fn unsafe_stands_in_the_floor_only() {
        assert_eq!(lines_found(unsafe_place, "crates/sys/src/a.rs", UNSAFE), [0; 0]);
        assert_eq!(lines_found(unsafe_place, "crates/run/src/a.rs", UNSAFE), [3]);
        assert_eq!(lines_found(unsafe_place, "crates/run/src/a.rs", "// unsafe\nfn a() { b(\"unsafe\") }"), [0; 0]);
    }

    #[test]
    fn an_engine_must_say_that_it_has_unsafe_code_and_why() {
        let path = "crates/engine/src/a.rs";
        assert_eq!(lines_found(unsafe_place, path, UNSAFE), [3]);
        assert_eq!(lines_found(unsafe_place, path, &format!("#![expect(unsafe_code)]\n{UNSAFE}")), [4]);
        let with_reason = format!("#![expect(unsafe_code, reason = \"maps a ring\")]\n{UNSAFE}");
        assert_eq!(lines_found(unsafe_place, path, &with_reason), [0; 0]);
        assert_eq!(lines_found(unsafe_place, "crates/run/src/a.rs", &with_reason), [4]);
    }

    #[test]
    fn roots_of_crates_forbid_it() {
        assert_eq!(lines_found(forbid_attribute, "crates/run/src/lib.rs", "//! A.\n"), [1]);
        assert_eq!(lines_found(forbid_attribute, "crates/run/src/lib.rs", "//! A.\n#![forbid(unsafe_code)]\n"), [0; 0]);
        assert_eq!(lines_found(forbid_attribute, "crates/run/src/a.rs", ""), [0; 0]);
        assert_eq!(lines_found(forbid_attribute, "crates/sys/src/lib.rs", ""), [0; 0]);
    }

    #[test]
    fn the_argument_stands_above_the_statement() {
        let path = "crates/sys/src/a.rs";
        assert_eq!(lines_found(safety_comment, path, UNSAFE), [0; 0]);
        assert_eq!(lines_found(safety_comment, path, &UNSAFE.replace("SAFETY", "Safe")), [3]);
        let long = "fn a() {\n    // SAFETY: a\n    // reason of two lines.\n    #[x]\n    let b =\n        unsafe { c() };\n}";
        assert_eq!(lines_found(safety_comment, path, long), [0; 0]);
    }

    #[test]
    fn one_argument_serves_one_block() {
        let two = "fn a() {\n    // SAFETY: once.\n    unsafe { b() };\n    unsafe { c() };\n}";
        assert_eq!(lines_found(safety_comment, "crates/sys/src/a.rs", two), [4]);
    }

    #[test]
    fn impls_need_one_and_declarations_do_not() {
        let path = "crates/sys/src/a.rs";
        assert_eq!(lines_found(safety_comment, path, "unsafe impl Send for A {}"), [1]);
        assert_eq!(lines_found(safety_comment, path, "// SAFETY: owns it.\nunsafe impl Send for A {}"), [0; 0]);
        assert_eq!(lines_found(safety_comment, path, "unsafe fn a() {}\nunsafe extern \"C\" {}"), [0; 0]);
    }
}
