//! The page of `--html`: the figures of all tests, as `ferrio report` shows them.
//!
//! Must not know: how a page looks. Start reading at [`PageFile::create`].

use anyhow::{Context, Result};
use ferrio_formats::{ResultFile, read_files};
use ferrio_sys::output::AtomicFile;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file for the page, which is open before the tests, so that a place that takes none is known before them.
pub(super) struct PageFile {
    path: PathBuf,
    file: AtomicFile,
}

impl PageFile {
    /// # Errors
    /// There can be no such file.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let file = AtomicFile::create(path, &Arc::default()).with_context(|| cannot_write(path))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Writes the page of a document of `--json`.
    pub(super) fn write(self, document: String) -> Result<()> {
        let results = read_files(&[ResultFile::in_memory("ferrio quick", document.into_bytes())])?;
        let page = ferrio_pictures::page::page(&results);
        self.file.write(page.as_bytes()).with_context(|| cannot_write(&self.path))
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write the page {}", path.display())
}
