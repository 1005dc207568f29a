//! A doc comment says what the name of its item does not say.

use super::super::Finding;
use super::super::source::Source;
use std::collections::BTreeSet;

/// Words that say nothing beside a name and a type.
const EMPTY: [&str; 30] = [
    "a", "an", "the", "of", "in", "for", "to", "with", "its", "it", "is", "are", "this", "that", "these", "and", "as",
    "by", "own", "which", "name", "number", "kind", "value", "text", "get", "give", "return", "make", "new",
];

/// A doc comment of one line whose words are all in the line of its item.
///
/// The library crate is left out, because each of its public items has documentation; so are commands, where clap makes help of the
/// comments, and the rows of macros.
pub(super) fn echoing_doc(source: &Source<'_>) -> Vec<Finding> {
    let is_library = source.path.starts_with("crates/ferrio/src/") && !source.path.contains("/program/");
    if is_library || source.lines.iter().any(|line| line.contains("clap") || line.contains("macro_rules!")) {
        return Vec::new();
    }
    let doc = |index: usize| source.lines.get(index).and_then(|line| line.trim_start().strip_prefix("/// "));
    let found = (0..source.lines.len()).filter(|&index| {
        let is_single = doc(index + 1).is_none() && index.checked_sub(1).is_none_or(|before| doc(before).is_none());
        doc(index).is_some_and(|text| is_single && item_below(source, index).is_some_and(|item| echoes(text, item)))
    });
    let message = "the comment says nothing that the name does not say: remove it, or say more";
    found.map(|index| source.finding("echoing-doc", index + 1, 1, message.to_owned())).collect()
}

/// The line of the item that a comment at a line is about, without its value or body.
fn item_below<'a>(source: &Source<'a>, index: usize) -> Option<&'a str> {
    let mut below = source.lines[index + 1..].iter().map(|line| line.trim());
    let item = below.find(|line| !line.starts_with("#["))?;
    Some(item.split(" = ").next().unwrap_or(item))
}

/// The name of an option, and a second statement behind `;` or `:`, say something.
fn echoes(text: &str, item: &str) -> bool {
    if text.contains(['`', ';', ':']) {
        return false;
    }
    let item = words(item);
    let mut said = words(text).into_iter().filter(|word| !EMPTY.contains(&word.as_str())).peekable();
    said.peek().is_some() && said.all(|word| item.contains(&word))
}

/// The words of a text or a name, in small letters, without the `s` of a plural or a verb.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = vec![String::new()];
    let mut is_small = false;
    for letter in text.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && is_small {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
        is_small = letter.is_lowercase();
    }
    let stem = |word: String| match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with(['i', 's']) => stem.to_owned(),
        _ => word,
    };
    words.into_iter().filter(|word| !word.is_empty()).map(stem).collect()
}

#[cfg(test)]
mod tests {
    use super::super::lines_found;
    use super::*;

    #[test]
    fn a_comment_that_repeats_the_name_is_found() {
        let text = "/// The form of a reply.\n#[derive(Debug)]\nenum ReplyForm {\n    /// Its length in bytes.\n    Simple(u32),\n}\n";
        assert_eq!(lines_found(echoing_doc, "crates/run/src/a.rs", text), [1]);
        let text = "struct Job {\n    /// The offset in bytes.\n    offset_bytes: u64,\n    /// The offset in sectors.\n    offset: u64,\n}\n";
        assert_eq!(lines_found(echoing_doc, "crates/run/src/a.rs", text), [2]);
        assert_eq!(lines_found(echoing_doc, "crates/ferrio/src/a.rs", text), [0; 0]);
        let two = "/// The jobs.\n///\n/// They run.\nfn jobs() {}\n";
        assert_eq!(lines_found(echoing_doc, "crates/run/src/a.rs", two), [0; 0]);
    }
}
