//! The name of a rule that makes findings stands in the rule's own file alone: other code asks what the rule says of itself.

use super::super::Finding;
use super::super::source::Source;
use proc_macro2::TokenTree;

/// Where rules are, each with its name. A rule names others in `yields_to`.
const HOMES: [&str; 3] = ["crates/insight/src/rules/", "crates/insight/src/repeats/", "crates/insight/src/fleet.rs"];

/// The name of a rule elsewhere. Names of one word are left out: they are also keys and words of other things.
pub(super) fn named_elsewhere(source: &Source<'_>) -> Vec<Finding> {
    let is_test = source.path.ends_with("/tests.rs") || source.path.contains("/tests/");
    let is_code = source.path.starts_with("crates/") && source.path.contains("/src/") && !is_test;
    if !is_code || HOMES.iter().any(|home| source.path.starts_with(home)) {
        return Vec::new();
    }
    let tests = source.test_lines();
    let named = source.tokens.iter().filter_map(|token| {
        let TokenTree::Literal(literal) = token else { return None };
        let text = literal.to_string();
        let rule =
            ferrio_insight::all_rules().find(|rule| rule.id.contains('-') && text == format!("\"{}\"", rule.id))?;
        let line = token.span().start().line;
        (!tests.contains(&line)).then_some((line, rule.id))
    });
    let message =
        |id| format!("the rule {id} is named: what is so of it belongs to its file, as a field of FindingRule");
    named.map(|(line, id)| source.finding("rule-name", line, 1, message(id))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::lines_found;
    use super::*;

    #[test]
    fn names_of_rules_are_found_outside_of_their_files() {
        let text = "const A: [&str; 2] =\n    [\"rate-fell\",\n     \"stalls\"];\n/// \"no-io\"\nfn a() {}\n";
        assert_eq!(lines_found(named_elsewhere, "crates/ferrio/src/a.rs", text), [2]);
        assert_eq!(lines_found(named_elsewhere, "crates/insight/src/rules/time/a.rs", text), [0; 0]);
        for path in ["crates/ferrio/tests/a.rs", "crates/ferrio/src/a/tests.rs"] {
            assert_eq!(lines_found(named_elsewhere, path, text), [0; 0]);
        }
        let tests = "#[cfg(test)]\nmod tests {\n    const A: &str = \"rate-fell\";\n}\n";
        assert_eq!(lines_found(named_elsewhere, "crates/ferrio/src/a.rs", tests), [0; 0]);
    }
}
