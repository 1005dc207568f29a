//! A command's own options among those of fio: taken out of the words, and read by clap as those of other commands are.
//!
//! Must not know: any command. Start reading at [`take`].

use anyhow::anyhow;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Args, Command};
use std::error::Error as _;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Takes the options of `Own` out of the words, in which options and job files of fio stand too; these stay. Types of options have no documentation comment:
/// it would take the place of the command's own title in its help.
///
/// # Errors
/// A value is missing or wrong, or two options do not go together. Also then the options are no longer among the words, as far as they were read.
pub(crate) fn take<Own: Args>(words: &mut Vec<OsString>) -> anyhow::Result<Own> {
    let command = Own::augment_args(Command::new("own")).no_binary_name(true);
    let command = command.disable_help_flag(true).disable_version_flag(true);
    let own = own_words(&command, words)?;
    let matches = command.try_get_matches_from(own);
    matches.and_then(|mut matches| Own::from_arg_matches_mut(&mut matches)).map_err(|error| refusal(&error))
}

/// A word as a plan keeps it.
pub(crate) fn text_of(word: OsString) -> anyhow::Result<String> {
    word.into_string().map_err(|word| anyhow!("{} is no UTF-8, which a plan cannot keep", word.display()))
}

/// Takes the words of a command's options. A value is behind its option, or is the next word.
fn own_words(command: &Command, words: &mut Vec<OsString>) -> anyhow::Result<Vec<OsString>> {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    let mut given = std::mem::take(words).into_iter();
    while let Some(word) = given.next() {
        let Some((option, value)) = option_of(command, &word) else {
            others.push(word);
            continue;
        };
        let is_alone = !option.get_action().takes_values() || (value.is_none() && option.is_require_equals_set());
        if is_alone {
            own.push(word);
            continue;
        }
        let value = value.map(OsStr::to_owned).or_else(|| given.next()).filter(|value| !value.is_empty());
        let name = option.get_long().unwrap_or_default();
        let Some(value) = value else {
            *words = others;
            return Err(anyhow!("--{name} needs a value: --{name} {}", value_name(option)));
        };
        let mut one = OsString::from(format!("--{name}="));
        one.push(value);
        own.push(one);
    }
    *words = others;
    Ok(own)
}

/// The option that a word names, and the value behind it. A switch has none: `--json=x` is no switch.
fn option_of<'a>(command: &'a Command, word: &'a OsStr) -> Option<(&'a Arg, Option<&'a OsStr>)> {
    let text = word.as_bytes().strip_prefix(b"--")?;
    let (name, value) = match text.iter().position(|byte| *byte == b'=') {
        Some(at) => (&text[..at], Some(OsStr::from_bytes(&text[at + 1..]))),
        None => (text, None),
    };
    let option = command.get_arguments().find(|arg| arg.get_long().is_some_and(|long| long.as_bytes() == name))?;
    (option.get_action().takes_values() || value.is_none()).then_some((option, value))
}

fn value_name(option: &Arg) -> String {
    option.get_value_names().into_iter().flatten().map(clap::builder::Str::as_str).collect::<Vec<_>>().join(" ")
}

/// What clap refuses, in one line.
fn refusal(error: &clap::Error) -> anyhow::Error {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let name = context(ContextKind::InvalidArg).and_then(|arg| arg.split([' ', '=', '[']).next());
    if let (ErrorKind::ValueValidation, Some(name), Some(value), Some(source)) =
        (error.kind(), name, context(ContextKind::InvalidValue), error.source())
    {
        return anyhow!("{name} {value}: {source}");
    }
    // The usage follows behind an empty line.
    let text = error.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
    let reason = lines.join(" ");
    anyhow!("{}", reason.strip_prefix("error: ").unwrap_or(&reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Args)]
    struct Own {
        #[arg(long)]
        plan: bool,
        #[arg(long, value_name = "N", value_parser = even)]
        number: Option<u32>,
        #[arg(long, value_name = "OPTION=VALUES")]
        over: Vec<String>,
        #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "")]
        keep: Option<String>,
    }

    fn even(text: &str) -> anyhow::Result<u32> {
        text.parse().ok().filter(|number| number % 2 == 0).ok_or_else(|| anyhow!("it is no even number"))
    }

    fn taken(words: &[&str]) -> (anyhow::Result<Own>, Vec<OsString>) {
        let mut words: Vec<OsString> = words.iter().map(OsString::from).collect();
        (take(&mut words), words)
    }

    #[test]
    fn options_of_fio_stay_in_their_order() {
        let given = ["--bs=4k", "--over", "bs=4k,8k", "job.fio", "--plan", "--keep", "--over=iodepth=1", "--planned"];
        let (own, others) = taken(&given);
        let over = ["bs=4k,8k", "iodepth=1"].map(str::to_owned).to_vec();
        assert_eq!(own.expect("options"), Own { plan: true, number: None, over, keep: Some(String::new()) });
        assert_eq!(others, ["--bs=4k", "job.fio", "--planned"]);
    }

    #[test]
    fn values_that_are_missing_or_wrong_are_named() {
        let refused = |words: &[&str]| taken(words).0.expect_err("refused").to_string();
        assert_eq!(refused(&["--over"]), "--over needs a value: --over OPTION=VALUES");
        assert_eq!(refused(&["--over="]), "--over needs a value: --over OPTION=VALUES");
        assert_eq!(refused(&["--number", "3"]), "--number 3: it is no even number");
        assert_eq!(refused(&["--number=2", "--number=4"]), "the argument '--number <N>' cannot be used multiple times");
        assert!(refused(&["--keep=a", "--keep"]).contains("--keep"));
    }

    #[test]
    fn a_switch_with_a_value_is_no_switch_of_the_command() {
        let (own, others) = taken(&["--plan=1", "--keep=nightly"]);
        let own = own.expect("options");
        assert_eq!((own.plan, own.keep), (false, Some("nightly".to_owned())));
        assert_eq!(others, ["--plan=1"]);
    }
}
