//! A directory of a command's own files, which is removed when its runs are over.
//!
//! Must not know: what is in it. Start reading at [`OwnDirectory::make`].

use crate::ui::console::Console;
use anyhow::anyhow;
use std::path::{Path, PathBuf};

pub(crate) struct OwnDirectory(pub(crate) PathBuf);

impl OwnDirectory {
    /// Makes a directory below `path` whose name says to which command and process it belongs.
    pub(crate) fn make(path: &Path, name: &str) -> anyhow::Result<Self> {
        let own = path.join(format!("ferrio-{name}-{}", std::process::id()));
        let made = std::fs::create_dir(&own);
        made.map_err(|error| {
            anyhow!("{}: no directory can be made in it: {}", path.display(), ferrio_units::error_text(&error))
        })?;
        Ok(Self(own))
    }

    /// Removes it with all that is in it. If it stays, `program` says so, whatever follows, and has failed.
    pub(crate) fn remove(&self, program: &str, console: &mut Console) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            let reason = ferrio_units::error_text(&error);
            console.error(&format!("{program}: {} stays: {reason}\n", self.0.display()));
            console.has_failed = true;
        }
    }
}
