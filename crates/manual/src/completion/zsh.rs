//! Completion for zsh.

use super::native::NativeCommand;
use super::words::{Flag, FlagValue, flags_of_fio};
use std::fmt::Write as _;

/// The script for a program of this name: the body of the function `_ferrio` or `_fio`.
pub(super) fn script(program: &str, native: &[NativeCommand]) -> String {
    let mut text =
        format!("#compdef {program}\n# Completion of {program} for zsh.\n\nlocal -a jobs commands\njobs=(\n");
    push_specs(&mut text, &flags_of_fio());
    text.push_str(")\n");
    if native.is_empty() {
        text.push_str("_arguments $jobs '*:job file:_files'\n");
        return text;
    }
    push_case(&mut text, 2, native);
    push_commands(&mut text, native);
    text.push_str("_arguments $jobs '1: : _alternative \"commands:command:(($commands))\" \"files:job file:_files\"' '*:job file:_files'\n");
    text
}

/// `commands=(...)`: each command with its purpose.
fn push_commands(text: &mut String, commands: &[NativeCommand]) {
    text.push_str("commands=(\n");
    for command in commands {
        // Infallible here and below: writing to a String never fails.
        let _ =
            writeln!(text, "  '{}\\:{}'", command.name, escape(&command.about).replace(' ', "\\ ").replace(':', "\\:"));
    }
    text.push_str(")\n");
}

/// What the word in this place means: a command with options of its own.
fn push_case(text: &mut String, place: usize, commands: &[NativeCommand]) {
    let _ = writeln!(text, "if (( CURRENT > {place} )); then case $words[{place}] in");
    for command in commands {
        let _ = writeln!(text, "{})", command.name);
        if !command.commands.is_empty() {
            push_case(text, place + 1, &command.commands);
            push_commands(text, &command.commands);
            let _ = writeln!(
                text,
                "if (( CURRENT == {} )); then _alternative \"commands:command:(($commands))\"; return; fi",
                place + 1
            );
        }
        text.push_str("_arguments \\\n");
        for flag in &command.flags {
            let _ = writeln!(text, "  '{}' \\", spec(flag));
        }
        let operands = match command.operands.as_slice() {
            [] => "'*: :_files'".to_owned(),
            words => format!("'*: :({})'", words.join(" ")),
        };
        let jobs = if command.takes_jobs { "$jobs " } else { "" };
        let _ = writeln!(text, "  {jobs}{operands}\nreturn ;;");
    }
    text.push_str("esac; fi\n");
}

fn push_specs(text: &mut String, flags: &[Flag]) {
    for flag in flags {
        let _ = writeln!(text, "  '{}'", spec(flag));
    }
}

/// One specification of `_arguments`: `*--rw=[help]:value:(read write)`.
fn spec(flag: &Flag) -> String {
    let action = match flag.value {
        _ if !flag.words.is_empty() => format!(":value:({})", flag.words.join(" ")),
        FlagValue::Optional => String::new(),
        FlagValue::Plain => ":value: ".to_owned(),
        FlagValue::File => ":value:_files".to_owned(),
    };
    let equals = if flag.value == FlagValue::Optional && action.is_empty() { "" } else { "=" };
    format!("*--{}{equals}[{}]{action}", flag.name, escape(&flag.help))
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
        let words = vec!["x".to_owned(), "y".to_owned()];
        let flag = Flag { name: "rw".to_owned(), help: "it's [a] 'word'".to_owned(), words, value: FlagValue::Plain };
        assert_eq!(spec(&flag), "*--rw=[it'\\''s \\[a\\] '\\''word'\\'']:value:(x y)");
        let flag = Flag { name: "thread".to_owned(), help: "h".to_owned(), words: vec![], value: FlagValue::Optional };
        assert_eq!(spec(&flag), "*--thread[h]");
    }
}
