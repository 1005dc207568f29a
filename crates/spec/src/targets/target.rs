//! The targets of a job's I/O: their names, the directories they are in, their kinds and locks, and which of them is next.
//!
//! Must not know: sizes, what exists on the machine. Start reading at [`TargetSpec`].

use crate::{PlacementSpec, RandomDistribution};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What takes the directories of `directory` in turn (`directory_per`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum DirectoryPer {
    /// Clone n of a job has all its files in directory n mod count.
    #[default]
    Clone,
    /// File i of each clone is in directory i mod count.
    File,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetSpec {
    /// `filename`, split at unescaped colons.
    pub filenames: Vec<String>,
    /// `opendir`: trees whose regular files are added.
    #[serde(default, with = "crate::targets::path_bytes::list")]
    pub opendirs: Vec<PathBuf>,
    /// `directory`, split at unescaped colons; `directory_per` says which entry a file takes.
    #[serde(default, with = "crate::targets::path_bytes::list")]
    pub directories: Vec<PathBuf>,
    /// `directory_per`: what takes the directories in turn.
    pub directory_per: DirectoryPer,
    /// `filename_format`; `None` is the default `$jobname.$jobnum.$filenum`.
    pub filename_format: Option<String>,
    /// `unique_filename`: on a server, names in a directory begin with the client's address.
    #[serde(default = "yes")]
    pub unique_filename: bool,
    /// `nrfiles`, at least 1.
    pub nrfiles: u32,
    /// `openfiles`: most files open at once; 0 means all.
    pub openfiles: u32,
    /// `filetype`; `None`: ask the file system.
    pub filetype: Option<FileType>,
    /// `file_service_type` and the I/Os done on one file before the next is picked.
    pub file_service: FileService,
    /// I/Os on one file before the next (`file_service_type=KIND:n`), at least 1; `u32::MAX`: all of a file.
    pub file_service_count: u32,
    /// `lockfile`.
    pub locking: FileLocking,
    pub allow_file_create: bool,
    pub allow_mounted_write: bool,
    /// Where within a device writes are put together.
    pub placement: PlacementSpec,
}

fn yes() -> bool {
    true
}

impl TargetSpec {
    /// The directory of a file, both counted from 0; `None`: no directory is given.
    pub fn directory_of(&self, clone_index: u32, file_index: usize) -> Option<&Path> {
        let turn = match self.directory_per {
            DirectoryPer::Clone => clone_index as usize,
            DirectoryPer::File => file_index,
        };
        let n = self.directories.len();
        (n > 0).then(|| self.directories[turn % n].as_path())
    }
}

/// Kind of target that `filetype` declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileType {
    Regular,
    Block,
    Character,
}

/// I/Os that the jobs of a run may do in a shared file at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileLocking {
    /// Anything.
    None,
    /// A single I/O.
    Exclusive,
    /// Reads, or one other I/O.
    ReadWrite,
}

/// Rule for picking the next file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum FileService {
    /// The next open file after every I/O (or n).
    RoundRobin,
    /// Finish one file, then the next.
    Sequential,
    Random,
    /// A file by a skewed distribution over them: zipf, pareto or normal. A file that is done starts over.
    Skewed(RandomDistribution),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_or_files_take_the_directories_in_turn() {
        let of = |directory_per, names: &[&str]| {
            let directories = names.iter().map(PathBuf::from).collect();
            let target = TargetSpec { directories, directory_per, ..TargetSpec::default() };
            let of_file = |(clone, file)| target.directory_of(clone, file).map(|path| path.display().to_string());
            [(0, 0), (0, 1), (0, 2), (1, 0), (3, 7)].map(|place| of_file(place).unwrap_or_default()).join(" ")
        };
        assert_eq!(of(DirectoryPer::Clone, &["a", "b"]), "a a a b b");
        assert_eq!(of(DirectoryPer::File, &["a", "b"]), "a b a a b");
        assert_eq!(of(DirectoryPer::File, &["a", "b", "c"]), "a b c a b");
        assert_eq!(of(DirectoryPer::File, &[]), "    ");
    }
}
