//! docs/completions/ferrio.fish: completion for fish.

use super::completion::{Completion, Value, completions};
use super::text::GENERATED;
use std::fmt::Write as _;

/// The document.
pub(super) fn render() -> String {
    let mut text = format!("# {GENERATED}\n\n");
    for completion in completions() {
        // Infallible: writing to a String never fails.
        let _ = writeln!(text, "{}", command(&completion));
    }
    text
}

fn command(completion: &Completion) -> String {
    let value = match completion.value {
        Value::Optional => "",
        Value::Plain => " -x",
        Value::File => " -r",
    };
    let words = match completion.words.as_slice() {
        [] => String::new(),
        words => format!(" -a '{}'", words.join(" ")),
    };
    format!("complete -c ferrio -l {}{value}{words} -d '{}'", completion.name, escape(completion.help))
}

/// Inside single quotes.
fn escape(help: &str) -> String {
    help.replace('\\', "\\\\").replace('\'', "\\'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_quoted() {
        let completion = Completion { name: "rw", help: "it's", words: vec!["x", "y"], value: Value::Plain };
        assert_eq!(command(&completion), "complete -c ferrio -l rw -x -a 'x y' -d 'it\\'s'");
    }
}
