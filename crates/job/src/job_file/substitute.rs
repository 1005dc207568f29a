//! Replacements in the option lines of a job file: `${VARIABLE}`, then `$keyword`.
//!
//! Must not know: options. The arithmetic that keywords allow is in [`super::arithmetic`].

use crate::environment::Environment;
use std::ops::Range;

/// Longest text that replacements may make, in bytes. It bounds the memory that long variables can take.
pub const MAX_EXPANDED_BYTES: usize = 64 << 10;

/// A text with the values of variables in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ExpandedText {
    pub text: String,
    /// The parts of it that are values of variables.
    pub inserted: Vec<Range<usize>>,
}

impl ExpandedText {
    /// The values of variables that come behind a place, each with the rest of its word.
    pub fn inserted_words(&self, start: usize) -> impl Iterator<Item = &str> {
        let is_blank = |symbol: char| symbol.is_whitespace();
        self.inserted.iter().filter(move |part| part.start >= start && !part.is_empty()).map(move |part| {
            let before = self.text[start..part.start].rfind(is_blank);
            let first = before.map_or(start, |index| {
                self.text[start + index..]
                    .find(|symbol| !is_blank(symbol))
                    .map_or(part.start, |length| start + index + length)
            });
            let last = self.text[part.end..].find(is_blank).map_or(self.text.len(), |index| part.end + index);
            self.text[first..last].trim()
        })
    }
}

/// Replaces every `${NAME}` by the value of the variable, or by nothing when it is unset. An inserted value is not
/// searched for further names. `None`: the result would be longer than [`MAX_EXPANDED_BYTES`].
pub fn variables(text: &str, environment: &dyn Environment) -> Option<ExpandedText> {
    let (mut expanded, mut rest) = (String::new(), text);
    let mut inserted = Vec::new();
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { break };
        expanded.push_str(before);
        let start = expanded.len();
        if let Some(mark) = environment.host_mark(name) {
            // It is no text of this machine's environment.
            expanded.push_str(mark);
        } else {
            expanded.push_str(&environment.variable(name).unwrap_or_default());
            inserted.push(start..expanded.len());
        }
        if expanded.len() > MAX_EXPANDED_BYTES {
            return None;
        }
        rest = behind;
    }
    expanded.push_str(rest);
    (expanded.len() <= MAX_EXPANDED_BYTES).then_some(ExpandedText { text: expanded, inserted })
}

/// Replaces `$pagesize`, `$mb_memory` and `$ncpus`; `None` when there is none of them.
pub fn keywords(text: &str, environment: &dyn Environment) -> Option<String> {
    type Read = fn(&dyn Environment) -> u64;
    let known: [(&str, Read); 3] = [
        ("$pagesize", |environment| environment.page_size_bytes()),
        ("$mb_memory", |environment| environment.memory_mib()),
        ("$ncpus", |environment| u64::from(environment.n_cpus())),
    ];
    let mut replaced = text.to_owned();
    for (keyword, read) in known {
        if replaced.contains(keyword) {
            replaced = replaced.replace(keyword, &read(environment).to_string());
        }
    }
    (replaced != text).then_some(replaced)
}

/// True when a value in which a keyword was replaced needs to be computed.
pub fn is_arithmetic(text: &str) -> bool {
    text.contains(['+', '-', '*', '/']) && !text.contains('\'')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;

    fn world() -> World {
        let mut world = World::default();
        for (name, value) in [("SIZE", "4k".to_owned()), ("LOOP", "${LOOP}".to_owned()), ("LONG", "x".repeat(40_000))] {
            world.variables.insert(name.to_owned(), value);
        }
        world
    }

    #[test]
    fn variables_are_replaced_once() {
        for (text, expected) in [
            ("size=${SIZE}", "size=4k"),
            ("${UNSET}size=${SIZE}${SIZE}", "size=4k4k"),
            ("a=${LOOP}", "a=${LOOP}"),
            ("a=${SIZE", "a=${SIZE"),
            ("a=$SIZE", "a=$SIZE"),
            ("a=${}", "a="),
        ] {
            assert_eq!(variables(text, &world()).unwrap().text, expected);
        }
        assert_eq!(variables("${LONG}${LONG}", &world()), None);
    }

    #[test]
    fn values_of_variables_are_known_with_their_words() {
        for (text, expected) in [
            ("description=of ${SIZE}", &["4k"][..]),
            ("description=run-${SIZE}-x of ${LOOP} ${UNSET}", &["run-4k-x", "${LOOP}"]),
            ("${SIZE}=a", &[]),
            ("description=  ${SIZE}", &["4k"]),
            ("description=none", &[]),
        ] {
            let expanded = variables(text, &world()).unwrap();
            let start = expanded.text.find('=').unwrap() + 1;
            assert_eq!(expanded.inserted_words(start).collect::<Vec<_>>(), expected, "{text}");
        }
    }

    #[test]
    fn keywords_are_replaced_everywhere() {
        for (text, expected) in [
            ("$pagesize*2", Some("4096*2")),
            ("$ncpus$ncpus", Some("22")),
            ("$mb_memory", Some("1000")),
            ("$nothing", None),
        ] {
            assert_eq!(keywords(text, &world()).as_deref(), expected);
        }
    }

    #[test]
    fn quotes_switch_arithmetic_off() {
        assert!(is_arithmetic("4096*2"));
        assert!(!is_arithmetic("4096"));
        assert!(!is_arithmetic("'4096*2'"));
    }
}
