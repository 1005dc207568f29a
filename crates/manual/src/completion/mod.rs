//! Completion in shells: the native commands with their options, and fio's switches and options with their words.
//!
//! Must not know: what a command does. Start reading at [`completion`]; each shell has a file.

mod bash;
mod fish;
mod native;
mod words;
mod zsh;

use native::NativeCommand;

/// A shell for which there is completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shell {
    /// bash, 4 or newer.
    Bash,
    /// zsh; the file is found as `_ferrio` in a directory of `fpath`.
    Zsh,
    /// fish.
    Fish,
}

/// The name by which the program is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum CalledName {
    /// `ferrio`: with native commands.
    Ferrio,
    /// `fio`: the drop-in, without them.
    Fio,
}

impl CalledName {
    fn word(self) -> &'static str {
        match self {
            Self::Ferrio => "ferrio",
            Self::Fio => "fio",
        }
    }
}

/// The completion script of a shell for the program under this name. `commands` describe the native commands.
pub fn completion(shell: Shell, name: CalledName, commands: &[clap::Command]) -> String {
    let native = match name {
        CalledName::Ferrio => commands.iter().map(NativeCommand::of).collect(),
        CalledName::Fio => Vec::new(),
    };
    match shell {
        Shell::Bash => bash::script(name.word(), &native),
        Shell::Zsh => zsh::script(name.word(), &native),
        Shell::Fish => fish::script(name.word(), &native),
    }
}
