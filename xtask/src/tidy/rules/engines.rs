//! No behaviour depends on an engine's name: an engine's abilities are in its row, and other code checks those.

use super::super::Finding;
use super::super::source::Source;
use ferrio_spec::engines::ENGINES;
use proc_macro2::{Group, TokenStream, TokenTree};

/// Crates that know engines by their rows. Of `engine` an engine's own files may know its name.
const CRATES: [&str; 6] =
    ["crates/workload", "crates/engine", "crates/stats", "crates/run", "crates/formats", "crates/insight"];

/// An engine's name that is compared with something.
pub(super) fn compared_name(source: &Source<'_>) -> Vec<Finding> {
    if !source.path.contains("/src/") || !CRATES.contains(&source.crate_directory().as_str()) {
        return Vec::new();
    }
    let (tests, tokens) = (source.test_lines(), &source.tokens);
    let compared = tokens.iter().enumerate().filter_map(|(index, token)| {
        let name = match token {
            TokenTree::Literal(_) if is_compared(tokens, index) => name_in(token)?,
            TokenTree::Group(group) if is_matches(tokens, index) => name_in_matches(group)?,
            _ => return None,
        };
        let line = token.span().start().line;
        (!tests.contains(&line) && !is_own_file(source.path, name)).then_some((line, name))
    });
    let message = |name| format!("the name {name} is compared: ask what the engine's row says");
    compared.map(|(line, name)| source.finding("engine-name", line, 1, message(name))).collect()
}

fn name_in(token: &TokenTree) -> Option<&'static str> {
    let TokenTree::Literal(literal) = token else { return None };
    let text = literal.to_string();
    ENGINES.iter().map(|engine| engine.name).find(|name| text == format!("\"{name}\""))
}

/// True if `==` or `!=` comes before or after it.
fn is_compared(tokens: &[TokenTree], index: usize) -> bool {
    let is = |at: Option<usize>, signs: &[char]| {
        let token = at.and_then(|at| tokens.get(at));
        matches!(token, Some(TokenTree::Punct(sign)) if signs.contains(&sign.as_char()))
    };
    let before = is(index.checked_sub(1), &['=']) && is(index.checked_sub(2), &['=', '!']);
    before || (is(Some(index + 1), &['=', '!']) && is(Some(index + 2), &['=']))
}

fn is_matches(tokens: &[TokenTree], index: usize) -> bool {
    let word = index.checked_sub(2).and_then(|at| tokens.get(at));
    matches!(word, Some(TokenTree::Ident(word)) if word == "matches")
}

/// The first engine among the patterns of `matches!(a_name, "x" | "y")`.
fn name_in_matches(group: &Group) -> Option<&'static str> {
    let stream: TokenStream = group.stream();
    let is_of_name = stream.clone().into_iter().any(|token| matches!(&token, TokenTree::Ident(word) if word == "name"));
    stream.into_iter().filter(|_| is_of_name).find_map(|token| name_in(&token))
}

/// True for `null.rs` and the files in `null/`, in any folder of `crates/engine/src/`.
fn is_own_file(path: &str, name: &str) -> bool {
    let parts = path.strip_prefix("crates/engine/src/").unwrap_or_default().split('/');
    parts.map(|part| part.strip_suffix(".rs").unwrap_or(part)).any(|part| part == name)
}

#[cfg(test)]
mod tests {
    use super::super::lines_found;
    use super::*;

    #[test]
    fn a_name_that_is_compared_is_found() {
        let text =
            "fn a() {\n    b(c.name == \"null\");\n    b(\"sim\" != c);\n    b(matches!(c.name, \"x\" | \"sync\"));\n}";
        assert_eq!(lines_found(compared_name, "crates/run/src/a.rs", text), [2, 3, 4]);
        assert_eq!(lines_found(compared_name, "crates/engine/src/a.rs", text), [2, 3, 4]);
        assert_eq!(lines_found(compared_name, "crates/job/src/a.rs", text), [0; 0]);
        assert_eq!(lines_found(compared_name, "crates/engine/src/null.rs", text), [3, 4]);
        assert_eq!(lines_found(compared_name, "crates/engine/src/without_data/null.rs", text), [3, 4]);
    }

    #[test]
    fn words_that_are_not_compared_and_tests_are_left_alone() {
        let text = "fn a() {\n    b(\"sync\", matches!(c, \"sync\"));\n    let d = \"null\";\n}\n";
        assert_eq!(lines_found(compared_name, "crates/run/src/a.rs", text), [0; 0]);
        assert_eq!(lines_found(compared_name, "crates/run/tests/a.rs", "fn a() { b == \"null\" }"), [0; 0]);
        let tests = "#[cfg(test)]\nmod tests {\n    fn a() {\n        assert!(b == \"null\");\n    }\n}\n";
        assert_eq!(lines_found(compared_name, "crates/run/src/a.rs", tests), [0; 0]);
    }
}
