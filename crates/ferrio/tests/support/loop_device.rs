//! Loop devices for tests, with a file system on them or without.
//!
//! Must not know: the features under test. Start reading at [`LoopDevice`].

use super::{Scratch, tool};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A loop device over a file of zeroes, released at the end; mounted if it was given a file system.
pub(crate) struct LoopDevice {
    device: String,
    mounted_at: Option<PathBuf>,
}

impl LoopDevice {
    /// A device of a size in a file of the scratch directory.
    pub(crate) fn new(scratch: &Scratch, size_bytes: u64) -> Option<Self> {
        Self::with_options(scratch, size_bytes, "")
    }

    /// The same, with options of `losetup`.
    pub(crate) fn with_options(scratch: &Scratch, size_bytes: u64, options: &str) -> Option<Self> {
        let file = scratch.join("loop.img");
        File::create(&file).ok()?.set_len(size_bytes).ok()?;
        let device = tool(&format!("losetup --find --show {options} {}", file.display()))?;
        Some(Self { device, mounted_at: None })
    }

    pub(crate) fn path(&self) -> &str {
        &self.device
    }

    /// Makes a file system on the device and mounts it at a new directory.
    pub(crate) fn mount(&mut self, scratch: &Scratch, mkfs: &str) -> Option<PathBuf> {
        let at = scratch.join("mnt");
        tool(&format!("{mkfs} {}", self.device))?;
        std::fs::create_dir_all(&at).ok()?;
        tool(&format!("mount {} {}", self.device, at.display()))?;
        self.mounted_at = Some(at.clone());
        Some(at)
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if let Some(at) = &self.mounted_at {
            unmount(at);
        }
        tool(&format!("losetup --detach {}", self.device));
    }
}

/// Unmounts a file system; `None` if that failed. A program that another test is about to start may hold a file of it for a moment, between fork and exec.
pub(crate) fn unmount(at: &Path) -> Option<String> {
    let until = Instant::now() + Duration::from_secs(5);
    loop {
        let output = Command::new("umount").arg(at).stdin(Stdio::null()).output().ok()?;
        let is_busy = String::from_utf8_lossy(&output.stderr).contains("busy");
        if output.status.success() || !is_busy || Instant::now() > until {
            return output.status.success().then(String::new);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
