//! Files that no output may replace, by device and inode, so that links do not hide them.
//!
//! Must not know: outputs. Start reading at [`ProtectedPaths`].

use super::NoOutput;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Links that lead from one to the next are followed this often, as by the kernel.
const MAX_LINKS: usize = 40;
/// A file system that does not answer for so long is dead.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// After so many names without an answer, the others are not looked up.
const MAX_SILENT: usize = 8;

/// Why a file is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileRole {
    /// The command reads it.
    Input,
    /// It holds the data of a job, or a job is going to make it.
    Target,
    /// It is another output of the same command.
    Output,
}

impl fmt::Display for FileRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Input => "which is read",
            Self::Target => "which holds the data of a job",
            Self::Output => "which is another output",
        })
    }
}

/// Files that are still needed. The default has none. Their names are looked up at the first question.
#[derive(Debug, Default)]
pub struct ProtectedPaths {
    files: HashSet<(PathBuf, FileRole)>,
    index: OnceLock<KeptIndex>,
}

#[derive(Debug, Default)]
struct KeptIndex {
    by_inode: HashMap<(u64, u64), (PathBuf, FileRole)>,
    by_place: HashMap<NamePlace, (PathBuf, FileRole)>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct NamePlace {
    device: u64,
    inode: u64,
    name: OsString,
}

impl ProtectedPaths {
    /// No output may replace these files, which need not be there yet.
    pub fn new(files: impl IntoIterator<Item = (PathBuf, FileRole)>) -> Self {
        Self { files: files.into_iter().collect(), index: OnceLock::new() }
    }

    /// The files that a command reads.
    pub fn inputs<P: Into<PathBuf>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self::new(paths.into_iter().map(|path| (path.into(), FileRole::Input)))
    }

    /// One more file.
    pub fn add(&mut self, path: PathBuf, role: FileRole) {
        self.files.insert((path, role));
        self.index = OnceLock::new();
    }

    /// Looks all names up now, so that processes which are started later need not do it.
    pub fn look_up(&self) {
        let _ = self.index();
    }

    pub(super) fn check_path(&self, path: &Path) -> Result<(), NoOutput> {
        if self.files.is_empty() {
            return Ok(());
        }
        if let Ok(facts) = std::fs::metadata(path) {
            self.check_file(&facts)?;
        }
        let found = place_of(path).and_then(|place| self.index().by_place.get(&place));
        found.map_or(Ok(()), refuse)
    }

    /// Looks at an open output. Only regular files can be destroyed; the rest may be shared.
    pub(super) fn check_file(&self, facts: &Metadata) -> Result<(), NoOutput> {
        if self.files.is_empty() || !facts.is_file() {
            return Ok(());
        }
        let inode = (facts.dev(), facts.ino());
        let found = self.index().by_inode.get(&inode);
        // A file that was removed since then has left its inode to others, maybe to this output.
        let is_there =
            |(path, _): &&(PathBuf, FileRole)| path.metadata().is_ok_and(|now| (now.dev(), now.ino()) == inode);
        found.filter(is_there).map_or(Ok(()), refuse)
    }

    fn index(&self) -> &KeptIndex {
        self.index.get_or_init(|| KeptIndex::of(&self.files.iter().cloned().collect()))
    }
}

impl KeptIndex {
    /// Looks the files up in a thread of their own, because a file system whose server is dead does not answer. An output is on a
    /// file system that answers, so that it is no file of such a one.
    fn of(files: &Arc<[(PathBuf, FileRole)]>) -> Self {
        let mut index = Self::default();
        let mut next = 0;
        for _ in 0..MAX_SILENT {
            let (sender, found) = mpsc::channel();
            let (all, from) = (Arc::clone(files), next);
            let look = move || {
                // A signal to the program must not find this thread, which may never end. Without the block it still looks.
                let _ = crate::processes::signals::block_in_this_thread();
                all[from..].iter().all(|(path, _)| sender.send(FoundName::of(path)).is_ok())
            };
            let Ok(thread) = std::thread::Builder::new().name("names".to_owned()).spawn(look) else {
                files[next..].iter().for_each(|file| index.take(file, FoundName::of(&file.0)));
                return index;
            };
            loop {
                match found.recv_timeout(MAX_WAIT) {
                    Ok(found) => index.take(&files[next], found),
                    Err(RecvTimeoutError::Timeout) => break,
                    Err(RecvTimeoutError::Disconnected) => {
                        // Its end cannot fail: it has sent all.
                        let _ = thread.join();
                        return index;
                    }
                }
                next += 1;
            }
            next += 1;
        }
        index
    }

    fn take(&mut self, file: &(PathBuf, FileRole), found: FoundName) {
        if let Some(inode) = found.inode {
            self.by_inode.insert(inode, file.clone());
        }
        if let Some(place) = found.place {
            self.by_place.insert(place, file.clone());
        }
    }
}

/// What a name leads to.
struct FoundName {
    inode: Option<(u64, u64)>,
    place: Option<NamePlace>,
}

impl FoundName {
    fn of(path: &Path) -> Self {
        match path.metadata() {
            // Devices, pipes and directories are not replaced.
            Ok(facts) if !facts.is_file() => Self { inode: None, place: None },
            Ok(facts) => Self { inode: Some((facts.dev(), facts.ino())), place: place_of(path) },
            Err(_) => Self { inode: None, place: place_of(path) },
        }
    }
}

fn refuse((path, role): &(PathBuf, FileRole)) -> Result<(), NoOutput> {
    Err(NoOutput::Kept { path: path.clone(), role: *role })
}

/// The place that a name leads to, through symbolic links, also if nothing is there.
fn place_of(path: &Path) -> Option<NamePlace> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let Ok(target) = std::fs::read_link(&path) else {
            let facts = directory.metadata().ok()?;
            return Some(NamePlace { device: facts.dev(), inode: facts.ino(), name: path.file_name()?.to_owned() });
        };
        path = directory.join(target);
    }
    None
}
