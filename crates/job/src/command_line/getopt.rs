//! The grammar of the command line, that of `getopt_long_only`: one dash or two, unique beginnings of names, arguments
//! behind `=` or as the next word, one-letter switches, `--` before job files.
//!
//! Must not know: what a name means. Start reading at [`Words::next`].

use super::switches::{Argument, SwitchDef, by_letter};
use crate::options::definition::OptionDef;

/// Meaning of a name on the command line: a switch or an option.
#[derive(Debug, Clone, Copy)]
pub enum NameTarget {
    Switch(&'static SwitchDef),
    Option(&'static OptionDef),
}

/// A name that is known at this point of the command line.
#[derive(Debug, Clone, Copy)]
pub struct LongName {
    pub name: &'static str,
    /// If the name takes an argument.
    pub argument: Argument,
    /// The switch or the option that the name means.
    pub target: NameTarget,
}

/// One element of the command line.
#[derive(Debug, Clone)]
pub enum Item {
    /// A switch or option, its full name (even if it was abbreviated), and its argument.
    Named(NameTarget, &'static str, Option<String>),
    /// A job file: which of the words names it.
    File(usize),
    /// Neither: the complaint, and the word as given.
    Bad {
        /// The complaint of getopt, without the program's name.
        complaint: String,
        word: String,
    },
}

/// The words of a command line, taken one after the other.
#[derive(Debug)]
pub struct Words<'a> {
    all: &'a [String],
    position: usize,
    /// Letters not yet read of a word such as `-vh`, which joins one-letter switches.
    letters: String,
    only_files: bool,
}

impl<'a> Words<'a> {
    /// `words` must not contain the program's name.
    pub fn new(words: &'a [String]) -> Self {
        Self { all: words, position: 0, letters: String::new(), only_files: false }
    }

    /// The next element; `None` at the end. `names` are those known now.
    pub fn next(&mut self, names: &[LongName]) -> Option<Item> {
        if !self.letters.is_empty() {
            return Some(self.next_letter());
        }
        let word = self.take()?;
        if self.only_files || word == "-" || !word.starts_with('-') {
            return Some(Item::File(self.position - 1));
        }
        if word == "--" {
            self.only_files = true;
            return self.next(names);
        }
        Some(self.dashed(word, names))
    }

    pub fn n_taken(&self) -> usize {
        self.position
    }

    fn take(&mut self) -> Option<&'a str> {
        let word = self.all.get(self.position)?;
        self.position += 1;
        Some(word)
    }

    fn dashed(&mut self, word: &str, names: &[LongName]) -> Item {
        let (dashes, text) = match word.strip_prefix("--") {
            Some(text) => ("--", text),
            None => ("-", &word[1..]),
        };
        let is_letter = dashes == "-" && text.chars().next().is_some_and(|letter| by_letter(letter).is_some());
        if is_letter && text.chars().nth(1).is_none() {
            text.clone_into(&mut self.letters);
            return self.next_letter();
        }
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        match find(name, names) {
            Found::One(known) => self.with_argument(known, dashes, value, word),
            Found::Several(possible) => {
                let list: Vec<String> = possible.iter().map(|known| format!("'{dashes}{}'", known.name)).collect();
                let list = list.join(" ");
                bad(format!("option '{word}' is ambiguous; possibilities: {list}"), word)
            }
            // getopt reads letters up to the first unknown one, which names a letter and hides the misspelt option.
            Found::None if is_letter && are_switches(text) => {
                text.clone_into(&mut self.letters);
                self.next_letter()
            }
            Found::None => bad(format!("unrecognized option '{word}'"), word),
        }
    }

    fn with_argument(&mut self, known: LongName, dashes: &str, value: Option<String>, word: &str) -> Item {
        let shown = format!("{dashes}{}", known.name);
        match (known.argument, value) {
            (Argument::None, Some(_)) => bad(format!("option '{shown}' doesn't allow an argument"), word),
            (Argument::Required, None) => match self.take() {
                Some(next) => Item::Named(known.target, known.name, Some(next.to_owned())),
                None => bad(format!("option '{shown}' requires an argument"), word),
            },
            (_, value) => Item::Named(known.target, known.name, value),
        }
    }

    /// The next of the letters behind one dash.
    fn next_letter(&mut self) -> Item {
        let letters = std::mem::take(&mut self.letters);
        let mut rest = letters.chars();
        let letter = rest.next().unwrap_or_default();
        let rest = rest.as_str();
        let Some(def) = by_letter(letter) else {
            return bad(format!("invalid option -- '{letter}'"), &format!("-{letter}"));
        };
        let value = match def.argument {
            Argument::None => {
                rest.clone_into(&mut self.letters);
                None
            }
            Argument::Optional => (!rest.is_empty()).then(|| rest.to_owned()),
            Argument::Required if !rest.is_empty() => Some(rest.to_owned()),
            Argument::Required => match self.take() {
                Some(next) => Some(next.to_owned()),
                None => return bad(format!("option requires an argument -- '{letter}'"), &format!("-{letter}")),
            },
        };
        Item::Named(NameTarget::Switch(def), def.name, value)
    }
}

/// True if the text is one-letter switches, of which the last one may have an argument.
fn are_switches(text: &str) -> bool {
    let mut arguments = text.chars().map(|letter| by_letter(letter).map(|def| def.argument));
    let end = arguments.find(|argument| !matches!(argument, Some(Argument::None)));
    end.is_none_or(|argument| argument.is_some())
}

fn bad(complaint: String, word: &str) -> Item {
    Item::Bad { complaint, word: word.to_owned() }
}

enum Found {
    One(LongName),
    Several(Vec<LongName>),
    None,
}

/// The name itself, else the only name that begins so.
fn find(name: &str, names: &[LongName]) -> Found {
    if let Some(exact) = names.iter().find(|known| known.name == name) {
        return Found::One(*exact);
    }
    let possible: Vec<LongName> = names.iter().filter(|known| known.name.starts_with(name)).copied().collect();
    match possible[..] {
        [] => Found::None,
        [one] => Found::One(one),
        _ => Found::Several(possible),
    }
}

#[cfg(test)]
mod tests {
    use super::super::switches::known_names;
    use super::*;

