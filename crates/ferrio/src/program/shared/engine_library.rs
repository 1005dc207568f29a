//! `--enghelp=PATH`: the options of an engine in a shared library.
//!
//! Must not know: jobs. Start reading at [`help`].

use crate::ui::console::Console;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// The answer to `--enghelp=PATH`; `None`: the arguments ask for something else.
pub(crate) fn help(arguments: &[OsString]) -> Option<ExitCode> {
    let wanted = arguments.iter().find_map(|argument| argument.to_str()?.strip_prefix("--enghelp="))?;
    let (path, option) = match wanted.split_once(',') {
        Some((path, option)) => (path, Some(option)),
        None => (wanted, None),
    };
    let path = path.strip_prefix("external:").unwrap_or(path).trim();
    if !path.contains('/') {
        return None;
    }
    let mut console = Console::standard();
    let library = match ferrio_engine::external::describe(Path::new(path)) {
        Ok(library) => library,
        Err(fault) => {
            console.complain(&format!("engine {path} not loadable: {fault}"));
            return Some(ExitCode::FAILURE);
        }
    };
    let options = library.options().iter().filter(|known| option.is_none_or(|name| known.name == name));
    let lines: Vec<String> = options
        .map(|known| {
            let default = known.default.as_ref().map(|value| format!(" (default: {value})")).unwrap_or_default();
            format!("{:<24}: {}{default}\n", known.name, known.help)
        })
        .collect();
    if lines.is_empty() {
        let what = option.map_or_else(|| "options".to_owned(), |name| format!("option {name}"));
        console.info(&format!("IO engine {} has no {what}\n", library.name()));
        return Some(ExitCode::FAILURE);
    }
    console.info(&format!("{}: {}\n{}", library.name(), library.help(), lines.concat()));
    Some(ExitCode::SUCCESS)
}
