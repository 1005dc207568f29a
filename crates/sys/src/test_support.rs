//! Common parts of this crate's tests: directories that are removed when the test ends.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A fresh directory below the system's temporary directory, removed with all its contents when dropped.
#[derive(Debug)]
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    pub(crate) fn new(name: &str) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("ferrio-sys-{name}-{}-{count}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A loop device over a file of zeros, set up with `losetup` and released when dropped.
#[derive(Debug)]
pub(crate) struct LoopDevice {
    path: PathBuf,
    backing_file: PathBuf,
    _directory: TempDir,
}

impl LoopDevice {
    /// `None` where that is not possible: not root, no loop driver, no `losetup`.
    pub(crate) fn new(name: &str, size_bytes: u64) -> Option<Self> {
        let directory = TempDir::new(name);
        let backing_file = directory.path().join("image");
        std::fs::File::create(&backing_file).and_then(|file| file.set_len(size_bytes)).unwrap();
        let output =
            std::process::Command::new("losetup").args(["--find", "--show"]).arg(&backing_file).output().ok()?;
        if !output.status.success() {
            return None;
        }
        let path = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
        Some(Self { path, backing_file, _directory: directory })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn backing_file(&self) -> &Path {
        &self.backing_file
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = std::process::Command::new("losetup").arg("--detach").arg(&self.path).status();
    }
}
