//! Files that no output may replace, by device and inode, so that links do not hide them.
//!
//! Must not know: outputs. Start reading at [`KeptFiles`].

use super::NoOutput;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Links that lead from one to the next are followed this often, as by the kernel.
const MAX_LINKS: usize = 40;

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
pub struct KeptFiles {
    files: HashSet<(PathBuf, FileRole)>,
    index: OnceLock<KeptIndex>,
}

#[derive(Debug, Default)]
struct KeptIndex {
    by_inode: HashMap<(u64, u64), (PathBuf, FileRole)>,
    by_place: HashMap<NamePlace, (PathBuf, FileRole)>,
}

/// A name in a directory.
#[derive(Debug, PartialEq, Eq, Hash)]
struct NamePlace {
    device: u64,
    inode: u64,
    name: OsString,
}

impl KeptFiles {
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

    /// Looks at the name of an output.
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
        self.index().by_inode.get(&(facts.dev(), facts.ino())).map_or(Ok(()), refuse)
    }

    fn index(&self) -> &KeptIndex {
        self.index.get_or_init(|| {
            let mut index = KeptIndex::default();
            for (path, role) in &self.files {
                let facts = std::fs::metadata(path);
                match &facts {
                    Ok(facts) if facts.is_file() => {
                        index.by_inode.insert((facts.dev(), facts.ino()), (path.clone(), *role));
                    }
                    // Devices, pipes and directories are not replaced.
                    Ok(_) => continue,
                    Err(_) => {}
                }
                if let Some(place) = place_of(path) {
                    index.by_place.insert(place, (path.clone(), *role));
                }
            }
            index
        })
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
