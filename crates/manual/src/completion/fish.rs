//! Completion for fish.

use super::native::NativeCommand;
use super::words::{Flag, FlagValue, flags_of_fio};
use std::fmt::Write as _;

pub(super) fn script(program: &str, native: &[NativeCommand]) -> String {
    let mut text = format!("# Completion of {program} for fish.\n\n");
    let without_jobs: Vec<&str> =
        native.iter().filter(|command| !command.takes_jobs).map(|command| command.name.as_str()).collect();
    let of_jobs = match without_jobs.as_slice() {
        [] => String::new(),
        names => format!(" -n 'not __fish_seen_subcommand_from {}'", names.join(" ")),
    };
    for flag in flags_of_fio() {
        push_flag(&mut text, program, &of_jobs, &flag);
    }
    for command in native {
        push_word(&mut text, program, "__fish_use_subcommand", command);
        let within = format!("__fish_seen_subcommand_from {}", command.name);
        for inner in &command.commands {
            push_word(&mut text, program, &within, inner);
            let inside = format!(" -n '{within}; and __fish_seen_subcommand_from {}'", inner.name);
            for flag in &inner.flags {
                push_flag(&mut text, program, &inside, flag);
            }
        }
        let within = format!(" -n '{within}'");
        for flag in &command.flags {
            push_flag(&mut text, program, &within, flag);
        }
        if !command.operands.is_empty() {
            // Infallible here and below: writing to a String never fails.
            let _ = writeln!(text, "complete -c {program}{within} -f -a '{}'", command.operands.join(" "));
        }
    }
    text
}

fn push_word(text: &mut String, program: &str, condition: &str, command: &NativeCommand) {
    let (name, about) = (&command.name, escape(&command.about));
    let _ = writeln!(text, "complete -c {program} -n '{condition}' -a {name} -d '{about}'");
}

fn push_flag(text: &mut String, program: &str, condition: &str, flag: &Flag) {
    let value = match flag.value {
        FlagValue::Optional => "",
        FlagValue::Plain => " -x",
        FlagValue::File => " -r",
    };
    let words = match flag.words.as_slice() {
        [] => String::new(),
        words => format!(" -a '{}'", words.join(" ")),
    };
    let _ =
        writeln!(text, "complete -c {program}{condition} -l {}{value}{words} -d '{}'", flag.name, escape(&flag.help));
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
        let words = vec!["x".to_owned(), "y".to_owned()];
        let flag = Flag { name: "rw".to_owned(), help: "it's".to_owned(), words, value: FlagValue::Plain };
        let mut text = String::new();
        push_flag(&mut text, "fio", "", &flag);
        assert_eq!(text, "complete -c fio -l rw -x -a 'x y' -d 'it\\'s'\n");
    }
}
