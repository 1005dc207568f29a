//! The only file that is written to: created by this run, and removed however the run ends.
//!
//! Must not know: its contents, the tests. Start reading at [`TargetFile::create`].

use super::place::FilePlace;
use anyhow::{Context, Result, bail};
use ferrio_sys::errno::EEXIST;
use ferrio_sys::file::{self, Access, FileInfo, FileKind, OpenRequest};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// Start and end of a generated name, by which a file that was left behind is recognized.
const PREFIX: &str = ".ferrio-quick-";
const SUFFIX: &str = ".tmp";

/// Names are tried up to this number: process ids come again, in containers above all.
const MAX_NAMES: u32 = 100;

/// A file that is removed when this is dropped.
///
/// It keeps its name until it is dropped, because each worker of a run opens it by its path.
#[derive(Debug)]
pub(super) struct TargetFile {
    directory: PathBuf,
    name: String,
    path: PathBuf,
    /// Held open so that its inode is not given to another file.
    opened: OwnedFd,
    identity: FileInfo,
    is_removed: bool,
}

impl TargetFile {
    /// Makes the file. Nothing that is there is ever opened.
    ///
    /// # Errors
    /// A file of the wanted name is there; the directory cannot be written to.
    pub(super) fn create(place: &FilePlace) -> Result<Self> {
        if let Some(name) = &place.file_name {
            return match Self::create_named(place, name) {
                Err(error) if is_there(&error) => bail!("{name} is there already in {}", place.directory.display()),
                result => result.with_context(|| refusal(place)),
            };
        }
        for number in 0..MAX_NAMES {
            match Self::create_named(place, &generated_name(number)) {
                Err(error) if is_there(&error) => {}
                result => return result.with_context(|| refusal(place)),
            }
        }
        bail!("{MAX_NAMES} files {PREFIX}... are left in {}: remove them", place.directory.display())
    }

    fn create_named(place: &FilePlace, name: &str) -> ferrio_sys::Result<Self> {
        let path = place.directory.join(name);
        let request = OpenRequest {
            access: Access::ReadWrite,
            is_create: true,
            is_exclusive: true,
            mode: 0o600,
            ..OpenRequest::default()
        };
        let opened = request.open(&path)?;
        let identity = FileInfo::of_file(&opened)?;
        Ok(Self {
            directory: place.directory.clone(),
            name: name.to_owned(),
            path,
            opened,
            identity,
            is_removed: false,
        })
    }

    /// Its absolute path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The directory that it is in, absolute.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The file, open for reading and writing through the page cache.
    pub(super) fn opened(&self) -> &OwnedFd {
        &self.opened
    }

    /// Opens it once more, for direct I/O.
    pub(super) fn open_direct(&self) -> ferrio_sys::Result<OwnedFd> {
        OpenRequest { access: Access::ReadWrite, is_direct: true, ..OpenRequest::default() }.open(&self.path)
    }

    /// True if its path still leads to it. In a directory such as `/tmp`, only the owner can put another file in its
    /// place.
    pub(super) fn is_in_place(&self) -> bool {
        let now = FileInfo::of_path(&self.path);
        now.is_ok_and(|info| (info.on_device, info.inode) == (self.identity.on_device, self.identity.inode))
    }

    /// Removes it. If another file has its name by now, that one is left alone.
    ///
    /// # Errors
    /// It cannot be removed; the message asks the user to do it.
    pub(super) fn remove(&mut self) -> Result<()> {
        if self.is_removed || !self.is_in_place() {
            return Ok(());
        }
        self.is_removed = true;
        file::unlink(&self.path).with_context(|| format!("{} is left behind: remove it", self.path.display()))
    }
}

impl Drop for TargetFile {
    fn drop(&mut self) {
        // During a panic or an early return there is no caller to report an error to.
        let _ = self.remove();
    }
}

fn is_there(error: &ferrio_sys::Error) -> bool {
    error.errno() == Some(EEXIST)
}

fn refusal(place: &FilePlace) -> String {
    format!("cannot make a file in {}; name a directory that you may write to", place.directory.display())
}

fn generated_name(number: u32) -> String {
    let process = std::process::id();
    match number {
        0 => format!("{PREFIX}{process}{SUFFIX}"),
        _ => format!("{PREFIX}{process}-{number}{SUFFIX}"),
    }
}

/// Files in a directory that runs have left behind, or that belong to runs that are going on, but for this one.
pub(super) fn leftovers(directory: &Path, own: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let is_ours = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(PREFIX) && name.ends_with(SUFFIX) && entry.path() != own
    };
    let is_file = |path: &PathBuf| FileInfo::of_path(path).is_ok_and(|info| info.kind == FileKind::Regular);
    let mut found: Vec<PathBuf> = entries.filter(is_ours).map(|entry| entry.path()).filter(is_file).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that is removed with all that is in it.
    struct Scratch(FilePlace);

    impl Scratch {
        fn new(name: &str) -> Self {
            let directory = std::env::temp_dir().join(format!("ferrio-target-{}-{name}", std::process::id()));
            std::fs::create_dir(&directory).unwrap();
            Self(FilePlace { directory, file_name: None })
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0.directory);
        }
    }

    #[test]
    fn it_is_removed_when_dropped_also_in_a_panic() {
        let scratch = Scratch::new("panic");
        let file = TargetFile::create(&scratch.0).unwrap();
        let path = file.path().to_owned();
        assert!(path.exists() && file.is_in_place());
        assert!(file.name().starts_with(".ferrio-quick-") && file.name().contains(&std::process::id().to_string()));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _file = file;
            panic!("on purpose");
        }));
        assert!(result.is_err() && !path.exists());
    }

    #[test]
    fn a_leftover_of_the_same_process_id_is_left_alone_and_told() {
        let scratch = Scratch::new("leftover");
        let old = scratch.0.directory.join(generated_name(0));
        std::fs::write(&old, "old").unwrap();
        let mut file = TargetFile::create(&scratch.0).unwrap();
        assert_eq!(file.name(), generated_name(1));
        assert_eq!(leftovers(&scratch.0.directory, file.path()), std::slice::from_ref(&old));
        file.remove().unwrap();
        assert_eq!(std::fs::read_to_string(old).unwrap(), "old");
    }

    #[test]
    fn what_took_its_place_is_left_alone() {
        let scratch = Scratch::new("replaced");
        let mut file = TargetFile::create(&scratch.0).unwrap();
        let path = file.path().to_owned();
        std::fs::rename(&path, scratch.0.directory.join("elsewhere")).unwrap();
        std::fs::write(&path, "other").unwrap();
        assert!(!file.is_in_place());
        file.remove().unwrap();
        drop(file);
        assert_eq!(std::fs::read_to_string(path).unwrap(), "other");
    }

    #[test]
    fn a_name_that_is_taken_is_refused() {
        let scratch = Scratch::new("taken");
        let place = FilePlace { file_name: Some("mine".to_owned()), ..scratch.0.clone() };
        std::fs::write(place.directory.join("mine"), "data").unwrap();
        assert!(TargetFile::create(&place).unwrap_err().to_string().contains("mine is there already"));
        assert_eq!(std::fs::read_to_string(place.directory.join("mine")).unwrap(), "data");
    }
}
