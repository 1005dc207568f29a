//! The kinds of memory for I/O buffers: a job names one, the operating system provides it.
//!
//! Must not know: how memory is got. Start reading at [`ArenaKind`].

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// Kind of memory for I/O buffers (`mem`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArenaKind {
    /// The heap, page aligned.
    Malloc,
    /// A shared mapping of a file without a name (`memfd_create`), which another program can map too.
    Nameless,
    /// System V shared memory; the segment is removed from the system's table at once, so that nothing can leak.
    Shm,
    /// System V shared memory in huge pages (`SHM_HUGETLB`).
    ShmHuge,
    /// A private mapping: anonymous, or of this file.
    Mmap(Option<PathBuf>),
    /// A shared mapping: anonymous, or of this file.
    MmapShared(Option<PathBuf>),
    /// A private mapping in huge pages: anonymous (`MAP_HUGETLB`), or of this file, which must be on a `hugetlbfs`.
    MmapHuge(Option<PathBuf>),
}

impl ArenaKind {
    /// The word that asks for this kind.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Malloc => "malloc",
            Self::Nameless => "memfd",
            Self::Shm => "shm",
            Self::ShmHuge => "shmhuge",
            Self::Mmap(_) => "mmap",
            Self::MmapShared(_) => "mmapshared",
            Self::MmapHuge(_) => "mmaphuge",
        }
    }

    /// True if its pages are huge pages.
    pub fn is_huge(&self) -> bool {
        matches!(self, Self::ShmHuge | Self::MmapHuge(_))
    }
}

impl fmt::Display for ArenaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mmap(Some(path)) | Self::MmapShared(Some(path)) | Self::MmapHuge(Some(path)) => {
                write!(f, "{}:{}", self.name(), path.display())
            }
            _ => f.write_str(self.name()),
        }
    }
}