    /// The elements of a command line, written `name=value`, `<file>` or `!complaint`.
    fn elements(line: &str) -> Vec<String> {
        let all: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let names = known_names("psync", None);
        let (mut words, mut elements) = (Words::new(&all), Vec::new());
        while let Some(item) = words.next(&names) {
            elements.push(match item {
                Item::Named(target, _, value) => {
                    let name = match target {
                        NameTarget::Switch(def) => def.name,
                        NameTarget::Option(def) => def.name,
                    };
                    value.map_or(name.to_owned(), |value| format!("{name}={value}"))
                }
                Item::File(index) => format!("<{}>", all[index]),
                Item::Bad { complaint, .. } => format!("!{complaint}"),
            });
        }
        elements
    }

    // Expected values: how fio 3.41 (glibc's getopt_long_only) reads the same words.
    #[test]
    fn letters_of_which_one_is_unknown_are_one_unknown_option() {
        for word in ["-mZ", "-sqthread_poll-cpu=1", "-mqx", "-rww=read"] {
            let line = format!("{word} -m");
            assert_eq!(elements(&line), [format!("!unrecognized option '{word}'"), "minimal".to_owned()]);
        }
    }

    #[test]
    fn words_are_taken_as_getopt_does() {
        for (line, expected) in [
            ("--name=x -rw=read --bs 4k", vec!["name=x", "rw=read", "bs=4k"]),
            ("--numjob=2 --thread --thread=0", vec!["numjobs=2", "thread", "thread=0"]),
            (
                "--thre",
                vec!["!option '--thre' is ambiguous; possibilities: '--thread' '--threads' '--threads-per-queue'"],
            ),
            ("--blocksize=4k", vec!["bs=4k"]),
            ("a.fio --minimal b.fio", vec!["<a.fio>", "minimal", "<b.fio>"]),
            ("-- --name=x -", vec!["<--name=x>", "<->"]),
            ("-", vec!["<->"]),
            ("-m -x foo -xfoo -o out", vec!["minimal", "section=foo", "section=foo", "output=out"]),
            ("-mv -c -cbs", vec!["minimal", "version", "cmdhelp", "cmdhelp=bs"]),
            ("--thread 0", vec!["thread", "<0>"]),
            ("--runtime --parse-only", vec!["runtime=--parse-only"]),
            ("--minimal=1", vec!["!option '--minimal' doesn't allow an argument"]),
            ("--bs", vec!["!option '--bs' requires an argument"]),
            ("-bs", vec!["!option '-bs' requires an argument"]),
            ("--iodpeth=4", vec!["!unrecognized option '--iodpeth=4'"]),
            ("-Z", vec!["!unrecognized option '-Z'"]),
            ("-o", vec!["!option requires an argument -- 'o'"]),
            ("--verb", vec!["!unrecognized option '--verb'"]),
        ] {
            assert_eq!(elements(line), expected, "{line}");
        }
    }

    #[test]
    fn short_beginnings_are_ambiguous() {
        let said = elements("--ver");
        let expected = "!option '--ver' is ambiguous; possibilities: '--version' '--verify_only' '--verify' ";
        assert!(said[0].starts_with(expected), "{said:?}");
        let said = elements("-n");
        let expected = "!option '-n' is ambiguous; possibilities: '-name' '-num";
        assert!(said[0].starts_with(expected), "{said:?}");
    }
}
