//! Messages of a run are values in `run`, their words are in `report`; comments name their subjects.

use super::super::Finding;
use super::super::source::Source;
use proc_macro2::TokenTree;

/// Crates that make values, not words.
const CRATES: [&str; 2] = ["crates/run", "crates/engine"];

const BEGINNINGS: [&str; 4] = ["\"fio: ", "\"\\nfio: ", "\"note: ", "\"\\nnote: "];

/// Words that take the place of a subject, such as "a job that".
const UNNAMED: [&str; 5] = [" for who ", " to who ", " by who ", " of who ", " whoever "];

/// A comment whose sentence has no noun as its subject.
pub(super) fn unnamed_subject(source: &Source<'_>) -> Vec<Finding> {
    let is_unnamed = |line: &str| {
        let Some(text) = line.trim_start().strip_prefix("//") else { return false };
        let text = format!(" {} ", text.trim_start_matches(['/', '!']).trim());
        text.starts_with(" Who ") || text.starts_with(" Whoever ") || UNNAMED.iter().any(|words| text.contains(words))
    };
    let lines = source.lines.iter().enumerate().filter(|(_, line)| is_unnamed(line));
    let message = "name the subject with a noun, such as \"a job that only reads\"";
    lines.map(|(index, _)| source.finding("unnamed-subject", index + 1, 1, message.to_owned())).collect()
}

/// A sentence that is made where values should be.
pub(super) fn sentence(source: &Source<'_>) -> Vec<Finding> {
    let is_test = source.path.contains("/tests") || !source.path.contains("/src/");
    if is_test || !CRATES.contains(&source.crate_directory().as_str()) {
        return Vec::new();
    }
    let tests = source.test_lines();
    let lines = source.tokens.iter().enumerate().filter_map(|(index, token)| {
        let is_found = match token {
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
            }
            TokenTree::Ident(name) => name == "Note" && is_followed(&source.tokens[index + 1..]),
            _ => false,
        };
        let line = token.span().start().line;
        (is_found && !tests.contains(&line)).then_some(line)
    });
    let found = |line| Finding {
        file: source.crate_directory(),
        what: "sentence",
        line,
        count: 1,
        message: format!(
            "{} makes words: say it with a value of ferrio_stats::note, see report/src/words",
            source.path
        ),
    };
    lines.map(found).collect()
}

/// A note of free words: `Note::text`, `Note::Text`.
fn is_followed(tokens: &[TokenTree]) -> bool {
    let [TokenTree::Punct(first), TokenTree::Punct(second), TokenTree::Ident(name), ..] = tokens else { return false };
    first.as_char() == ':' && second.as_char() == ':' && (name == "text" || name == "Text")
}

#[cfg(test)]
mod tests {
    use super::super::lines_found;
    use super::*;

    const SAMPLE: &str = "fn a() {\n    b(\"fio: no\");\n    b(format!(\"fio: {x}\"));\n    b(\"of fio: no\");\n}\n\
                          #[cfg(test)]\nmod tests {\n    fn c() {\n        b(\"fio: no\");\n    }\n}\n";

    #[test]
    fn comments_name_their_subjects() {
        let sample =
            "//! Who reads.\n\n/// Kept for who reads.\nfn a() {\n    // A reader, who waits.\n    b(\"// Who\");\n}\n";
        assert_eq!(lines_found(unnamed_subject, "crates/run/src/x.rs", sample), [1, 3]);
    }

    #[test]
    fn notes_of_free_words_are_found() {
        let sample = "fn a() {\n    b(Note::text(c));\n    b(Note::Text(c));\n    b(Note::system(c, d));\n}\n";
        assert_eq!(lines_found(sentence, "crates/run/src/x.rs", sample), [2, 3]);
    }

    #[test]
    fn sentences_of_fio_are_found_outside_of_tests() {
        assert_eq!(lines_found(sentence, "crates/run/src/x.rs", SAMPLE), [2, 3]);
        assert_eq!(lines_found(sentence, "crates/engine/src/x.rs", SAMPLE), [2, 3]);
        for path in ["crates/formats/src/x.rs", "crates/run/tests/x.rs"] {
            assert_eq!(lines_found(sentence, path, SAMPLE), [0_usize; 0], "{path}");
        }
    }
}
