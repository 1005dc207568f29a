//! Replacements in the option lines of a job file: `${VARIABLE}`, then `$keyword`.
//!
//! Must not know: options. The arithmetic that keywords allow is in [`super::arithmetic`].

use crate::environment::Environment;

/// Longest text that replacements may make, in bytes. It bounds the memory that long variables can take.
pub const MAX_EXPANDED_BYTES: usize = 64 << 10;

/// Replaces every `${NAME}` by the value of the variable, or by nothing when it is unset. An inserted value is not
/// searched for further names. `None`: the result would be longer than [`MAX_EXPANDED_BYTES`].
pub fn variables(text: &str, environment: &dyn Environment) -> Option<String> {
    let (mut expanded, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { break };
        expanded.push_str(before);
        expanded.push_str(&environment.variable(name).unwrap_or_default());
        if expanded.len() > MAX_EXPANDED_BYTES {
            return None;
        }
        rest = behind;
    }
    expanded.push_str(rest);
    (expanded.len() <= MAX_EXPANDED_BYTES).then_some(expanded)
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
            assert_eq!(variables(text, &world()).unwrap(), expected);
        }
        assert_eq!(variables("${LONG}${LONG}", &world()), None);
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
