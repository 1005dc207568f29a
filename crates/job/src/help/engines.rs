//! `--enghelp`: the engines, the options of one, the details of one option.
//!
//! Must not know: engines' code.

use super::options::{MAX_DISTANCE, closest, details, line};
use crate::message::UserLine;
use crate::options::definition::OptionDef;
use crate::options::{find_private, of_engine};
use crate::suggest::nearest;
use ferrio_spec::engines::{ENGINES, by_name};

/// Output of `--enghelp`, and its exit code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineHelp {
    /// For standard output.
    pub text: UserLine,
    /// For standard error.
    pub complaint: UserLine,
    pub exit_code: u8,
}

impl EngineHelp {
    fn found(text: impl Into<UserLine>) -> Self {
        Self { text: text.into(), complaint: "".into(), exit_code: 0 }
    }

    fn failed(text: impl Into<UserLine>, complaint: impl Into<UserLine>) -> Self {
        Self { text: text.into(), complaint: complaint.into(), exit_code: 1 }
    }
}

/// The answer to `--enghelp` (no argument), `--enghelp=ENGINE` or `--enghelp=ENGINE,OPTION`.
pub fn answer(argument: Option<&str>) -> EngineHelp {
    let Some(argument) = argument.filter(|argument| !argument.is_empty()) else { return EngineHelp::found(list()) };
    let (engine, option) = match argument.split_once(',') {
        Some((engine, option)) => (engine, Some(option)),
        None => (argument, None),
    };
    if by_name(engine).is_none() {
        let complaint = UserLine::named(format!("engine {engine} not loadable\n"));
        return EngineHelp::failed(format!("IO engine {engine} not found\n"), complaint);
    }
    match option {
        Some(option) => one_option(engine, option),
        None => options_of(engine),
    }
}

fn list() -> String {
    let mut text = "Available IO engines:\n".to_owned();
    for engine in ENGINES.iter().filter(|engine| engine.status.is_built()) {
        text.extend([format!("\t{}\n", engine.name)]);
    }
    text
}

fn options_of(engine: &str) -> EngineHelp {
    let mut text = String::new();
    for def in of_engine(engine) {
        line(&mut text, def, 0);
    }
    if text.is_empty() {
        return EngineHelp::failed(format!("IO engine {engine} has no options\n"), "");
    }
    EngineHelp::found(text)
}

fn one_option(engine: &str, name: &str) -> EngineHelp {
    match find_private(engine, name) {
        Some(def) => EngineHelp::found(UserLine::of(|wording| details(def, wording))),
        None => near_option(engine, name),
    }
}

fn near_option(engine: &str, name: &str) -> EngineHelp {
    let complaint = format!("No such command: {name}");
    let near = nearest(name, of_engine(engine).flat_map(OptionDef::names)).filter(|(_, far)| *far <= MAX_DISTANCE);
    match near.and_then(|(near, _)| find_private(engine, near)) {
        Some(def) => EngineHelp::failed(closest(def), complaint),
        None => EngineHelp::failed("\n", complaint),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Texts, streams and exit codes of fio 3.41.
    #[test]
    fn answers_are_those_of_the_reference() {
        let list = answer(None);
        assert!(list.text.starts_with("Available IO engines:\n\tcpuio\n\tmmap\n\tsync\n\tpsync\n"), "{}", list.text);
        let options = answer(Some("libaio"));
        assert!(options.text.starts_with("userspace_reap          : "), "{}", options.text);
        let option = answer(Some("libaio,userspace_reap"));
        assert!(option.text.starts_with("      userspace_reap: "), "{}", option.text);
        assert_eq!((list.exit_code, options.exit_code, option.exit_code), (0, 0, 0));
        let unknown = answer(Some("foo"));
        assert_eq!(unknown.text, "IO engine foo not found\n");
        assert_eq!((unknown.complaint.to_string(), unknown.exit_code), ("engine foo not loadable\n".to_owned(), 1));
        let bare = answer(Some("sync"));
        assert_eq!((&*bare.text, bare.exit_code), ("IO engine sync has no options\n", 1));
        assert_eq!(answer(Some("libaio,foo")).exit_code, 1);
        let near = answer(Some("libaio,userspace_rea"));
        assert!(near.text.starts_with(" - showing closest match\n      userspace_reap: "), "{}", near.text);
        assert_eq!((near.complaint.to_string(), near.exit_code), ("No such command: userspace_rea".to_owned(), 1));
    }
}
