//! Where the history of a user is, and the making of its file.
//!
//! Must not know: databases. Start reading at [`HistoryPlace`].

use crate::history::HistoryError;
use ferrio_sys::output::make_private;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The variable that switches the history off, and its value for that.
const SWITCH: (&str, &str) = ("FERRIO_STATE", "off");
const FILE_NAME: &str = "history.sqlite";
/// The files that `SQLite` has beside it.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// The file of a history, which may not be there yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HistoryPlace {
    path: PathBuf,
}

impl HistoryPlace {
    /// The history of the user of this process: below `XDG_STATE_HOME`, by default `~/.local/state`.
    ///
    /// # Errors
    /// `FERRIO_STATE=off`, or no variable says where.
    pub fn of_user() -> Result<Self, HistoryError> {
        Self::of(&|name| std::env::var_os(name).filter(|value| !value.is_empty()))
    }

    fn of(variable: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, HistoryError> {
        if variable(SWITCH.0).is_some_and(|value| value == SWITCH.1) {
            return Err(HistoryError::SwitchedOff);
        }
        let below_home = || variable("HOME").map(|home| Path::new(&home).join(".local/state"));
        let state = variable("XDG_STATE_HOME").map(PathBuf::from).filter(|path| path.is_absolute()).or_else(below_home);
        state.map(|state| Self::in_directory(&state.join("ferrio"))).ok_or(HistoryError::NoPlace)
    }

    /// A history in a directory, which may not be there yet.
    pub fn in_directory(directory: &Path) -> Self {
        Self { path: directory.join(FILE_NAME) }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file to open, with the real path of its directory; `None`: there is none. With `makes` it is made where there is none.
    pub(crate) fn file(&self, makes: bool) -> Result<Option<PathBuf>, HistoryError> {
        let system = |error: std::io::Error| HistoryError::system(&self.path, &error);
        let there = self.path.symlink_metadata();
        if !makes && there.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Ok(None);
        }
        let directory = self.path.parent().unwrap_or(Path::new("/"));
        if !self.is_of_this_user() {
            return Err(HistoryError::ForeignDirectory(directory.to_owned()));
        }
        if there.is_err() {
            let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory);
            made.map_err(|error| HistoryError::system(directory, &error))?;
            match make_private(&self.path) {
                // Another process was faster.
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(system(error)),
                _ => {}
            }
        }
        let facts = self.path.symlink_metadata().map_err(system)?;
        if !facts.is_file() || facts.uid() != ferrio_sys::process::effective_user() {
            return Err(HistoryError::ForeignFile(self.path.clone()));
        }
        // SQLite gives the files beside it the mode of the database.
        if facts.mode() & 0o077 != 0 {
            self.make_private_again().map_err(system)?;
        }
        // Links are refused in the whole path when it is opened, and those above the directory are the user's own.
        let directory = directory.canonicalize().map_err(system)?;
        Ok(Some(directory.join(FILE_NAME)))
    }

    /// True if the directory, or the nearest one above it that is there, belongs to the user of this process. In any other directory
    /// another user could plant links, and could not use what this process makes: so it is for root with the home of a user.
    pub(crate) fn is_of_this_user(&self) -> bool {
        let Some(directory) = self.path.parent() else { return false };
        // The directory of the file itself may be no link; those above it may.
        let there =
            directory.symlink_metadata().ok().or_else(|| directory.ancestors().find_map(|place| place.metadata().ok()));
        there.is_some_and(|facts| facts.is_dir() && facts.uid() == ferrio_sys::process::effective_user())
    }

    /// Takes the rights of others away, from the files beside the database too.
    fn make_private_again(&self) -> std::io::Result<()> {
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&self.path, private.clone())?;
        for ending in BESIDE {
            let mut path = self.path.clone().into_os_string();
            path.push(ending);
            let path = PathBuf::from(path);
            if path.symlink_metadata().is_ok_and(|facts| facts.is_file()) {
                std::fs::set_permissions(path, private.clone())?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_where_the_user_wants_it() {
        let path = |variables: &[(&str, &str)]| {
            let find =
                |name: &str| variables.iter().find(|(of, _)| *of == name).map(|(_, value)| OsString::from(value));
            HistoryPlace::of(&find).map(|place| place.path)
        };
        let file = |text: &str| Some(PathBuf::from(text));
        assert_eq!(path(&[("HOME", "/h")]).ok(), file("/h/.local/state/ferrio/history.sqlite"));
        assert_eq!(path(&[("HOME", "/h"), ("XDG_STATE_HOME", "/s")]).ok(), file("/s/ferrio/history.sqlite"));
        let relative = [("HOME", "/h"), ("XDG_STATE_HOME", "s")];
        assert_eq!(path(&relative).ok(), file("/h/.local/state/ferrio/history.sqlite"));
        assert!(matches!(path(&[("HOME", "/h"), ("FERRIO_STATE", "off")]), Err(HistoryError::SwitchedOff)));
        assert!(matches!(path(&[]), Err(HistoryError::NoPlace)));
    }
}
