//! docs/completions/_ferrio: completion for zsh.

use super::completion::{Completion, Value, completions};
use super::text::GENERATED;
use std::fmt::Write as _;

/// The document.
pub(super) fn render() -> String {
    let mut text = format!("#compdef ferrio\n# {GENERATED}\n\nlocal -a specs\nspecs=(\n");
    for completion in completions() {
        // Infallible: writing to a String never fails.
        let _ = writeln!(text, "  '{}'", spec(&completion));
    }
    text.push_str(")\n_arguments $specs '*:job file:_files'\n");
    text
}

/// One specification of `_arguments`: `*--rw=[help]:value:(read write)`.
fn spec(completion: &Completion) -> String {
    let action = match completion.value {
        _ if !completion.words.is_empty() => format!(":value:({})", completion.words.join(" ")),
        Value::Optional => String::new(),
        Value::Plain => ":value: ".to_owned(),
        Value::File => ":value:_files".to_owned(),
    };
    let equals = if completion.value == Value::Optional && action.is_empty() { "" } else { "=" };
    format!("*--{}{equals}[{}]{action}", completion.name, escape(completion.help))
}

/// Inside single quotes and square brackets.
fn escape(help: &str) -> String {
    help.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]").replace('\'', "'\\''")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specifications_are_quoted() {
        let completion = Completion { name: "rw", help: "it's [a] 'word'", words: vec!["x", "y"], value: Value::Plain };
        assert_eq!(spec(&completion), "*--rw=[it'\\''s \\[a\\] '\\''word'\\'']:value:(x y)");
        let flag = Completion { name: "thread", help: "h", words: vec![], value: Value::Optional };
        assert_eq!(spec(&flag), "*--thread[h]");
    }
}
